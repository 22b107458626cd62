package io.firstseen.filters.snapshot;

import java.util.List;
import java.util.Objects;

/**
 * What a set holds at the end of a window: for every shard the blobs that make it up. Specified in
 * {@code docs/format/manifest-v1.md}.
 *
 * @param setName the name of the set, see {@link SnapshotTopicFormat#requireSetName}
 * @param sequence ascending in a set, at least 0
 * @param windowStartMillis where the window begins, in milliseconds since the epoch
 * @param windowEndMillis where it ends, exclusive
 * @param parameters what all snapshots of the set share
 * @param count the number of live hashes, the sum over the shards
 * @param shards every shard once, in order
 */
public record Manifest(
    String setName,
    long sequence,
    long windowStartMillis,
    long windowEndMillis,
    SetParameters parameters,
    long count,
    List<ManifestShard> shards) {

  /** The version of the JSON form. */
  public static final int FORMAT = 1;

  /** Refuses contradictions. */
  public Manifest {
    SnapshotTopicFormat.requireSetName(setName);
    SnapshotParameters.requireSequence(sequence);
    SnapshotParameters.requireWindow(windowStartMillis, windowEndMillis);
    Objects.requireNonNull(parameters, "parameters");
    shards = List.copyOf(shards);
    requireCount(count);
    int expected = parameters.shards().count();
    if (shards.size() != expected) {
      throw new IllegalArgumentException(
          "shards must have " + expected + " entries, got " + shards.size());
    }
    long sum = 0;
    for (int i = 0; i < expected; i++) {
      ManifestShard shard = shards.get(i);
      if (shard.shard() != i) {
        throw new IllegalArgumentException(
            "shards[" + i + "] must be shard " + i + ", got " + shard.shard());
      }
      if (shard.base() != null && shard.base().sequence() > sequence) {
        throw new IllegalArgumentException(
            String.format(
                "the base of shard %d must have a sequence of at most %d, got %d",
                i, sequence, shard.base().sequence()));
      }
      sum += shard.count();
    }
    if (sum != count) {
      throw new IllegalArgumentException(
          "count must be the sum over the shards, " + sum + ", got " + count);
    }
  }

  /** The manifest of these shards; their counts are added up. */
  public static Manifest of(
      String setName,
      long sequence,
      long windowStartMillis,
      long windowEndMillis,
      SetParameters parameters,
      List<ManifestShard> shards) {
    long count = shards.stream().mapToLong(ManifestShard::count).sum();
    return new Manifest(
        setName, sequence, windowStartMillis, windowEndMillis, parameters, count, shards);
  }

  /**
   * Reads the JSON form. Unknown fields are ignored.
   *
   * @throws MalformedSnapshotException if this is no manifest; the sentence names the field
   * @throws UnsupportedSnapshotException if a newer reader is needed
   */
  public static Manifest fromJson(byte[] json) throws SnapshotException {
    return ManifestJson.read(json);
  }

  /** The JSON form: equal manifests give equal bytes, on every Java version. */
  public byte[] toJson() {
    return ManifestJson.write(this);
  }

  static void requireCount(long count) {
    // The bound keeps sums of counts exact.
    if (count < 0 || count > 1L << 40) {
      throw new IllegalArgumentException("count must be in [0, 2^40], got " + count);
    }
  }
}
