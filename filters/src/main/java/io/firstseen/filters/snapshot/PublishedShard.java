package io.firstseen.filters.snapshot;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The published state of a snapshot shard.
 *
 * @param setDigest the digest of the newest set
 * @param liveCount the number of live keys of that set
 * @param base the newest base
 * @param sections the number of sections since that base
 * @param listedBase the base that the list of bases names; null if it names no base for this shard
 */
public record PublishedShard(
    String setDigest,
    long liveCount,
    BlobReference base,
    int sections,
    @Nullable BlobReference listedBase) {

  /** Rejects a shard without a base. */
  public PublishedShard {
    Objects.requireNonNull(setDigest, "setDigest");
    Objects.requireNonNull(base, "base");
  }

  /** Returns a copy with the base that the list of bases names; null for no base. */
  public PublishedShard withListed(@Nullable BlobReference newListedBase) {
    return new PublishedShard(setDigest, liveCount, base, sections, newListedBase);
  }
}
