package io.firstseen.types;

import java.util.Arrays;

/**
 * In which epoch of a ttl each key of a live set was accepted last; stands beside the set, whose
 * keys it counts from 0 in their order.
 *
 * @param endsMillis where the epochs end (event time), at most {@link #MAX_EPOCHS}; their places
 *     here are their numbers. Not copied, not to be changed
 * @param counts how many keys each has; not copied, not to be changed
 * @param numbers the number of each key's epoch in 4 bits, two to a byte, the first in the lower
 *     ones; not copied, not to be changed
 */
// Equality by content is written out below.
@SuppressWarnings("ArrayRecordComponent")
public record KeyEpochs(long[] endsMillis, long[] counts, byte[] numbers) {

  /** So many numbers have 4 bits. */
  public static final int MAX_EPOCHS = 16;

  public KeyEpochs {
    if (endsMillis.length > MAX_EPOCHS || counts.length != endsMillis.length) {
      throw new IllegalArgumentException(
          "there must be at most %d epochs with a count each, got %d with %d counts"
              .formatted(MAX_EPOCHS, endsMillis.length, counts.length));
    }
    long keys = Arrays.stream(counts).sum();
    if (numbers.length != bytesFor(keys)) {
      throw new IllegalArgumentException(
          "%d keys must have %d bytes of numbers, got %d"
              .formatted(keys, bytesFor(keys), numbers.length));
    }
  }

  /** The length of {@link #numbers} for so many keys. */
  public static long bytesFor(long keys) {
    return (keys + 1) / 2;
  }

  /** The number of the epoch of a key. */
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
