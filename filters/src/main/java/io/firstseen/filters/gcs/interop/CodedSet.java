package io.firstseen.filters.gcs.interop;

import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import java.util.Collections;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.PrimitiveIterator;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/**
 * A set that was written by another program. It keeps the bytes: {@link #values} and {@link
 * #mightContain} decode them from the start in each call, as these programs do. Immutable, safe for
 * use by many threads.
 */
public final class CodedSet {
  private final byte[] bytes;
  private final int headerBits;
  private final RiceForm form;
  private final long maxValue;
  private final SortedMap<String, Long> header;
  private final ToLongFunction<byte[]> valueOf;
  private final boolean isZeroOmitted;
  private final long count;

  /**
   * Checks the codes.
   *
   * @param bytes copied
   * @param headerBits the bit position where the codes begin
   * @param maxValue the greatest possible value, unsigned
   * @param isZeroOmitted whether the set may hold 0 although it is not coded
   */
  CodedSet(
      byte[] bytes,
      int headerBits,
      RiceForm form,
      long maxValue,
      Map<String, Long> header,
      ToLongFunction<byte[]> valueOf,
      boolean isZeroOmitted)
      throws MalformedGolombCodedSetException {
    this.bytes = bytes.clone();
    this.headerBits = headerBits;
    this.form = form;
    this.maxValue = maxValue;
    this.header = Collections.unmodifiableSortedMap(new TreeMap<>(header));
    this.valueOf = valueOf;
    this.isZeroOmitted = isZeroOmitted;
    long counted = 0;
    for (ValueReader reader = reader(); reader.advance(); ) {
      counted++;
    }
    this.count = counted;
  }

  private ValueReader reader() {
    return new ValueReader(bytes, headerBits, form, maxValue);
  }

  /** Returns the number of values that are coded. */
  public long count() {
    return count;
  }

  /** Returns the fields before the values, by their names in the format. */
  public SortedMap<String, Long> header() {
    return header;
  }

  /** Returns the values, unsigned and ascending; repeated only if the format codes repeats. */
  public PrimitiveIterator.OfLong values() {
    ValueReader reader = reader();
    return new PrimitiveIterator.OfLong() {
      private long left = count;

      @Override
      public boolean hasNext() {
        return left > 0;
      }

      @Override
      public long nextLong() {
        if (left == 0) {
          throw new NoSuchElementException();
        }
        left--;
        advance(reader);
        return reader.value();
      }
    };
  }

  /**
   * Returns whether the set holds this key, or one with the same value.
   *
   * @throws IllegalArgumentException if the key is not valid in this format
   */
  public boolean mightContain(byte[] key) {
    long wanted = valueOf.applyAsLong(key);
    if (wanted == 0 && isZeroOmitted) {
      return true;
    }
    ValueReader reader = reader();
    for (long left = count; left > 0; left--) {
      advance(reader);
      int order = Long.compareUnsigned(reader.value(), wanted);
      if (order >= 0) {
        return order == 0;
      }
    }
    return false;
  }

  private static void advance(ValueReader reader) {
    try {
      reader.advance();
    } catch (MalformedGolombCodedSetException e) {
      throw new IllegalStateException("the codes were checked before", e);
    }
  }
}
