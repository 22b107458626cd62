package io.firstseen.filters.key;

import java.text.Normalizer;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The rule {@code text}, version 1: spellings of one text that differ only in case, width,
 * composition, invisible characters, numbers, punctuation or spacing have one form. {@code
 * docs/format/text-v1.md} specifies the rule, lists which texts become equal and which do not, and
 * states what holds across Unicode versions; tests compare the document with this class.
 *
 * <p>The steps, repeated until nothing changes: remove invisible characters, NFKC, fold case,
 * shorten runs of white space, digits and punctuation, NFKC again. Folding is therefore idempotent.
 * Text that is empty afterwards is rejected. As a safeguard, text that still changes after {@value
 * #MAX_ROUNDS} rounds is also rejected; no such text is known.
 *
 * <p>Runs of combining marks are cut after {@value #MAX_MARKS}, the limit of UAX #15 section 13
 * (Stream-Safe Text Format), which separates longer ones instead. They do not occur in a language,
 * and ordering them takes quadratic time.
 */
final class TextFolding {
  static final int MAX_ROUNDS = 8;
  static final int MAX_MARKS = 30;

  /** U+0085 is white space in Unicode but a control character in Java. */
  private static final int NEXT_LINE = 0x85;

  /**
   * Default_Ignorable_Code_Point of Unicode 16 (DerivedCoreProperties.txt) as pairs of first and
   * last code point, ascending. Copied here because Java has no such property, and because it must
   * never change while keys are stored.
   */
  private static final int[] IGNORABLE = {
    0x00AD, 0x00AD, 0x034F, 0x034F, 0x061C, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180F,
    0x200B, 0x200F, 0x202A, 0x202E, 0x2060, 0x206F, 0x3164, 0x3164, 0xFE00, 0xFE0F, 0xFEFF, 0xFEFF,
    0xFFA0, 0xFFA0, 0xFFF0, 0xFFF8, 0x1BCA0, 0x1BCA3, 0x1D173, 0x1D17A, 0xE0000, 0xE0FFF,
  };

  /** The folded form of each ASCII character on its own; 0 if the character is removed. */
  private static final byte[] ASCII = asciiForms();

  private TextFolding() {}

  /**
   * Returns the folded form of {@code text}.
   *
   * @throws InvalidKeyException if the folded form is empty, or the text still changes after
   *     {@value #MAX_ROUNDS} rounds
   */
  static String fold(String text) throws InvalidKeyException {
    String current = text;
    for (int round = 0; round < MAX_ROUNDS; round++) {
      String next = once(current);
      if (next.isEmpty()) {
        throw new InvalidKeyException("text is empty after folding");
      }
      // One round is enough for ASCII.
      if (isAscii(next) || next.equals(current)) {
        return next;
      }
      current = next;
    }
    throw new InvalidKeyException("text still changes after " + MAX_ROUNDS + " rounds of folding");
  }

  /**
   * Returns the folded form of a text in ASCII, in one pass, as {@link #fold} returns it; null if
   * the text has other characters, or is empty after folding.
   */
  static byte @Nullable [] foldAscii(byte[] text) {
    byte[] folded = new byte[text.length];
    int length = 0;
    int previous = ' ';
    for (byte each : text) {
      if (each < 0) {
        return null;
      }
      byte next = ASCII[each];
      boolean runs = next == ' ' || next == '0' || next == '.';
      if (next == 0 || (runs && next == previous)) {
        continue;
      }
      folded[length++] = next;
      previous = next;
    }
    length -= length > 0 && previous == ' ' ? 1 : 0;
    return length == 0 ? null : Arrays.copyOf(folded, length);
  }

  private static byte[] asciiForms() {
    byte[] forms = new byte[0x80];
    for (int c = 0; c < forms.length; c++) {
      forms[c] = (byte) (isInvisible(c) ? 0 : foldOne(c));
    }
    return forms;
  }

  static String once(String text) {
    String upper = nfkc(dropInvisible(text)).toUpperCase(Locale.ROOT);
    return nfkc(shrinkRuns(upper));
  }

  private static String nfkc(CharSequence text) {
    return Normalizer.normalize(text, Normalizer.Form.NFKC);
  }

  private static CharSequence dropInvisible(String text) {
    StringBuilder out = new StringBuilder(text.length());
    int marks = 0;
    for (int at = 0; at < text.length(); ) {
      int codePoint = text.codePointAt(at);
      at += Character.charCount(codePoint);
      if (isInvisible(codePoint)) {
        continue;
      }
      marks = isMark(codePoint) ? marks + 1 : 0;
      if (marks <= MAX_MARKS) {
        out.appendCodePoint(codePoint);
      }
    }
    return out;
  }

  private static CharSequence shrinkRuns(String upper) {
    StringBuilder out = new StringBuilder(upper.length());
    int previous = ' ';
    for (int at = 0; at < upper.length(); ) {
      int codePoint = upper.codePointAt(at);
      at += Character.charCount(codePoint);
      int folded = foldOne(codePoint);
      boolean runs = folded == ' ' || folded == '0' || folded == '.';
      if (!runs || folded != previous) {
        out.appendCodePoint(folded);
      }
      previous = folded;
    }
    if (out.length() > 0 && out.charAt(out.length() - 1) == ' ') {
      out.setLength(out.length() - 1);
    }
    return out;
  }

  private static int foldOne(int codePoint) {
    if (isSpace(codePoint)) {
      return ' ';
    }
    return switch (Character.getType(codePoint)) {
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

  static boolean isAscii(String text) {
    for (int at = 0; at < text.length(); at++) {
      if (text.charAt(at) >= 0x80) {
        return false;
      }
    }
    return true;
  }

  static boolean isSpace(int codePoint) {
    return Character.isWhitespace(codePoint)
        || Character.isSpaceChar(codePoint)
        || codePoint == NEXT_LINE;
  }

  private static boolean isMark(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.NON_SPACING_MARK, Character.COMBINING_SPACING_MARK, Character.ENCLOSING_MARK ->
          true;
      // The half-width katakana sound marks are letters, but NFKC turns them into combining marks.
      default -> codePoint == 0xFF9E || codePoint == 0xFF9F;
    };
  }

  static boolean isInvisible(int codePoint) {
    if (codePoint < IGNORABLE[0]) {
      return Character.getType(codePoint) == Character.CONTROL && !isSpace(codePoint);
    }
    for (int at = 0; at < IGNORABLE.length && codePoint >= IGNORABLE[at]; at += 2) {
      if (codePoint <= IGNORABLE[at + 1]) {
        return true;
      }
    }
    return false;
  }
}
