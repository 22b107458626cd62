package io.firstseen.filters.near;

import java.util.HexFormat;
import java.util.Objects;

/**
 * The live text that a text matches.
 *
 * @param text the id of the live text, which is its keyed hash (with its scope) in 16 hexadecimal
 *     digits, or only the last digits that the filter holds: three for a rule of two equal bands,
 *     none for a rule of one equal band. An accepted text has its own id
 * @param bands the number of equal bands; 0 for an accepted text
 */
public record NearMatch(String text, int bands) {
  private static final HexFormat HEX = HexFormat.of();
  private static final int BITS_PER_DIGIT = 4;

  public NearMatch {
    Objects.requireNonNull(text, "text");
  }

  /** Returns the match with a text of which the hash is known. */
  public static NearMatch of(long hash, int bands) {
    return new NearMatch(HEX.toHexDigits(hash), bands);
  }

  /** Returns the match with a text of which the lowest {@code bits} bits of the hash are known. */
  public static NearMatch ofTag(int tag, int bits, int bands) {
    return new NearMatch(bits == 0 ? "" : HEX.toHexDigits(tag, bits / BITS_PER_DIGIT), bands);
  }
}
