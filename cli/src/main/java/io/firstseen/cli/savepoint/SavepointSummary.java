package io.firstseen.cli.savepoint;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.Rows;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.filters.WilsonInterval;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.operators.dedup.DedupSavepoint;
import io.firstseen.types.AuditCounts;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.ShardSummary;
import io.firstseen.types.TimeToLive;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Locale;
import java.util.LongSummaryStatistics;

/** The figures of a savepoint, for people as a table and for machines as JSON. */
record SavepointSummary(DedupSavepoint savepoint) {

  /** The lines of the table, each ending with a line feed. */
  String table() {
    DedupParameters parameters = savepoint.parameters();
    Rows rows = new Rows();
    LongSummaryStatistics ofShards = keysOfShards();
    long keys = savepoint.keys();
    rows.put("checkpoint", SnapshotSummary.number(savepoint.checkpointId()));
    rows.put("tasks", SnapshotSummary.number(savepoint.parallelism()));
    rows.put("mode", parameters.mode().id());
    rows.put("ttl", ttl());
    savepoint
        .clockMillis()
        .ifPresent(millis -> rows.put("forgotten by", Instant.ofEpochMilli(millis).toString()));
    rows.put("hash", parameters.hashAlgorithm());
    rows.put("key check", keyCheck() + (usesPublicKey() ? " (the public key)" : ""));
    rows.put(
        "canonicaliser",
        parameters.canonicaliser() + " (version " + parameters.canonicaliserVersion() + ")");
    if (!parameters.strippedParameters().isEmpty()) {
      rows.put("stripped parameters", parameters.strippedParameters());
    }
    rows.put("identity bits", SnapshotSummary.number(parameters.identityBits()));
    rows.put("shards", SnapshotSummary.number(parameters.shardCount()));
    rows.put("keys", SnapshotSummary.number(keys));
    rows.put(
        "keys a shard",
        "%s to %s, mean %s"
            .formatted(
                SnapshotSummary.number(ofShards.getMin()),
                SnapshotSummary.number(ofShards.getMax()),
                String.format(Locale.ROOT, "%,.1f", ofShards.getAverage())));
    rows.put("pages", SnapshotSummary.number(pages()));
    rows.put("load", load(keys, savepoint.slots()));
    // In an exact mode no key is dropped; the rate is that of exact look-ups for new keys.
    rows.put(
        parameters.mode().isExact() ? "looked up in vain" : "rate predicted",
        rate(savepoint.predictedFalsePositiveRate()));
    audit(rows);
    rows.put("page bytes", SnapshotSummary.number(savepoint.pageBytes()));
    rows.put("bytes stored", SnapshotSummary.number(savepoint.stateBytes()));
    rows.put(
        "bits a key",
        keys == 0 ? "-" : SnapshotSummary.decimal(8.0 * savepoint.stateBytes() / keys));
    return rows.toString();
  }

  private void audit(Rows rows) {
    AuditCounts audit = savepoint.audit();
    if (audit == null) {
      rows.put("audit", "off");
      return;
    }
    rows.put(
        "audit",
        "one hash in %s: %s new keys, %s of them dropped"
            .formatted(
                SnapshotSummary.number(savepoint.parameters().auditSlices()),
                SnapshotSummary.number(audit.newKeys()),
                SnapshotSummary.number(audit.falsePositives())));
    if (audit.newKeys() > 0) {
      WilsonInterval interval = WilsonInterval.of(audit.falsePositives(), audit.newKeys());
      rows.put(
          "rate measured",
          "%s, in [%s, %s] at %.0f %%; predicted for the same keys %s"
              .formatted(
                  rate((double) audit.falsePositives() / audit.newKeys()),
                  rate(interval.low()),
                  rate(interval.high()),
                  100 * WilsonInterval.CONFIDENCE,
                  rate(audit.predicted() / audit.newKeys())));
    }
  }

  /** A line of headings and one for each shard, each ending with a line feed. */
  String tableOfShards() {
    StringBuilder table =
        new StringBuilder(
            String.format(
                "%n%7s%14s%10s%8s%14s%12s%n", "shard", "keys", "pages", "load", "bytes", "rate"));
    for (int shard = 0; shard < savepoint.shards().size(); shard++) {
      ShardSummary one = savepoint.shards().get(shard);
      table.append(
          String.format(
              Locale.ROOT,
              "%,7d%,14d%,10d%8s%,14d%12s%n",
              shard,
              one.keys(),
              savepoint.pages(shard),
              load(one.keys(), one.slots()),
              one.bytes(),
              rate(savepoint.predictedFalsePositiveRate(shard))));
    }
    return table.toString();
  }

  /** The same as fields of a JSON object. */
  ObjectNode json(boolean withShards) {
    DedupParameters parameters = savepoint.parameters();
    LongSummaryStatistics ofShards = keysOfShards();
    ObjectNode json = Json.object();
    json.put("checkpoint", savepoint.checkpointId());
    json.put("tasks", savepoint.parallelism());
    json.put("mode", parameters.mode().id());
    if (parameters.ttl() != null) {
      json.put("ttlMillis", parameters.ttl().millis());
      json.put("ttlClock", parameters.ttl().clock().id());
      json.put("ttlSince", parameters.ttl().since().id());
      savepoint.clockMillis().ifPresent(millis -> json.put("forgottenByMillis", millis));
    }
    json.put("hash", parameters.hashAlgorithm());
    json.put("keyCheck", keyCheck());
    json.put("publicHashKey", usesPublicKey());
    json.put("canonicaliser", parameters.canonicaliser());
    json.put("canonicaliserVersion", parameters.canonicaliserVersion());
    if (!parameters.strippedParameters().isEmpty()) {
      json.put("strippedParameters", parameters.strippedParameters());
    }
    json.put("identityBits", parameters.identityBits());
    json.put("shards", parameters.shardCount());
    json.put("keys", savepoint.keys());
    json.put("minKeysOfShard", ofShards.getMin());
    json.put("meanKeysOfShard", ofShards.getAverage());
    json.put("maxKeysOfShard", ofShards.getMax());
    json.put("pages", pages());
    json.put("slots", savepoint.slots());
    json.put("predictedFalsePositiveRate", savepoint.predictedFalsePositiveRate());
    json.put("pageBytes", savepoint.pageBytes());
    json.put("bytes", savepoint.stateBytes());
    if (savepoint.audit() != null) {
      audit(json.putObject("audit"));
    }
    if (withShards) {
      ArrayNode all = json.putArray("ofShards");
      for (int shard = 0; shard < savepoint.shards().size(); shard++) {
        ShardSummary one = savepoint.shards().get(shard);
        ObjectNode node = all.addObject();
        node.put("keys", one.keys());
        node.put("slots", one.slots());
        node.put("pages", savepoint.pages(shard));
        node.put("pageBytes", one.bytes());
        node.put("predictedFalsePositiveRate", savepoint.predictedFalsePositiveRate(shard));
      }
    }
    return json;
  }

  private void audit(ObjectNode json) {
    AuditCounts audit = savepoint.audit();
    json.put("slices", savepoint.parameters().auditSlices());
    json.put("newKeys", audit.newKeys());
    json.put("falsePositives", audit.falsePositives());
    if (audit.newKeys() > 0) {
      WilsonInterval interval = WilsonInterval.of(audit.falsePositives(), audit.newKeys());
      json.put("measuredFalsePositiveRate", (double) audit.falsePositives() / audit.newKeys());
      json.put("measuredFalsePositiveRateLow", interval.low());
      json.put("measuredFalsePositiveRateHigh", interval.high());
      json.put("confidence", WilsonInterval.CONFIDENCE);
      json.put("predictedFalsePositiveRate", audit.predicted() / audit.newKeys());
    }
  }

  static String rate(double rate) {
    return String.format(Locale.ROOT, "%.4g", rate);
  }

  private static String load(long keys, long slots) {
    return slots == 0 ? "-" : SnapshotSummary.decimal((double) keys / slots);
  }

  private String ttl() {
    TimeToLive ttl = savepoint.parameters().ttl();
    return ttl == null
        ? "off"
        : "%s by %s time, since %s"
            .formatted(
                OptionValues.write(Duration.ofMillis(ttl.millis())),
                ttl.clock().id(),
                ttl.since().id());
  }

  private LongSummaryStatistics keysOfShards() {
    return savepoint.shards().stream().mapToLong(ShardSummary::keys).summaryStatistics();
  }

  private long pages() {
    long pages = 0;
    for (int shard = 0; shard < savepoint.shards().size(); shard++) {
      pages += savepoint.pages(shard);
    }
    return pages;
  }

  private String keyCheck() {
    return HexFormat.of().toHexDigits(savepoint.parameters().keyCheck());
  }

  private boolean usesPublicKey() {
    // A later version may have other algorithms.
    KeyHash fixed = KeyHash.fixed();
    return savepoint.parameters().hashAlgorithm().equals(fixed.algorithm().id())
        && savepoint.parameters().keyCheck() == fixed.keyCheck();
  }
}
