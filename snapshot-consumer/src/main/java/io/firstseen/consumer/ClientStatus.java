package io.firstseen.consumer;

import io.firstseen.filters.snapshot.SnapshotSet;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Optional;

/**
 * What a {@link FollowedSet} answers from at one moment; what is in it belongs together. For
 * callers that tell their own callers which snapshot an answer came from.
 *
 * @param state the state of the client
 * @param snapshot the verified snapshot, if there is one; it is there when stale, too
 * @param manifestJson its manifest as it was published, over which a signature holds; read-only
 * @param publishedMillis when its manifest was written, in milliseconds since the epoch; 0 without
 *     a snapshot
 * @param trouble the newest complaint, one sentence, until a snapshot or the topic comes back
 */
public record ClientStatus(
    ClientState state,
    Optional<SnapshotSet> snapshot,
    Optional<ByteBuffer> manifestJson,
    long publishedMillis,
    Optional<String> trouble) {

  /** Refuses nulls. */
  public ClientStatus {
    Objects.requireNonNull(state, "state");
    Objects.requireNonNull(snapshot, "snapshot");
    Objects.requireNonNull(manifestJson, "manifestJson");
    Objects.requireNonNull(trouble, "trouble");
  }
}
