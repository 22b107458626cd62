package io.firstseen.cli.shared;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.UrlExpressions;
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

/**
 * The figures of a blob or of a set.
 *
 * @param publishedMillis the publication time of the manifest; null for a blob
 * @param expiresMillis the expiry of the manifest; null for a blob or a manifest without expiry
 * @param shard the shard of a blob; null for a set of all shards
 * @param keys the number of distinct hashes
 * @param values the number of distinct values; lower than the number of keys, because a few keys
 *     share a value
 * @param bytes the size of the blob, or of all blobs of the set
 * @param payloadBits the bits of the codes, without headers and bucket starts
 * @param predictedRate the probability that the set returns present for a key outside the set
 */
public record SnapshotSummary(
    String setName,
    long sequence,
    long windowStartMillis,
    long windowEndMillis,
    @Nullable Long publishedMillis,
    @Nullable Long expiresMillis,
    @Nullable Integer shard,
    SetParameters parameters,
    long keys,
    long values,
    long bytes,
    long payloadBits,
    double predictedRate) {

  public static SnapshotSummary of(Snapshot blob) {
    SnapshotHeader header = blob.header();
    SnapshotParameters parameters = header.parameters();
    return new SnapshotSummary(
        parameters.setName(),
        parameters.sequence(),
        parameters.windowStartMillis(),
        parameters.windowEndMillis(),
        null,
        null,
        parameters.shard(),
        parameters.set(),
        header.hashCount(),
        header.count(),
        blob.asByteBuffer().remaining(),
        header.payloadBits(),
        rateOf(header));
  }

  public static SnapshotSummary of(SnapshotSet set) {
    Manifest manifest = set.manifest();
    int shards = manifest.parameters().shards().count();
    List<Snapshot> blobs =
        IntStream.range(0, shards).mapToObj(set::snapshot).filter(Objects::nonNull).toList();
    return new SnapshotSummary(
        manifest.setName(),
        manifest.sequence(),
        manifest.windowStartMillis(),
        manifest.windowEndMillis(),
        manifest.publishedMillis(),
        manifest.expiresMillis(),
        null,
        manifest.parameters(),
        manifest.count(),
        blobs.stream().mapToLong(blob -> blob.header().count()).sum(),
        blobs.stream().mapToLong(blob -> blob.asByteBuffer().remaining()).sum(),
        blobs.stream().mapToLong(blob -> blob.header().payloadBits()).sum(),
        // A key outside the set falls into each shard with equal probability.
        blobs.stream().mapToDouble(blob -> rateOf(blob.header())).sum() / shards);
  }

  private static double rateOf(SnapshotHeader header) {
    return header.universe().rateOf(header.count());
  }

  /** The figures as a table and as JSON. */
  public Fields fields() {
    int shards = parameters.shards().count();
    String stripped = parameters.canonicaliser().strippedParameters();
    Fields fields =
        new Fields()
            .put("set", "set", setName)
            .put("sequence", "sequence", sequence, sequence)
            .row("window", window(windowStartMillis, windowEndMillis))
            .json("windowStartMillis", windowStartMillis)
            .json("windowEndMillis", windowEndMillis)
            .putTime("published", "publishedMillis", publishedMillis)
            .putTime("expires", "expiresMillis", expiresMillis)
            .put("keys", "keys", keys)
            .json("values", values)
            .put("shard", "shard", shard, shard + " of " + shards)
            .json("shards", shards);
    if (shard == null) {
      fields.row("shards", number(shards));
    }
    fields
        .put("bytes", "bytes", bytes)
        .row("bits per key", keys == 0 ? "-" : decimal(8.0 * bytes / keys))
        .row("payload bits/key", keys == 0 ? "-" : decimal((double) payloadBits / keys))
        .json("payloadBits", payloadBits)
        .putRate("rate asked for", "falsePositiveRate", parameters.falsePositiveRate())
        .putRate("rate predicted", "predictedFalsePositiveRate", predictedRate);
    if (parameters.near() != null) {
      fields.put("near", "near", parameters.near().toString()).put("texts", "texts", texts());
    }
    if (UrlList.isList(parameters)) {
      // The rate of a URL with the maximum number of match expressions.
      double urlRate =
          UrlList.falsePositiveRate(parameters.falsePositiveRate(), UrlExpressions.RATED_COUNT);
      fields.put("rate of a URL", "urlFalsePositiveRate", urlRate, "up to " + Fields.rate(urlRate));
    }
    return fields
        .put("hash", "hash", parameters.hashAlgorithm().id())
        .putKeyCheck(
            parameters.keyCheck(),
            KeyHash.isFixedKeyCheck(parameters.hashAlgorithm(), parameters.keyCheck()))
        .putCanonicaliser(
            parameters.canonicaliser().id(), parameters.canonicaliserVersion(), stripped);
  }

  /** A short summary of keys and bytes. */
  public String sentence() {
    return (parameters.near() == null ? number(keys) + " keys" : number(texts()) + " texts")
        + " in "
        + number(bytes)
        + " bytes";
  }

  /** The number of texts, unless many of them share a hash. */
  private long texts() {
    return Math.round((double) keys / parameters.near().hashes());
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
