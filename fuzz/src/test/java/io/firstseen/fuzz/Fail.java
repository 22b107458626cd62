package io.firstseen.fuzz;

import java.util.Arrays;
import java.util.HexFormat;

/** Assertions without the cost of a library for each of millions of inputs. */
public final class Fail {
  private Fail() {}

  public static void require(boolean holds, String sentence) {
    if (!holds) {
      throw new AssertionError(sentence);
    }
  }

  public static void requireSame(String what, byte[] found, byte[] expected) {
    if (!Arrays.equals(found, expected)) {
      throw new AssertionError(
          what
              + " must have the same bytes, got "
              + HexFormat.of().formatHex(found)
              + " and "
              + HexFormat.of().formatHex(expected));
    }
  }
}
