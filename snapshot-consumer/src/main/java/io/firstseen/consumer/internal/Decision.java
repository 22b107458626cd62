package io.firstseen.consumer.internal;

import org.jspecify.annotations.Nullable;

/** What {@link SnapshotAssembler} wants its caller to do. */
public sealed interface Decision {

  /**
   * Answer from this snapshot from now on.
   *
   * @param changes since the snapshot that answered before; null if unknown
   */
  record Activate(ActiveSnapshot snapshot, @Nullable Changes changes) implements Decision {}

  /** How many keys were added and removed. */
  record Changes(long added, long removed) {}

  /** Keep the current snapshot, and report the reason. */
  record Refuse(String reason) implements Decision {}

  /** Read the topic once more from its beginning: a blob that it should hold is missing. */
  record Reread() implements Decision {}
}
