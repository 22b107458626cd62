package io.firstseen.filters.snapshot;

import java.io.UncheckedIOException;
import java.util.NoSuchElementException;
import java.util.PrimitiveIterator;

/** The values of a set after a change, in ascending order, decoded as they are read. */
final class Merge implements PrimitiveIterator.OfLong {
  private final PrimitiveIterator.OfLong parent;
  private final PrimitiveIterator.OfLong added;
  private final PrimitiveIterator.OfLong removed;
  private long place = -1;
  private long parentValue;
  private boolean hasParent;
  private long addedValue;
  private boolean hasAdded;
  // The place of the next removed value, or -1 if no removals remain.
  private long removedPlace;

  /**
   * Creates the iterator.
   *
   * @param parent the values before
   * @param added the added values
   * @param removed the places of the removed values
   */
  Merge(
      PrimitiveIterator.OfLong parent,
      PrimitiveIterator.OfLong added,
      PrimitiveIterator.OfLong removed) {
    this.parent = parent;
    this.added = added;
    this.removed = removed;
    nextRemoved();
    nextAdded();
    nextParent();
  }

  private void nextAdded() {
    hasAdded = added.hasNext();
    addedValue = hasAdded ? added.nextLong() : 0;
    passRemoved();
  }

  private void nextRemoved() {
    removedPlace = removed.hasNext() ? removed.nextLong() : -1;
  }

  private void nextParent() {
    hasParent = parent.hasNext();
    if (hasParent) {
      parentValue = parent.nextLong();
      place++;
      passRemoved();
    }
  }

  /**
   * Skips removed values up to the next added value, because added values are also compared with
   * removed values.
   */
  private void passRemoved() {
    requireAbsent();
    while (hasParent
        && place == removedPlace
        && (!hasAdded || Long.compareUnsigned(parentValue, addedValue) < 0)) {
      nextRemoved();
      hasParent = parent.hasNext();
      if (hasParent) {
        parentValue = parent.nextLong();
        place++;
        requireAbsent();
      }
    }
  }

  private void requireAbsent() {
    if (hasAdded && hasParent && addedValue == parentValue) {
      throw new UncheckedIOException(
          new MalformedSnapshotException(
              "an added value must not be there before, got "
                  + Long.toUnsignedString(parentValue)));
    }
  }

  @Override
  public boolean hasNext() {
    return hasParent || hasAdded;
  }

  @Override
  public long nextLong() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    long value;
    if (hasAdded && (!hasParent || Long.compareUnsigned(addedValue, parentValue) < 0)) {
      value = addedValue;
      nextAdded();
    } else {
      value = parentValue;
      nextParent();
    }
    return value;
  }
}
