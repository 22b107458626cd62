package io.firstseen.cli.report;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.filters.WilsonInterval;

/** The comparison for machines. */
public final class MembershipJson {
  private MembershipJson() {}

  /** One object; rates are shares, times are nanoseconds. */
  public static ObjectNode of(MembershipReport report) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("keys", report.keys());
    json.put("keyBytes", report.keyBytes());
    json.put("probes", report.probes());
    json.put("hash", report.hashAlgorithm().id());
    json.put("hashNanos", report.hashNanos());
    json.put("interval", "wilson");
    json.put("confidence", WilsonInterval.CONFIDENCE);
    json.put("java", Runtime.version().toString());
    json.put("processors", Runtime.getRuntime().availableProcessors());
    for (SetFigures set : report.sets()) {
      json.withArray("/sets").add(json(set));
    }
    return json;
  }

  private static ObjectNode json(SetFigures set) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("set", set.id());
    json.put("falsePositiveRate", set.askedRate());
    json.put("bytes", set.bytes());
    json.put("bitsPerKey", set.bitsPerKey());
    if (!set.isExact()) {
      json.put("boundBitsPerKey", set.boundBitsPerKey());
    }
    json.put("predictedFalsePositiveRate", set.predictedRate());
    json.put("falsePositives", set.falsePositives());
    json.put("measuredFalsePositiveRate", set.measuredRate());
    json.put("intervalLow", set.interval().low());
    json.put("intervalHigh", set.interval().high());
    json.put("addNanos", set.addNanos());
    json.put("hitNanos", set.hitNanos());
    json.put("missNanos", set.missNanos());
    return json;
  }
}
