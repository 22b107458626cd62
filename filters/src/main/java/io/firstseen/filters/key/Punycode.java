package io.firstseen.filters.key;

/**
 * Punycode of one label of a host name (RFC 3492), which the JDK offers only together with the
 * mapping of IDNA 2003.
 */
final class Punycode {
  private static final int BASE = 36;
  private static final int T_MIN = 1;
  private static final int T_MAX = 26;
  private static final int SKEW = 38;
  private static final int DAMP = 700;
  private static final int INITIAL_BIAS = 72;
  private static final int FIRST_NON_ASCII = 0x80;

  private Punycode() {}

  /** Appends the Punycode of {@code label}, without the prefix {@code xn--}. */
  static void encode(String label, StringBuilder out) {
    int[] codePoints = label.codePoints().toArray();
    int handled = 0;
    for (int codePoint : codePoints) {
      if (codePoint < FIRST_NON_ASCII) {
        out.append((char) codePoint);
        handled++;
      }
    }
    int ascii = handled;
    if (ascii > 0) {
      out.append('-');
    }
    int next = FIRST_NON_ASCII;
    long delta = 0;
    int bias = INITIAL_BIAS;
    while (handled < codePoints.length) {
      int smallest = smallestFrom(codePoints, next);
      // A key has at most 65,536 bytes, so that a long holds this.
      delta += (long) (smallest - next) * (handled + 1);
      next = smallest;
      for (int codePoint : codePoints) {
        if (codePoint < next) {
          delta++;
        } else if (codePoint == next) {
          appendNumber(delta, bias, out);
          bias = adapted(delta, handled + 1, handled == ascii);
          delta = 0;
          handled++;
        }
      }
      delta++;
      next++;
    }
  }

  private static int smallestFrom(int[] codePoints, int least) {
    int smallest = Integer.MAX_VALUE;
    for (int codePoint : codePoints) {
      if (codePoint >= least && codePoint < smallest) {
        smallest = codePoint;
      }
    }
    return smallest;
  }

  private static void appendNumber(long number, int bias, StringBuilder out) {
    long left = number;
    for (int k = BASE; ; k += BASE) {
      int threshold = Math.min(Math.max(k - bias, T_MIN), T_MAX);
      if (left < threshold) {
        out.append(digit((int) left));
        return;
      }
      out.append(digit((int) (threshold + (left - threshold) % (BASE - threshold))));
      left = (left - threshold) / (BASE - threshold);
    }
  }

  private static char digit(int value) {
    return (char) (value < 26 ? 'a' + value : '0' + value - 26);
  }

  private static int adapted(long delta, int handled, boolean first) {
    long left = first ? delta / DAMP : delta / 2;
    left += left / handled;
    int k = 0;
    while (left > (BASE - T_MIN) * T_MAX / 2) {
      left /= BASE - T_MIN;
      k += BASE;
    }
    return (int) (k + (BASE - T_MIN + 1) * left / (left + SKEW));
  }
}
