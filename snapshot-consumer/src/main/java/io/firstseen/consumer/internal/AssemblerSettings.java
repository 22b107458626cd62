package io.firstseen.consumer.internal;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.TrustedKey;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * What an assembler follows, and how.
 *
 * @param setName the set to follow; others are ignored
 * @param keyHash the hash function and key that the set must be made with; null for any
 * @param chunkWaitMillis how long chunks may be missing before they are reported
 * @param maxUnnamedBytes the most bytes of chunks for which no manifest waits; empty for 256 MiB,
 *     or twice the snapshot that answers if that is more
 * @param historyLength how many earlier snapshots stay loaded
 * @param trustedKeys a manifest must carry a signature by one of these keys; empty if none is
 *     required
 * @param blobs fetches blobs that are not on the topic
 * @param cache keeps snapshots and chunks in files; null to keep them in memory
 * @param fetches runs loads of snapshots whose blobs are not on the topic, one at a time
 */
public record AssemblerSettings(
    String setName,
    @Nullable KeyHash keyHash,
    long chunkWaitMillis,
    OptionalLong maxUnnamedBytes,
    int historyLength,
    Set<TrustedKey> trustedKeys,
    BlobSource blobs,
    @Nullable SnapshotCache cache,
    Executor fetches) {

  /** Settings of an assembler that waits for such loads. */
  public AssemblerSettings(
      String setName,
      @Nullable KeyHash keyHash,
      long chunkWaitMillis,
      OptionalLong maxUnnamedBytes,
      int historyLength,
      Set<TrustedKey> trustedKeys,
      BlobSource blobs,
      @Nullable SnapshotCache cache) {
    this(
        setName,
        keyHash,
        chunkWaitMillis,
        maxUnnamedBytes,
        historyLength,
        trustedKeys,
        blobs,
        cache,
        Runnable::run);
  }
}
