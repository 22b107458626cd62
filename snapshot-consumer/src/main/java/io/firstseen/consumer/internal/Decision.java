package io.firstseen.consumer.internal;

/** What {@link SnapshotAssembler} wants to be done. */
public sealed interface Decision {

  /**
   * Answer from this snapshot from now on.
   *
   * @param changes from what answered before; null if not known
   */
  record Activate(ActiveSnapshot snapshot, Changes changes) implements Decision {}

  /** How many keys came and went. */
  record Changes(long added, long removed) {}

  /** Go on with what there is, and say why. */
  record Refuse(String reason) implements Decision {}

  /** Read the topic once more from its beginning: something that should be there is not here. */
  record Reread() implements Decision {}
}
