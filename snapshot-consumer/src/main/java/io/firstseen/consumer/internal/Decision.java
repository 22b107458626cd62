package io.firstseen.consumer.internal;

/** What {@link SnapshotAssembler} wants to be done. */
public sealed interface Decision {

  /** Answer from this snapshot from now on. */
  record Activate(ActiveSnapshot snapshot) implements Decision {}

  /** Go on with what there is, and say why. */
  record Refuse(String reason) implements Decision {}

  /** Read the topic once more from its beginning: something that should be there is not here. */
  record Reread() implements Decision {}
}
