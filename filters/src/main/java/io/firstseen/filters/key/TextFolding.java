package io.firstseen.filters.key;

import java.text.Normalizer;
import java.util.Locale;

/** The rule {@code text}. */
final class TextFolding {
  private static final int MAX_ROUNDS = 8;

  private TextFolding() {}

  static String fold(String text) throws InvalidKeyException {
    String current = text;
    for (int round = 0; round < MAX_ROUNDS; round++) {
      String next = once(current);
      if (next.isEmpty()) {
        throw new InvalidKeyException("text is empty after folding");
      }
      if (next.equals(current)) {
        return next;
      }
      current = next;
    }
    throw new InvalidKeyException("text has no stable form after " + MAX_ROUNDS + " rounds");
  }

  private static String once(String text) {
    String upper = Normalizer.normalize(text, Normalizer.Form.NFKC).toUpperCase(Locale.ROOT);
    StringBuilder out = new StringBuilder(upper.length());
    int previous = ' ';
    for (int at = 0; at < upper.length(); ) {
      int codePoint = upper.codePointAt(at);
      at += Character.charCount(codePoint);
      int folded = foldOne(codePoint);
      if (folded < 0) {
        continue;
      }
      boolean run = folded == ' ' || folded == '0' || folded == '.';
      if (!run || folded != previous) {
        out.appendCodePoint(folded);
      }
      previous = folded;
    }
    if (out.length() > 0 && out.charAt(out.length() - 1) == ' ') {
      out.setLength(out.length() - 1);
    }
    return Normalizer.normalize(out, Normalizer.Form.NFKC);
  }

  private static int foldOne(int codePoint) {
    if (Character.isWhitespace(codePoint) || Character.isSpaceChar(codePoint)) {
      return ' ';
    }
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL, Character.FORMAT -> -1;
      case Character.DECIMAL_DIGIT_NUMBER -> '0';
      case Character.CONNECTOR_PUNCTUATION,
          Character.DASH_PUNCTUATION,
          Character.START_PUNCTUATION,
          Character.END_PUNCTUATION,
          Character.INITIAL_QUOTE_PUNCTUATION,
          Character.FINAL_QUOTE_PUNCTUATION,
          Character.OTHER_PUNCTUATION,
          Character.MATH_SYMBOL,
          Character.CURRENCY_SYMBOL,
          Character.MODIFIER_SYMBOL,
          Character.OTHER_SYMBOL ->
          '.';
      default -> Character.toLowerCase(codePoint);
    };
  }
}
