package io.firstseen.filters.gcs.interop;

import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/**
 * The cookie {@code h2o_casper} of the H2O server's cache-aware server push (Kazuho Oku, 2015;
 * github.com/h2o/h2o), which lists the content of a browser's cache. Each value is coded as its
 * distance from the previous value, less one, as a Rice code (the quotient is a run of zeros, ended
 * by a one), padded with zeros to a whole byte. The cookie's value is these bytes in base64url
 * without padding. A value is the lowest {@code capacityBits} bits of the first four bytes of a
 * path's SHA-1, read as little-endian.
 *
 * <p>The bytes contain neither {@code capacityBits} nor {@code remainderBits}: the reader must know
 * both.
 */
public final class CasperCodec implements SetCodec {
  /** H2O's default. */
  public static final int DEFAULT_CAPACITY_BITS = 13;

  /** The default number of remainder bits, which H2O always uses. */
  public static final int DEFAULT_REMAINDER_BITS = 6;

  /** The maximum number of bits of a value or a remainder. */
  public static final int MAX_BITS = 31;

  private final long mask;
  private final RiceForm form;

  /** Creates the codec with H2O's defaults. */
  public CasperCodec() {
    this(DEFAULT_CAPACITY_BITS, DEFAULT_REMAINDER_BITS);
  }

  /**
   * Creates the codec.
   *
   * @param capacityBits the bits of a value, 1 to 31; the false-positive rate is about the number
   *     of paths / 2^capacityBits
   * @param remainderBits the parameter of the Rice code, 0 to 31
   * @throws IllegalArgumentException if one is out of range
   */
  public CasperCodec(int capacityBits, int remainderBits) {
    if (capacityBits < 1 || capacityBits > MAX_BITS) {
      throw new IllegalArgumentException(
          "capacity bits must be in [1, " + MAX_BITS + "], got " + capacityBits);
    }
    if (remainderBits < 0 || remainderBits > MAX_BITS) {
      throw new IllegalArgumentException(
          "remainder bits must be in [0, " + MAX_BITS + "], got " + remainderBits);
    }
    this.mask = (1L << capacityBits) - 1;
    this.form = new RiceForm(remainderBits, RiceForm.Gaps.DIFFERENCE_LESS_ONE, false, false);
  }

  @Override
  public byte[] encode(List<byte[]> keys) {
    long[] values = keys.stream().mapToLong(this::value).sorted().distinct().toArray();
    return form.encode(0, 0, values);
  }

  @Override
  public CodedSet decode(byte[] bytes) throws MalformedGolombCodedSetException {
    return new CodedSet(bytes, 0, form, mask, Map.of(), this::value, false);
  }

  /**
   * Returns the cookie's value for these paths; empty if there are none, in which case H2O sets no
   * cookie.
   *
   * @throws IllegalArgumentException if the set needs more than {@link SetCodec#MAX_BYTES} bytes
   */
  public String encodeCookie(List<byte[]> paths) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(encode(paths));
  }

  /**
   * Returns the set in a cookie's value.
   *
   * @throws MalformedGolombCodedSetException if it does not hold a set
   */
  public CodedSet decodeCookie(String cookieValue) throws MalformedGolombCodedSetException {
    byte[] bytes;
    try {
      bytes = Base64.getUrlDecoder().decode(cookieValue);
    } catch (IllegalArgumentException e) {
      throw new MalformedGolombCodedSetException("the cookie's value is not base64url");
    }
    if (!Base64.getUrlEncoder().withoutPadding().encodeToString(bytes).equals(cookieValue)) {
      throw new MalformedGolombCodedSetException(
          "the cookie's value has padding, or bits beyond its last byte");
    }
    return decode(bytes);
  }

  private long value(byte[] path) {
    ByteBuffer hash = ByteBuffer.wrap(Digest.SHA_1.of(path)).order(ByteOrder.LITTLE_ENDIAN);
    return hash.getInt() & mask;
  }
}
