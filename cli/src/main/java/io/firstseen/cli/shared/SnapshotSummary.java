package io.firstseen.cli.shared;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.UrlExpressions;
import io.firstseen.filters.near.NearRule;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotHeader;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.filters.snapshot.UrlList;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The figures of a blob or of a set; bytes are of all blobs. */
public record SnapshotSummary(
    SetParameters parameters, long sequence, long keys, long bytes, Fields fields) {

  public static SnapshotSummary of(Snapshot blob) {
    SnapshotHeader header = blob.header();
    SnapshotParameters own = header.parameters();
    Fields start =
        start(own.setName(), own.sequence(), own.windowStartMillis(), own.windowEndMillis());
    return of(start, own.set(), own.sequence(), header.hashCount(), own.shard(), List.of(blob));
  }

  public static SnapshotSummary of(SnapshotSet set) {
    Manifest manifest = set.manifest();
    SetParameters parameters = manifest.parameters();
    List<Snapshot> blobs =
        IntStream.range(0, parameters.shards().count())
            .mapToObj(set::snapshot)
            .filter(Objects::nonNull)
            .toList();
    Fields start =
        start(
                manifest.setName(),
                manifest.sequence(),
                manifest.windowStartMillis(),
                manifest.windowEndMillis())
            .putTime("published", "publishedMillis", manifest.publishedMillis())
            .putTime("expires", "expiresMillis", manifest.expiresMillis());
    return of(start, parameters, manifest.sequence(), manifest.count(), null, blobs);
  }

  private static Fields start(String setName, long sequence, long startMillis, long endMillis) {
    return new Fields()
        .put("set", "set", setName)
        .put("sequence", "sequence", sequence, sequence)
        .row("window", window(startMillis, endMillis))
        .json("windowStartMillis", startMillis)
        .json("windowEndMillis", endMillis);
  }

  /** Adds the figures of one shard, or of all if {@code shard} is null. */
  private static SnapshotSummary of(
      Fields fields,
      SetParameters parameters,
      long sequence,
      long keys,
      @Nullable Integer shard,
      List<Snapshot> blobs) {
    int shards = parameters.shards().count();
    long bytes = blobs.stream().mapToLong(blob -> blob.asByteBuffer().remaining()).sum();
    long payloadBits = blobs.stream().mapToLong(blob -> blob.header().payloadBits()).sum();
    double rates =
        blobs.stream()
            .map(Snapshot::header)
            .mapToDouble(header -> header.universe().rateOf(header.count()))
            .sum();
    fields
        .put("keys", "keys", keys)
        // Fewer than the keys, because a few keys share a value.
        .json("values", blobs.stream().mapToLong(blob -> blob.header().count()).sum())
        .put("shard", "shard", shard, shard + " of " + shards)
        .json("shards", shards)
        .row("shards", shard == null ? number(shards) : null)
        .put("bytes", "bytes", bytes)
        .row("bits per key", keys == 0 ? "-" : decimal(8.0 * bytes / keys))
        .row("payload bits/key", keys == 0 ? "-" : decimal((double) payloadBits / keys))
        .json("payloadBits", payloadBits)
        .putRate("rate asked for", "falsePositiveRate", parameters.falsePositiveRate())
        // A key outside the set falls into each shard with equal probability.
        .putRate(
            "rate predicted", "predictedFalsePositiveRate", shard == null ? rates / shards : rates);
    if (parameters.near() != null) {
      fields
          .put("near", "near", parameters.near().toString())
          .put("texts", "texts", texts(parameters.near(), keys));
    }
    if (UrlList.isList(parameters)) {
      // The rate of a URL with the maximum number of match expressions.
      double urlRate =
          UrlList.falsePositiveRate(parameters.falsePositiveRate(), UrlExpressions.RATED_COUNT);
      fields.put("rate of a URL", "urlFalsePositiveRate", urlRate, "up to " + Fields.rate(urlRate));
    }
    fields
        .put("hash", "hash", parameters.hashAlgorithm().id())
        .putKeyCheck(
            parameters.keyCheck(),
            KeyHash.isFixedKeyCheck(parameters.hashAlgorithm(), parameters.keyCheck()))
        .putCanonicaliser(
            parameters.canonicaliser().id(),
            parameters.canonicaliserVersion(),
            parameters.canonicaliser().strippedParameters());
    return new SnapshotSummary(parameters, sequence, keys, bytes, fields);
  }

  public String sentence() {
    return amount(parameters.near(), keys) + " in " + number(bytes) + " bytes";
  }

  /** The number of keys, or of texts for a rule for near-duplicates, with its unit. */
  public static String amount(@Nullable NearRule rule, long hashes) {
    return rule == null ? number(hashes) + " keys" : number(texts(rule, hashes)) + " texts";
  }

  /** The number of texts, unless many of them share a hash. */
  private static long texts(NearRule rule, long hashes) {
    return Math.round((double) hashes / rule.hashes());
  }

  public static String number(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  public static String decimal(double number) {
    return String.format(Locale.ROOT, "%.3f", number);
  }

  public static String window(long startMillis, long endMillis) {
    return startMillis == endMillis
        ? "none"
        : Instant.ofEpochMilli(startMillis) + " to " + Instant.ofEpochMilli(endMillis);
  }
}
