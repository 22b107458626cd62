package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.CatchUp;
import org.jspecify.annotations.Nullable;

/** What {@link SnapshotAssembler} wants its caller to do. */
public sealed interface Decision {

  /**
   * Answer from this snapshot from now on.
   *
   * @param way how it was reached; {@code NOTHING} if it was kept
   * @param bytes the bytes of the blobs that were loaded for it
   * @param changes since the snapshot that answered before; null if unknown
   */
  record Activate(
      ActiveSnapshot snapshot, CatchUp.Way way, long bytes, CatchUp.@Nullable Changes changes)
      implements Decision {
    /** A snapshot that was kept. */
    static Activate kept(ActiveSnapshot snapshot) {
      return new Activate(snapshot, CatchUp.Way.NOTHING, 0, null);
    }
  }

  /** Keep the current snapshot, and report the reason. */
  record Refuse(String reason) implements Decision {}

  /** Read all of the topic once more from its beginning: a blob that it should hold is missing. */
  record Reread() implements Decision {}
}
