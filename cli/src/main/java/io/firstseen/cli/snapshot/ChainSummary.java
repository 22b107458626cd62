package io.firstseen.cli.snapshot;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.CatchUpPlan;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestShard;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The blobs of each shard of a manifest: a base and a chain of deltas. */
final class ChainSummary {
  private static final String ROW = "%5s %12s %14s %10s %7s %14s %14s%n";

  private final Manifest manifest;

  ChainSummary(Manifest manifest) {
    this.manifest = manifest;
  }

  /** One line per shard, and a total. */
  String table() {
    StringBuilder table = new StringBuilder();
    table.append(
        String.format(
            Locale.ROOT,
            ROW,
            "shard",
            "keys",
            "base bytes",
            "base from",
            "deltas",
            "delta bytes",
            "from nothing"));
    for (ManifestShard shard : manifest.shards()) {
      BlobReference base = shard.base();
      table.append(
          row(
              Integer.toString(shard.shard()),
              List.of(shard),
              base == null ? "-" : Long.toString(base.sequence())));
    }
    table.append(row("all", manifest.shards(), ""));
    return table.toString();
  }

  private static String row(String name, List<ManifestShard> shards, String baseSequence) {
    return String.format(
        Locale.ROOT,
        ROW,
        name,
        SnapshotSummary.number(shards.stream().mapToLong(ManifestShard::count).sum()),
        SnapshotSummary.number(shards.stream().mapToLong(ChainSummary::baseBytes).sum()),
        baseSequence,
        SnapshotSummary.number(shards.stream().mapToLong(shard -> shard.deltas().size()).sum()),
        SnapshotSummary.number(shards.stream().mapToLong(ChainSummary::deltaBytes).sum()),
        SnapshotSummary.number(shards.stream().mapToLong(ChainSummary::bytesFromNothing).sum()));
  }

  /** One object per shard. */
  ArrayNode json() {
    ArrayNode shards = Json.object().putArray("chains");
    for (ManifestShard shard : manifest.shards()) {
      ObjectNode json = shards.addObject();
      json.put("shard", shard.shard());
      json.put("keys", shard.count());
      json.put("baseBytes", baseBytes(shard));
      if (shard.base() != null) {
        json.put("baseSequence", shard.base().sequence());
        json.put("setDigest", shard.newest().setDigest());
      }
      json.put("deltas", shard.deltas().size());
      json.put("deltasBehindBase", shard.deltasBehindBase().size());
      json.put("deltaBytes", deltaBytes(shard));
      json.put("bytesFromNothing", bytesFromNothing(shard));
    }
    return shards;
  }

  private static long baseBytes(ManifestShard shard) {
    return shard.base() == null ? 0 : shard.base().bytes();
  }

  private static long deltaBytes(ManifestShard shard) {
    return shard.deltas().stream().mapToLong(BlobReference::bytes).sum();
  }

  private static long bytesFromNothing(ManifestShard shard) {
    return CatchUpPlan.of(shard, Optional.empty()).bytes();
  }
}
