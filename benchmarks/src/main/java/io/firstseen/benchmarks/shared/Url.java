package io.firstseen.benchmarks.shared;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The event of all subjects: a URL in canonical form, of {@value #BYTES} bytes or, by {@link
 * #shortOf}, {@value #SHORT_BYTES}. Also a key, with a cached hash code like a string's.
 */
public final class Url {
  public static final int BYTES = 85;

  private static final byte[] TEMPLATE =
      "https://www.shop-000000.example.com/catalogue/autumn/shoes/item-0000000000000000.html"
          .getBytes(StandardCharsets.US_ASCII);
  private static final int SHOP = 17;
  private static final int ITEM = 64;

  public static final int SHORT_BYTES = 40;

  private static final byte[] SHORT_TEMPLATE =
      "https://shop-00.example/0000000000000000".getBytes(StandardCharsets.US_ASCII);
  private static final int SHORT_SHOP = 13;
  private static final int SHORT_ITEM = 24;

  private static final byte[] DIGITS = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
  private static final short[] PAIRS = new short[256];
  private static final VarHandle PAIR =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);

  static {
    for (int i = 0; i < PAIRS.length; i++) {
      PAIRS[i] = (short) (DIGITS[i & 15] << 8 | DIGITS[i >>> 4]);
    }
  }

  private final byte[] utf8;
  private int hashCode;

  /** The event with these bytes, which are not copied. */
  public Url(byte[] utf8) {
    this.utf8 = utf8;
  }

  /** The URL for a key's number; different numbers have different URLs, in pseudorandom order. */
  public static Url of(long number) {
    long id = scramble(number);
    byte[] utf8 = TEMPLATE.clone();
    writeHex(utf8, SHOP, id, 3);
    writeHex(utf8, ITEM, id, Long.BYTES);
    return new Url(utf8);
  }

  /** A short URL for a key's number, as {@link #of}. */
  public static Url shortOf(long number) {
    long id = scramble(number);
    byte[] utf8 = SHORT_TEMPLATE.clone();
    writeHex(utf8, SHORT_SHOP, id, 1);
    writeHex(utf8, SHORT_ITEM, id, Long.BYTES);
    return new Url(utf8);
  }

  /** A pseudorandom permutation: the finaliser of SplitMix64 (Steele et al. 2014). */
  public static long scramble(long number) {
    long z = number + 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /** A pseudorandom number in [0, bound) that depends only on the record. */
  public static long drawn(long record, long bound) {
    return Math.multiplyHigh(scramble(~record) >>> 1, bound << 1);
  }

  private static void writeHex(byte[] utf8, int at, long value, int bytes) {
    for (int i = 0; i < bytes; i++) {
      PAIR.set(utf8, at + 2 * i, PAIRS[(int) (value >>> (8 * i)) & 0xff]);
    }
  }

  /** Not to be changed. */
  public byte[] utf8() {
    return utf8;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Url that && Arrays.equals(utf8, that.utf8);
  }

  @Override
  public int hashCode() {
    if (hashCode == 0) {
      hashCode = Arrays.hashCode(utf8);
    }
    return hashCode;
  }

  @Override
  public String toString() {
    return new String(utf8, StandardCharsets.US_ASCII);
  }
}
