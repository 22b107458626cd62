package io.firstseen.operators.compaction;

import io.firstseen.types.KeyEpochs;
import java.util.Arrays;

/**
 * The expiry windows that the keys of a live set can have at the end of a window: from the first
 * that is not due to the expiry window that contains the window's end. There are at most nine,
 * numbered from 0 in the order of their ends.
 */
final class ExpiryWindowTable {
  /** Used as the number of an expiry window whose keys are forgotten. */
  static final byte DUE = -1;

  private final ExpiryRule rule;
  private final long firstMillis;
  private final long lastMillis;

  ExpiryWindowTable(ExpiryRule rule, long windowEndMillis) {
    this.rule = rule;
    this.firstMillis = rule.expiryWindowEndFrom(windowEndMillis - rule.ttlMillis() + 1);
    this.lastMillis = rule.expiryWindowEndFrom(windowEndMillis);
  }

  int size() {
    return (int) ((lastMillis - firstMillis) / rule.expiryWindowMillis()) + 1;
  }

  /**
   * Returns the number of the expiry window of an instant, which is in the window or before it, or
   * {@link #DUE}.
   */
  byte numberOfTime(long millis) {
    return numberOf(rule.expiryWindowEndFrom(millis + 1));
  }

  /**
   * Returns the number of an expiry window. If it was created with a different ttl, it becomes the
   * first expiry window that ends at the same time or later. All keys were accepted before the
   * window's end, so no key needs a later expiry window than the last window of this table.
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

  byte[] numbersOf(KeyEpochs expiryWindows) {
    byte[] numbers = new byte[expiryWindows.endsMillis().length];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = numberOf(expiryWindows.endsMillis()[i]);
    }
    return numbers;
  }

  /**
   * Returns the expiry windows of a set, converted to the current ttl if they were created with a
   * different ttl.
   */
  KeyEpochs adjusted(KeyEpochs expiryWindows) {
    long[] ends = expiryWindows.endsMillis().clone();
    for (int i = 0; i < ends.length; i++) {
      ends[i] = adjusted(ends[i]);
    }
    return Arrays.equals(ends, expiryWindows.endsMillis())
        ? expiryWindows
        : new KeyEpochs(ends, expiryWindows.counts(), expiryWindows.numbers());
  }

  /** Returns whether some of a set's keys are due. */
  boolean isAnyDue(KeyEpochs expiryWindows) {
    for (int i = 0; i < expiryWindows.counts().length; i++) {
      if (expiryWindows.counts()[i] > 0 && numberOf(expiryWindows.endsMillis()[i]) == DUE) {
        return true;
      }
    }
    return false;
  }

  long[] endsMillis() {
    long[] ends = new long[size()];
    for (int i = 0; i < ends.length; i++) {
      ends[i] = firstMillis + i * rule.expiryWindowMillis();
    }
    return ends;
  }
}
