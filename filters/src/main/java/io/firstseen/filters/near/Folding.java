package io.firstseen.filters.near;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.text.Normalizer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Folds letters that look alike, and joins spaced-out letters, in the {@code text} form of a text.
 * {@code docs/format/near-v1.md} specifies the steps and the table of letters.
 */
final class Folding {
  /** Fewer letters on their own are words or initials. */
  private static final int LEAST_SPACED_LETTERS = 3;

  private static final Map<Integer, String> LETTERS = readLetters();

  private Folding() {}

  private static Map<Integer, String> readLetters() {
    Map<Integer, String> letters = new HashMap<>();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(Folding.class.getResourceAsStream("look-alikes.txt"), UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] words = line.split(" ", -1);
        for (int i = 1; i < words.length; i++) {
          letters.put(Integer.parseInt(words[i], 16), words[0]);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return letters;
  }

  /** Returns the folded form; empty if {@code form} consists of spaces and full stops. */
  static byte[] fold(byte[] form, NearRule.Unit unit) {
    byte[] folded = foldLetters(form);
    int length =
        unit == NearRule.Unit.CHARACTERS ? removeSeparators(folded) : joinSpacedLetters(folded);
    return Arrays.copyOf(folded, length);
  }

  private static byte[] foldLetters(byte[] form) {
    byte[] folded = form.clone();
    for (int at = 0; at < form.length; at++) {
      if (form[at] < 0) {
        return foldLetters(new String(form, UTF_8)).getBytes(UTF_8);
      }
      if (form[at] == '0') {
        folded[at] = 'o';
      }
    }
    return folded;
  }

  private static String foldLetters(String form) {
    StringBuilder folded = new StringBuilder(form.length());
    Normalizer.normalize(form, Normalizer.Form.NFD)
        .codePoints()
        .filter(codePoint -> !isAccent(codePoint))
        .forEach(
            codePoint -> {
              String letters = LETTERS.get(codePoint);
              if (letters == null) {
                folded.appendCodePoint(codePoint);
              } else {
                folded.append(letters);
              }
            });
    return Normalizer.normalize(folded, Normalizer.Form.NFC);
  }

  /** Whether a code point is in one of Unicode's five blocks of general combining marks. */
  private static boolean isAccent(int codePoint) {
    return codePoint >= 0x300
        && (codePoint <= 0x36F
            || (codePoint >= 0x1AB0 && codePoint <= 0x1AFF)
            || (codePoint >= 0x1DC0 && codePoint <= 0x1DFF)
            || (codePoint >= 0x20D0 && codePoint <= 0x20FF)
            || (codePoint >= 0xFE20 && codePoint <= 0xFE2F));
  }

  private static int removeSeparators(byte[] form) {
    int length = 0;
    for (byte each : form) {
      if (!isSeparator(each)) {
        form[length++] = each;
      }
    }
    return length;
  }

  private static int joinSpacedLetters(byte[] form) {
    int length = 0;
    for (int at = 0; at < form.length; ) {
      int end = at;
      int letters = 0;
      for (int next = at; isLetterOnItsOwn(form, next); next = skipSeparators(form, end)) {
        end = endOfCharacter(form, next);
        letters++;
      }
      end = letters == 0 ? endOfWord(form, at) : end;
      for (; at < end; at++) {
        if (letters < LEAST_SPACED_LETTERS || !isSeparator(form[at])) {
          form[length++] = form[at];
        }
      }
      for (; at < form.length && isSeparator(form[at]); at++) {
        form[length++] = form[at];
      }
    }
    return length;
  }

  private static boolean isSeparator(byte each) {
    return each == ' ' || each == '.';
  }

  private static boolean isLetterOnItsOwn(byte[] form, int at) {
    return at < form.length
        && !isSeparator(form[at])
        && endOfCharacter(form, at) == endOfWord(form, at);
  }

  private static int endOfCharacter(byte[] form, int at) {
    int end = at + 1;
    while (end < form.length && (form[end] & 0xC0) == 0x80) {
      end++;
    }
    return end;
  }

  private static int endOfWord(byte[] form, int at) {
    int end = at;
    while (end < form.length && !isSeparator(form[end])) {
      end++;
    }
    return end;
  }

  private static int skipSeparators(byte[] form, int at) {
    int end = at;
    while (end < form.length && isSeparator(form[end])) {
      end++;
    }
    return end;
  }
}
