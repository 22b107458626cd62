package io.firstseen.cli.shared;

import com.fasterxml.jackson.databind.node.ObjectNode;
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
import java.util.HexFormat;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The figures of a blob or of a set, for people as a table and for machines as JSON.
 *
 * @param publishedMillis when the manifest was published; null for a blob
 * @param expiresMillis when it expires; null for a blob, or if it does not
 * @param shard the shard of a blob; null for a set of all shards
 * @param keys the number of distinct hashes
 * @param values the number of distinct values; less than that of keys, since a few keys share a
 *     value
 * @param bytes the size of the blob, or of all blobs of the set
 * @param payloadBits the bits of the codes, without headers and bucket starts
 * @param predictedRate the probability that a key outside the set is answered by 'present'
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
    long values = 0;
    long bytes = 0;
    long payloadBits = 0;
    double rates = 0;
    for (int shard = 0; shard < shards; shard++) {
      Snapshot blob = set.snapshot(shard);
      if (blob != null) {
        values += blob.header().count();
        bytes += blob.asByteBuffer().remaining();
        payloadBits += blob.header().payloadBits();
        rates += rateOf(blob.header());
      }
    }
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
        values,
        bytes,
        payloadBits,
        // A key outside the set falls into each shard with equal probability.
        rates / shards);
  }

  private static double rateOf(SnapshotHeader header) {
    return header.universe().rateOf(header.count());
  }

  /** The lines of the table, each ending with a line feed. */
  public String table() {
    Rows rows = new Rows();
    int shards = parameters.shards().count();
    rows.put("set", setName);
    rows.put("sequence", Long.toString(sequence));
    rows.put("window", window(windowStartMillis, windowEndMillis));
    if (publishedMillis != null) {
      rows.put("published", Instant.ofEpochMilli(publishedMillis).toString());
    }
    if (expiresMillis != null) {
      rows.put("expires", Instant.ofEpochMilli(expiresMillis).toString());
    }
    rows.put("keys", number(keys));
    rows.put(shard == null ? "shards" : "shard", shard == null ? number(shards) : shardOf(shards));
    rows.put("bytes", number(bytes));
    rows.put("bits a key", keys == 0 ? "-" : decimal(8.0 * bytes / keys));
    rows.put("payload bits a key", keys == 0 ? "-" : decimal((double) payloadBits / keys));
    rows.put("rate asked for", rate(parameters.falsePositiveRate()));
    rows.put("rate predicted", rate(predictedRate));
    if (UrlList.isList(parameters)) {
      rows.put("rate of a URL", "up to " + rate(urlRate()));
    }
    rows.put("hash", parameters.hashAlgorithm().id());
    rows.put("key check", keyCheck() + (usesPublicKey() ? " (the public key)" : ""));
    rows.put(
        "canonicaliser",
        parameters.canonicaliser().id() + " (version " + parameters.canonicaliserVersion() + ")");
    String stripped = parameters.canonicaliser().strippedParameters();
    if (!stripped.isEmpty()) {
      rows.put("stripped parameters", stripped);
    }
    return rows.toString();
  }

  /** The same as fields of a JSON object. */
  public ObjectNode json() {
    ObjectNode json = Json.object();
    json.put("set", setName);
    json.put("sequence", sequence);
    json.put("windowStartMillis", windowStartMillis);
    json.put("windowEndMillis", windowEndMillis);
    if (publishedMillis != null) {
      json.put("publishedMillis", publishedMillis);
    }
    if (expiresMillis != null) {
      json.put("expiresMillis", expiresMillis);
    }
    json.put("keys", keys);
    json.put("values", values);
    if (shard != null) {
      json.put("shard", shard);
    }
    json.put("shards", parameters.shards().count());
    json.put("bytes", bytes);
    json.put("payloadBits", payloadBits);
    json.put("falsePositiveRate", parameters.falsePositiveRate());
    json.put("predictedFalsePositiveRate", predictedRate);
    if (UrlList.isList(parameters)) {
      json.put("urlFalsePositiveRate", urlRate());
    }
    json.put("hash", parameters.hashAlgorithm().id());
    json.put("keyCheck", keyCheck());
    json.put("publicHashKey", usesPublicKey());
    json.put("canonicaliser", parameters.canonicaliser().id());
    json.put("canonicaliserVersion", parameters.canonicaliserVersion());
    String stripped = parameters.canonicaliser().strippedParameters();
    if (!stripped.isEmpty()) {
      json.put("strippedParameters", stripped);
    }
    return json;
  }

  public static String number(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  public static String decimal(double number) {
    return String.format(Locale.ROOT, "%.3f", number);
  }

  private static String rate(double rate) {
    return String.format(Locale.ROOT, "%.4g", rate);
  }

  /** The rate asked for, of a URL of the most match expressions. */
  private double urlRate() {
    return UrlList.falsePositiveRate(parameters.falsePositiveRate(), UrlExpressions.RATED_COUNT);
  }

  private String shardOf(int shards) {
    return shard + " of " + shards;
  }

  public static String window(long startMillis, long endMillis) {
    return startMillis == endMillis
        ? "none"
        : Instant.ofEpochMilli(startMillis) + " to " + Instant.ofEpochMilli(endMillis);
  }

  private String keyCheck() {
    return HexFormat.of().toHexDigits(parameters.keyCheck());
  }

  private boolean usesPublicKey() {
    return KeyHash.isFixedKeyCheck(parameters.hashAlgorithm(), parameters.keyCheck());
  }
}
