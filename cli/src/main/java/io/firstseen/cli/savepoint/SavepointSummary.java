package io.firstseen.cli.savepoint;

import static io.firstseen.cli.shared.SnapshotSummary.number;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Fields;
import io.firstseen.cli.shared.Json;
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
import java.util.LongSummaryStatistics;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The figures of a savepoint. */
record SavepointSummary(DedupSavepoint savepoint) {

  /** The figures, optionally also of each shard. */
  Fields fields(boolean withShards) {
    DedupParameters parameters = savepoint.parameters();
    TimeToLive ttl = parameters.ttl();
    Fields fields =
        new Fields()
            .put("checkpoint", "checkpoint", savepoint.checkpointId())
            .put("tasks", "tasks", savepoint.parallelism())
            .put("mode", "mode", parameters.mode().id())
            .row("ttl", ttl == null ? "off" : text(ttl));
    if (ttl != null) {
      fields
          .json("ttlMillis", ttl.millis())
          .json("ttlClock", ttl.clock().id())
          .json("ttlSince", ttl.since().id());
    }
    savepoint
        .clockMillis()
        .ifPresent(millis -> fields.putTime("forgotten by", "forgottenByMillis", millis));
    int shards = savepoint.shards().size();
    LongSummaryStatistics ofShards =
        IntStream.range(0, shards).mapToLong(savepoint::keys).summaryStatistics();
    long identities = savepoint.shards().stream().mapToLong(ShardSummary::keys).sum();
    long keys = savepoint.keys();
    fields
        .put("hash", "hash", parameters.hashAlgorithm())
        .putKeyCheck(parameters.keyCheck(), usesPublicKey())
        .putCanonicaliser(
            parameters.canonicaliser(),
            parameters.canonicaliserVersion(),
            parameters.strippedParameters());
    if (!parameters.near().isEmpty()) {
      fields.put("near", "near", parameters.near());
    }
    fields
        .put("identity bits", "identityBits", parameters.identityBits())
        .put("shards", "shards", parameters.shardCount())
        .put("keys", "keys", keys)
        .row(
            "keys per shard",
            "%s to %s, mean %s"
                .formatted(
                    number(ofShards.getMin()),
                    number(ofShards.getMax()),
                    number(Math.round(ofShards.getAverage()))))
        .json("minKeysOfShard", ofShards.getMin())
        .json("meanKeysOfShard", ofShards.getAverage())
        .json("maxKeysOfShard", ofShards.getMax())
        .put("pages", "pages", IntStream.range(0, shards).mapToLong(savepoint::pages).sum())
        .row("load", ratio((double) identities, savepoint.slots()))
        .json("slots", savepoint.slots())
        // In an exact mode no key is dropped; the rate is the share of new keys that need an exact
        // look-up.
        .putRate(
            parameters.mode().isExact() ? "exact look-ups" : "rate predicted",
            "predictedFalsePositiveRate",
            savepoint.predictedFalsePositiveRate())
        .put("page bytes", "pageBytes", savepoint.pageBytes())
        .put("bytes stored", "bytes", savepoint.stateBytes())
        .row("bits per key", ratio(8.0 * savepoint.stateBytes(), keys));
    ObjectNode audit = audit();
    if (audit == null) {
      fields.row("audit", "off");
    } else {
      fields.section("audit", "audit", new Fields().putAll(audit));
    }
    return withShards ? fields.putAll(shards()) : fields;
  }

  private @Nullable ObjectNode audit() {
    AuditCounts audit = savepoint.audit();
    if (audit == null) {
      return null;
    }
    ObjectNode json =
        Json.object()
            .put("slices", savepoint.parameters().auditSlices())
            .put("newKeys", audit.newKeys())
            .put("falsePositives", audit.falsePositives());
    if (audit.newKeys() > 0) {
      json.put("predictedFalsePositiveRate", audit.predicted() / audit.newKeys());
      json.put("confidence", WilsonInterval.CONFIDENCE);
      addShare(json, "FalsePositiveRate", audit, false);
      addShare(json, "Precision", savepoint.precision(), true);
      addShare(json, "Recall", savepoint.recall(), true);
    }
    return json;
  }

  /** Adds the share of trials that failed, or succeeded, and its interval. */
  private static void addShare(
      ObjectNode json, String name, @Nullable AuditCounts counts, boolean ofSuccess) {
    if (counts == null || counts.newKeys() == 0) {
      return;
    }
    WilsonInterval failed = WilsonInterval.of(counts.falsePositives(), counts.newKeys());
    double share = (double) counts.falsePositives() / counts.newKeys();
    if (ofSuccess) {
      json.put("measured" + name + "Of", counts.newKeys());
    }
    json.put("measured" + name, ofSuccess ? 1 - share : share)
        .put("measured" + name + "Low", ofSuccess ? 1 - failed.high() : failed.low())
        .put("measured" + name + "High", ofSuccess ? 1 - failed.low() : failed.high());
  }

  private ObjectNode shards() {
    ObjectNode json = Json.object();
    ArrayNode all = json.putArray("ofShards");
    for (int shard = 0; shard < savepoint.shards().size(); shard++) {
      ShardSummary one = savepoint.shards().get(shard);
      all.addObject()
          .put("shard", shard)
          .put("keys", savepoint.keys(shard))
          .put("slots", one.slots())
          .put("pages", savepoint.pages(shard))
          .put("pageBytes", one.bytes())
          .put("predictedFalsePositiveRate", savepoint.predictedFalsePositiveRate(shard));
    }
    return json;
  }

  /** A quotient with three decimals, or {@code -} if the divisor is 0. */
  private static String ratio(double dividend, long divisor) {
    return divisor == 0 ? "-" : SnapshotSummary.decimal(dividend / divisor);
  }

  private static String text(TimeToLive ttl) {
    return "%s by %s time, since %s"
        .formatted(
            OptionValues.write(Duration.ofMillis(ttl.millis())),
            ttl.clock().id(),
            ttl.since().id());
  }

  private boolean usesPublicKey() {
    // A later version may have other algorithms.
    KeyHash fixed = KeyHash.fixed();
    return savepoint.parameters().hashAlgorithm().equals(fixed.algorithm().id())
        && savepoint.parameters().keyCheck() == fixed.keyCheck();
  }
}
