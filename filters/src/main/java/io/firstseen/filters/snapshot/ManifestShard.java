package io.firstseen.filters.snapshot;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A shard as a manifest describes it: a base, and a chain of deltas that leads to the newest set.
 * The chain passes through the set of the base and may begin before it, so that readers with an
 * older set can catch up by deltas when a new base is published beside a delta.
 *
 * @param shard the number of the shard
 * @param count the number of its live hashes
 * @param base a snapshot of one of the sets of the chain; null for a shard that never held a key
 * @param deltas each changes the set that the delta before it leads to; the last leads to the
 *     newest set
 */
public record ManifestShard(
    int shard, long count, @Nullable BlobReference base, List<BlobReference> deltas) {

  /** Refuses a shard that holds keys but has no base, and a chain with a gap. */
  public ManifestShard {
    deltas = List.copyOf(deltas);
    Manifest.requireCount(count);
    if (base == null && (count > 0 || !deltas.isEmpty())) {
      throw new IllegalArgumentException(
          "shard " + shard + " must have a base, since it has keys or deltas");
    }
    if (base != null) {
      requireChain(shard, base, deltas);
    }
  }

  /** A shard with a base and no deltas. */
  public static ManifestShard of(int shard, long count, BlobReference base) {
    return new ManifestShard(shard, count, base, List.of());
  }

  /** A shard that never held a key. */
  public static ManifestShard empty(int shard) {
    return new ManifestShard(shard, 0, null, List.of());
  }

  /** The blob that leads to the newest set: the last delta, or the base if there is none. */
  public BlobReference newest() {
    return deltas.isEmpty() ? base : deltas.get(deltas.size() - 1);
  }

  /** All blobs: the base if there is one, then the deltas. */
  public List<BlobReference> blobs() {
    return Stream.concat(Stream.ofNullable(base), deltas.stream()).toList();
  }

  /** The deltas that lead from the set of the base to the newest set. */
  public List<BlobReference> deltasBehindBase() {
    return base == null ? List.of() : deltas.subList(placeOfBase(base, deltas), deltas.size());
  }

  private static void requireChain(int shard, BlobReference base, List<BlobReference> deltas) {
    if (base.isDelta()) {
      throw new IllegalArgumentException(
          "the base of shard " + shard + " must be a snapshot, got a delta");
    }
    for (int i = 0; i < deltas.size(); i++) {
      BlobReference delta = deltas.get(i);
      String name = "deltas[" + i + "] of shard " + shard;
      if (!delta.isDelta()) {
        throw new IllegalArgumentException(name + " must have a parentSetDigest");
      }
      if (i > 0) {
        BlobReference before = deltas.get(i - 1);
        if (!delta.parentSetDigest().equals(before.setDigest())) {
          throw new IllegalArgumentException(
              String.format(
                  "%s must change the set that the one before leads to, %s, got parentSetDigest %s",
                  name, before.setDigest(), delta.parentSetDigest()));
        }
        if (delta.sequence() <= before.sequence()) {
          throw new IllegalArgumentException(
              String.format(
                  "%s must have a sequence above %d, that of the one before, got %d",
                  name, before.sequence(), delta.sequence()));
        }
      }
    }
    if (placeOfBase(base, deltas) < 0) {
      throw new IllegalArgumentException(
          String.format(
              "the deltas of shard %d must pass through the set of its base at the base's sequence,"
                  + " %d, got none from or to %s there",
              shard, base.sequence(), base.setDigest()));
    }
  }

  /**
   * How many deltas lead to the set of the base, the last of them published beside it; -1 if the
   * chain does not pass through that set.
   */
  private static int placeOfBase(BlobReference base, List<BlobReference> deltas) {
    int place = 0;
    while (place < deltas.size() && deltas.get(place).sequence() <= base.sequence()) {
      place++;
    }
    String set =
        place > 0
            ? deltas.get(place - 1).setDigest()
            : deltas.isEmpty() ? base.setDigest() : deltas.get(0).parentSetDigest();
    return base.setDigest().equals(set) ? place : -1;
  }
}
