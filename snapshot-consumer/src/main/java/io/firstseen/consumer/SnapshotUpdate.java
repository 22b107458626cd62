package io.firstseen.consumer;

import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.Manifest;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A change of the snapshot that answers.
 *
 * @param manifest the manifest that answers from now on
 * @param previous the manifest that answered before; empty at first
 * @param addedKeys keys that are live now and were not before; empty if unknown, as after a shard
 *     was fetched whole
 * @param removedKeys keys that were live before and are not now; empty if unknown
 * @param way how the snapshot was reached; {@code NOTHING} also if it was kept, in the history or
 *     the cache
 * @param fetchedBytes the bytes of the blobs that were loaded for it
 * @param tookMillis time from its first record, or from the start of the client, until it answered
 */
public record SnapshotUpdate(
    Manifest manifest,
    Optional<Manifest> previous,
    OptionalLong addedKeys,
    OptionalLong removedKeys,
    CatchUp.Way way,
    long fetchedBytes,
    long tookMillis) {}
