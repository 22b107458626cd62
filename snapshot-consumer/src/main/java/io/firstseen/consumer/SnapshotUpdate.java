package io.firstseen.consumer;

import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.Manifest;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A change of the active snapshot.
 *
 * @param manifest the manifest of the new active snapshot
 * @param previous the manifest of the previous active snapshot; empty for the first snapshot
 * @param addedKeys the number of keys that are live now and were not before; empty if unknown, for
 *     example after a whole shard was fetched
 * @param removedKeys the number of keys that were live before and are not now; empty if unknown
 * @param way which blobs were loaded; {@code NOTHING} also if the snapshot was in the history or
 *     the cache
 * @param fetchedBytes the bytes of the blobs that were loaded for it
 * @param tookMillis the time from its first record, or from the start of the client, until it
 *     became active
 */
public record SnapshotUpdate(
    Manifest manifest,
    Optional<Manifest> previous,
    OptionalLong addedKeys,
    OptionalLong removedKeys,
    CatchUp.Way way,
    long fetchedBytes,
    long tookMillis) {}
