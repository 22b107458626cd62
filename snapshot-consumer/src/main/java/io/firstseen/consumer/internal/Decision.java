package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.CatchUp;
import org.jspecify.annotations.Nullable;

/** An action that the caller of {@link SnapshotAssembler} must execute. */
public sealed interface Decision {

  /**
   * Use this snapshot for queries from now on.
   *
   * @param way which blobs were loaded; {@code NOTHING} if the snapshot was kept
   * @param bytes the bytes of the blobs that were loaded for it
   * @param changes the changes since the previous active snapshot; null if unknown
   */
  record Activate(
      ActiveSnapshot snapshot, CatchUp.Way way, long bytes, CatchUp.@Nullable Changes changes)
      implements Decision {
    static Activate kept(ActiveSnapshot snapshot) {
      return new Activate(snapshot, CatchUp.Way.NOTHING, 0, null);
    }
  }

  /** Keep the current snapshot and report the reason. */
  record Refuse(String reason) implements Decision {}

  /**
   * Read the whole topic again from its beginning, because a blob that it should contain is
   * missing.
   */
  record Reread() implements Decision {}
}
