package io.firstseen.operators.compaction;

import io.firstseen.types.KeyEpochs;
import java.util.Arrays;

/**
 * The epochs that a live set can have keys of at the end of a window, numbered from 0 in the order
 * of their ends: from the first that is not due to that of the window's end, nine at most.
 */
final class EpochTable {
  /** Stands for the number of an epoch whose keys are forgotten. */
  static final byte DUE = -1;

  private final ExpiryRule rule;
  private final long firstMillis;
  private final long lastMillis;

  EpochTable(ExpiryRule rule, long windowEndMillis) {
    this.rule = rule;
    this.firstMillis = rule.epochEndingFrom(windowEndMillis - rule.ttlMillis() + 1);
    this.lastMillis = rule.epochEndingFrom(windowEndMillis);
  }

  /** The number of epochs. */
  int size() {
    return (int) ((lastMillis - firstMillis) / rule.epochMillis()) + 1;
  }

  /** The number of the epoch that an instant of the window or before lies in, or {@link #DUE}. */
  byte numberOfTime(long millis) {
    return numberOf(rule.epochEndingFrom(millis + 1));
  }

  /**
   * The number of an epoch of these, or of one that was cut by another ttl: then of the one that
   * ends next. All keys came before the window's end, so none needs a later one than that of it.
   *
   * @return the number, or {@link #DUE}
   */
  byte numberOf(long endMillis) {
    long end = adjusted(endMillis);
    return end < firstMillis ? DUE : (byte) ((end - firstMillis) / rule.epochMillis());
  }

  private long adjusted(long endMillis) {
    return Math.min(rule.epochEndingFrom(endMillis), lastMillis);
  }

  /** The numbers of a set's epochs. */
  byte[] numbersOf(KeyEpochs epochs) {
    byte[] numbers = new byte[epochs.endsMillis().length];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = numberOf(epochs.endsMillis()[i]);
    }
    return numbers;
  }

  /** The same epochs where they do not come from another ttl. */
  KeyEpochs adjusted(KeyEpochs epochs) {
    long[] ends = epochs.endsMillis().clone();
    for (int i = 0; i < ends.length; i++) {
      ends[i] = adjusted(ends[i]);
    }
    return Arrays.equals(ends, epochs.endsMillis())
        ? epochs
        : new KeyEpochs(ends, epochs.counts(), epochs.numbers());
  }

  /** Whether some of a set's keys are due. */
  boolean isAnyDue(KeyEpochs epochs) {
    for (int i = 0; i < epochs.counts().length; i++) {
      if (epochs.counts()[i] > 0 && numberOf(epochs.endsMillis()[i]) == DUE) {
        return true;
      }
    }
    return false;
  }

  /** Where the epochs end. */
  long[] endsMillis() {
    long[] ends = new long[size()];
    for (int i = 0; i < ends.length; i++) {
      ends[i] = firstMillis + i * rule.epochMillis();
    }
    return ends;
  }
}
