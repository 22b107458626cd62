package io.firstseen.types;

import java.util.Arrays;

/**
 * For each key of a live set, the expiry window (epoch) in which it was accepted last. Keys are
 * numbered from 0 in the order of the live set, which is stored separately.
 *
 * @param endsMillis the ends of the epochs (event time), at most {@link #MAX_EPOCHS}; the index of
 *     an epoch is its number. Not copied; must not be changed
 * @param counts the number of keys of each epoch. Not copied; must not be changed
 * @param numbers the epoch number of each key in 4 bits, two keys in a byte, the first in the lower
 *     bits. Not copied; must not be changed
 */
// Equality by content is written out below.
@SuppressWarnings("ArrayRecordComponent")
public record KeyEpochs(long[] endsMillis, long[] counts, byte[] numbers) {

  /** The maximum number of epochs, because an epoch number has 4 bits. */
  public static final int MAX_EPOCHS = 16;

  public KeyEpochs {
    if (endsMillis.length > MAX_EPOCHS || counts.length != endsMillis.length) {
      throw new IllegalArgumentException(
          "there must be at most %d epochs with a count each, got %d with %d counts"
              .formatted(MAX_EPOCHS, endsMillis.length, counts.length));
    }
    long keys = 0;
    for (long count : counts) {
      // A sum of counts that are not negative is negative when it is too large.
      keys += count;
      if (count < 0 || keys < 0) {
        throw new IllegalArgumentException(
            "an epoch must have 0 or more keys, all at most 2^63 - 1, got "
                + Arrays.toString(counts));
      }
    }
    if (numbers.length != bytesFor(keys)) {
      throw new IllegalArgumentException(
          "%d keys must have %d bytes of numbers, got %d"
              .formatted(keys, bytesFor(keys), numbers.length));
    }
  }

  /** Returns the length of {@link #numbers} for a number of keys. */
  public static long bytesFor(long keys) {
    return (keys + 1) / 2;
  }

  /** Returns the number of the epoch of a key. */
  public int numberAt(long key) {
    return numbers[(int) (key >> 1)] >> ((key & 1) << 2) & 0xF;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof KeyEpochs that
        && Arrays.equals(endsMillis, that.endsMillis)
        && Arrays.equals(counts, that.counts)
        && Arrays.equals(numbers, that.numbers);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(
        new int[] {Arrays.hashCode(endsMillis), Arrays.hashCode(counts), Arrays.hashCode(numbers)});
  }

  @Override
  public String toString() {
    return "epochs that end at %s with %s keys"
        .formatted(Arrays.toString(endsMillis), Arrays.toString(counts));
  }
}
