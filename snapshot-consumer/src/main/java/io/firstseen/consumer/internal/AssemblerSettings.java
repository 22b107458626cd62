package io.firstseen.consumer.internal;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.TrustedKey;
import java.util.Set;

/**
 * What an assembler follows, and how.
 *
 * @param setName the set to follow; others are passed over
 * @param keyHashOrNull the hash that the set must be made with; null for any
 * @param chunkWaitMillis how long chunks may be missing before that is reported
 * @param historyLength how many snapshots that answered before stay at hand
 * @param trustedKeys one of which must have signed a manifest; empty if none need be signed
 * @param blobs where blobs lie that are not on the topic
 * @param cacheOrNull where snapshots and chunks lie; null for in memory
 */
public record AssemblerSettings(
    String setName,
    KeyHash keyHashOrNull,
    long chunkWaitMillis,
    int historyLength,
    Set<TrustedKey> trustedKeys,
    BlobSource blobs,
    SnapshotCache cacheOrNull) {}
