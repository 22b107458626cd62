package io.firstseen.consumer;

import io.firstseen.filters.snapshot.SnapshotSet;
import java.util.Objects;
import java.util.Optional;

/**
 * The state and the snapshot of a {@link FollowedSet} at one moment. The fields are consistent with
 * each other, so a caller can determine which snapshot produced a result.
 *
 * @param state the state of the client
 * @param snapshot the verified snapshot, stale or not; empty if there is none
 * @param publishedMillis when its manifest was published, according to the manifest, or when it was
 *     first read if that is earlier, in milliseconds since the epoch; 0 without a snapshot
 * @param trouble why the topic cannot be read now, or else the last reported problem, until a newer
 *     snapshot becomes active
 */
public record ClientStatus(
    ClientState state,
    Optional<SnapshotSet> snapshot,
    long publishedMillis,
    Optional<String> trouble) {

  /** Refuses nulls. */
  public ClientStatus {
    Objects.requireNonNull(state, "state");
    Objects.requireNonNull(snapshot, "snapshot");
    Objects.requireNonNull(trouble, "trouble");
  }
}
