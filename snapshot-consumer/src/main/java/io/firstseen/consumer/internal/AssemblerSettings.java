package io.firstseen.consumer.internal;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.TrustedKey;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The settings of an assembler.
 *
 * @param setName the set to follow; other sets are ignored
 * @param keyHash the required hash function and key of the set; null for any
 * @param chunkWaitMillis how long chunks may be missing before they are reported
 * @param maxUnnamedBytes the maximum number of bytes of chunks for which no manifest waits; empty
 *     for 256 MiB, or twice the active snapshot if that is more
 * @param historyLength how many earlier snapshots stay loaded
 * @param trustedKeys a manifest must be signed by one of these keys; empty if no signature is
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
    Executor fetches) {}
