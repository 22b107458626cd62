package io.firstseen.operators.compaction;

import io.firstseen.types.KeyEpochs;
import java.util.Arrays;

/**
 * The expiry windows that the keys of a live set can have at the end of a window: from the first
 * that is not due to the one that holds the window's end. There are at most nine. They are numbered
 * from 0 in the order of their ends.
 */
final class ExpiryWindowTable {
  /** Stands for the number of an expiry window whose keys are forgotten. */
  static final byte DUE = -1;

  private final ExpiryRule rule;
  private final long firstMillis;
  private final long lastMillis;

  ExpiryWindowTable(ExpiryRule rule, long windowEndMillis) {
    this.rule = rule;
    this.firstMillis = rule.expiryWindowEndFrom(windowEndMillis - rule.ttlMillis() + 1);
    this.lastMillis = rule.expiryWindowEndFrom(windowEndMillis);
  }

  /** The number of expiry windows. */
  int size() {
    return (int) ((lastMillis - firstMillis) / rule.expiryWindowMillis()) + 1;
  }

  /**
   * The number of the expiry window of an instant, which is in the window or before it, or {@link
   * #DUE}.
   */
  byte numberOfTime(long millis) {
    return numberOf(rule.expiryWindowEndFrom(millis + 1));
  }

  /**
   * The number of an expiry window. If it was made with another ttl, it becomes the next one that
   * ends with it or after it. All keys were accepted before the window's end, so none needs a later
   * expiry window than the last one here.
   *
   * @return the number, or {@link #DUE}
   */
  byte numberOf(long endMillis) {
    long end = adjusted(endMillis);
    return end < firstMillis ? DUE : (byte) ((end - firstMillis) / rule.expiryWindowMillis());
  }

  private long adjusted(long endMillis) {
    return Math.min(rule.expiryWindowEndFrom(endMillis), lastMillis);
  }

  /** The numbers of a set's expiry windows. */
  byte[] numbersOf(KeyEpochs expiryWindows) {
    byte[] numbers = new byte[expiryWindows.endsMillis().length];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = numberOf(expiryWindows.endsMillis()[i]);
    }
    return numbers;
  }

  /** The expiry windows of a set, moved to those of this ttl if another ttl made them. */
  KeyEpochs adjusted(KeyEpochs expiryWindows) {
    long[] ends = expiryWindows.endsMillis().clone();
    for (int i = 0; i < ends.length; i++) {
      ends[i] = adjusted(ends[i]);
    }
    return Arrays.equals(ends, expiryWindows.endsMillis())
        ? expiryWindows
        : new KeyEpochs(ends, expiryWindows.counts(), expiryWindows.numbers());
  }

  /** Whether some of a set's keys are due. */
  boolean isAnyDue(KeyEpochs expiryWindows) {
    for (int i = 0; i < expiryWindows.counts().length; i++) {
      if (expiryWindows.counts()[i] > 0 && numberOf(expiryWindows.endsMillis()[i]) == DUE) {
        return true;
      }
    }
    return false;
  }

  /** The ends of the expiry windows. */
  long[] endsMillis() {
    long[] ends = new long[size()];
    for (int i = 0; i < ends.length; i++) {
      ends[i] = firstMillis + i * rule.expiryWindowMillis();
    }
    return ends;
  }
}
