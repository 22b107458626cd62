package io.firstseen.filters.gcs;

import java.util.NoSuchElementException;
import java.util.PrimitiveIterator;

/**
 * Iterators over union, difference and coarsening of ascending distinct unsigned values, in
 * constant memory. The results are also ascending and distinct.
 */
public abstract class MergedValues implements PrimitiveIterator.OfLong {
  private long value;
  private boolean looked;
  private boolean hasValue;

  private MergedValues() {}

  /** Returns the values that are in one of the two, or in both. */
  public static PrimitiveIterator.OfLong union(
      PrimitiveIterator.OfLong one, PrimitiveIterator.OfLong other) {
    return new MergedValues() {
      private final Head ones = new Head(one);
      private final Head others = new Head(other);

      @Override
      boolean advance() {
        if (!ones.present && !others.present) {
          return false;
        }
        boolean fromOther = others.isBefore(ones);
        boolean inBoth = !fromOther && ones.equalsPresent(others);
        emit((fromOther ? others : ones).value);
        (fromOther ? others : ones).advance();
        if (inBoth) {
          others.advance();
        }
        return true;
      }
    };
  }

  /** Returns the values that are in the first but not in the second. */
  public static PrimitiveIterator.OfLong difference(
      PrimitiveIterator.OfLong minuend, PrimitiveIterator.OfLong subtrahend) {
    return new MergedValues() {
      private final Head kept = new Head(minuend);
      private final Head removed = new Head(subtrahend);

      @Override
      boolean advance() {
        while (kept.present) {
          while (removed.isBefore(kept)) {
            removed.advance();
          }
          boolean isRemoved = kept.equalsPresent(removed);
          if (!isRemoved) {
            emit(kept.value);
          }
          kept.advance();
          if (!isRemoved) {
            return true;
          }
        }
        return false;
      }
    };
  }

  /** Returns the quotients of the values and a divisor. */
  public static PrimitiveIterator.OfLong coarsened(PrimitiveIterator.OfLong values, long divisor) {
    return new MergedValues() {
      private final Head head = new Head(values);

      @Override
      boolean advance() {
        if (!head.present) {
          return false;
        }
        long coarse = Long.divideUnsigned(head.value, divisor);
        do {
          head.advance();
        } while (head.present && Long.divideUnsigned(head.value, divisor) == coarse);
        emit(coarse);
        return true;
      }
    };
  }

  /** Moves to the next value by {@link #emit}; false at the end. */
  abstract boolean advance();

  final void emit(long next) {
    value = next;
  }

  @Override
  public final boolean hasNext() {
    if (!looked) {
      hasValue = advance();
      looked = true;
    }
    return hasValue;
  }

  @Override
  public final long nextLong() {
    if (!hasNext()) {
      throw new NoSuchElementException("all values were returned");
    }
    looked = false;
    return value;
  }

  /** The next value of an iterator, which can be read before it is consumed. */
  private static final class Head {
    private final PrimitiveIterator.OfLong values;
    private long value;
    private boolean present;

    Head(PrimitiveIterator.OfLong values) {
      this.values = values;
      advance();
    }

    void advance() {
      present = values.hasNext();
      value = present ? values.nextLong() : 0;
    }

    boolean isBefore(Head other) {
      return present && (!other.present || Long.compareUnsigned(value, other.value) < 0);
    }

    boolean equalsPresent(Head other) {
      return present && other.present && value == other.value;
    }
  }
}
