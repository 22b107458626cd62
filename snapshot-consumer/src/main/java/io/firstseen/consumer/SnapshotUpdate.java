package io.firstseen.consumer;

import io.firstseen.filters.snapshot.Manifest;
import java.util.Optional;

/**
 * A change of what answers.
 *
 * @param manifest what answers from now on
 * @param previous what answered before; empty at first
 * @param fetchedBytes the bytes of the blobs that were fetched for it; unchanged shards need none
 * @param tookMillis from the first of its records, or from the start of the client, to now
 */
public record SnapshotUpdate(
    Manifest manifest, Optional<Manifest> previous, long fetchedBytes, long tookMillis) {}
