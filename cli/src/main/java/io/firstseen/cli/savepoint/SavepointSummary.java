package io.firstseen.cli.savepoint;

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
import java.util.Locale;
import java.util.LongSummaryStatistics;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The figures of a savepoint. */
record SavepointSummary(DedupSavepoint savepoint) {

  /**
   * The figures as a table and as JSON.
   *
   * @param withShards whether the figures of each shard follow
   */
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
                    SnapshotSummary.number(ofShards.getMin()),
                    SnapshotSummary.number(ofShards.getMax()),
                    String.format(Locale.ROOT, "%,.1f", ofShards.getAverage())))
        .json("minKeysOfShard", ofShards.getMin())
        .json("meanKeysOfShard", ofShards.getAverage())
        .json("maxKeysOfShard", ofShards.getMax())
        .put("pages", "pages", IntStream.range(0, shards).mapToLong(savepoint::pages).sum())
        .row("load", load(identities, savepoint.slots()))
        .json("slots", savepoint.slots())
        // In an exact mode no key is dropped; the rate is the share of new keys that need an exact
        // look-up.
        .putRate(
            parameters.mode().isExact() ? "exact look-ups" : "rate predicted",
            "predictedFalsePositiveRate",
            savepoint.predictedFalsePositiveRate());
    Fields audit = audit();
    fields
        .text(audit.table())
        .put("page bytes", "pageBytes", savepoint.pageBytes())
        .put("bytes stored", "bytes", savepoint.stateBytes())
        .row(
            "bits per key",
            keys == 0 ? "-" : SnapshotSummary.decimal(8.0 * savepoint.stateBytes() / keys))
        .json("audit", savepoint.audit() == null ? null : audit.json());
    return withShards ? fields.putAll(shards()) : fields;
  }

  private Fields audit() {
    AuditCounts audit = savepoint.audit();
    Fields fields = new Fields();
    if (audit == null) {
      return fields.row("audit", "off");
    }
    int slices = savepoint.parameters().auditSlices();
    fields
        .row(
            "audit",
            "one hash in %s: %s new keys, %s of them dropped"
                .formatted(
                    SnapshotSummary.number(slices),
                    SnapshotSummary.number(audit.newKeys()),
                    SnapshotSummary.number(audit.falsePositives())))
        .json("slices", slices)
        .json("newKeys", audit.newKeys())
        .json("falsePositives", audit.falsePositives());
    if (audit.newKeys() == 0) {
      return fields;
    }
    double predicted = audit.predicted() / audit.newKeys();
    addShare(
        fields,
        "rate measured",
        "FalsePositiveRate",
        (double) audit.falsePositives() / audit.newKeys(),
        WilsonInterval.of(audit.falsePositives(), audit.newKeys()),
        "; predicted for the same keys " + Fields.rate(predicted));
    fields
        .json("confidence", WilsonInterval.CONFIDENCE)
        .json("predictedFalsePositiveRate", predicted);
    addSuccesses(fields, "precision", "Precision", savepoint.precision(), "duplicates", "wrong");
    addSuccesses(fields, "recall", "Recall", savepoint.recall(), "near-duplicates", "missed");
    return fields;
  }

  /** Adds the share of trials that succeeded, and its interval. */
  private static void addSuccesses(
      Fields fields,
      String row,
      String name,
      @Nullable AuditCounts counts,
      String trials,
      String failed) {
    if (counts == null || counts.newKeys() == 0) {
      return;
    }
    WilsonInterval failures = WilsonInterval.of(counts.falsePositives(), counts.newKeys());
    addShare(
        fields,
        row,
        name,
        1 - (double) counts.falsePositives() / counts.newKeys(),
        new WilsonInterval(1 - failures.high(), 1 - failures.low()),
        ": %s %s, %s of them %s"
            .formatted(
                SnapshotSummary.number(counts.newKeys()),
                trials,
                SnapshotSummary.number(counts.falsePositives()),
                failed));
  }

  private static void addShare(
      Fields fields, String row, String name, double share, WilsonInterval interval, String rest) {
    fields
        .put(
            row,
            "measured" + name,
            share,
            "%s, in [%s, %s] at %.0f %%%s"
                .formatted(
                    Fields.rate(share),
                    Fields.rate(interval.low()),
                    Fields.rate(interval.high()),
                    100 * WilsonInterval.CONFIDENCE,
                    rest))
        .json("measured" + name + "Low", interval.low())
        .json("measured" + name + "High", interval.high());
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

  private static String load(long keys, long slots) {
    return slots == 0 ? "-" : SnapshotSummary.decimal((double) keys / slots);
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
