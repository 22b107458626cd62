package io.firstseen.consumer;

import io.firstseen.filters.snapshot.Manifest;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A change of what answers.
 *
 * @param manifest what answers from now on
 * @param previous what answered before; empty at first
 * @param addedKeys that live and did not before; empty if that is not known, as after a shard that
 *     was fetched whole
 * @param removedKeys that lived before and do not any more; empty if that is not known
 * @param fetchedBytes the bytes of the blobs that were fetched for it; unchanged shards need none
 * @param tookMillis from the first of its records, or from the start of the client, to now
 */
public record SnapshotUpdate(
    Manifest manifest,
    Optional<Manifest> previous,
    OptionalLong addedKeys,
    OptionalLong removedKeys,
    long fetchedBytes,
    long tookMillis) {}
