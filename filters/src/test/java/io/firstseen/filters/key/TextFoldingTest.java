package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.text.Normalizer;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TextFoldingTest {
  private static String canonical(String text) throws InvalidKeyException {
    return new String(Canonicaliser.TEXT.canonicalise(text.getBytes(UTF_8)), UTF_8);
  }

  /**
   * One line a promise of the class comment; the right side is on the topic and must not change.
   */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "WIN $1,000,000 now!!!              | win .0.0.0 now.",
        "win €999 NOW ?!                    | win .0 now .",
        "Straße STRASSE straẞe              | strasse strasse strasse",
        "ΟΔΟΣ οδος οδοσ                     | οδοσ οδοσ οδοσ",
        "İI ıi                              | ii ii",
        "ﬁnd ＦＵＬＬ ①②③ x²                  | find full 0 x0",
        "call 0800-123 or ٠٨٠٠ or ०८०       | call 0.0 or 0 or 0",
        "'a\u00A0\u2003\u3000\tb\r\n\n c'    | a b c",
        "'  padded\u2028 '                  | padded",
        "f\u200Br\u00ADe\u2060e\uFEFF c\u034Fa\u202Esh | free cash",
        "tab\u0001le\u007F                  | table",
        "\u2764\uFE0F\u2764 \uD83D\uDE00\uD83D\uDC4D\uD83C\uDFFD go | . . go",
        "Cafe\u0301 CAFÉ                    | café café",
        "\u01F0 J\u030C                     | \u01F0 \u01F0",
        "½ price                            | 0.0 price",
      })
  void spellingsMeet(String text, String expected) throws InvalidKeyException {
    assertThat(canonical(text)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(strings = {" ", "\t\r\n", "\u200B\u200B", "\uFEFF", "\u0000", " \u00AD \u3000"})
  void aTextThatFoldsToNothingIsInvalid(String text) {
    assertThatThrownBy(() -> canonical(text))
        .isInstanceOf(InvalidKeyException.class)
        .hasMessageContaining("empty after folding");
  }

  @Test
  void punctuationAloneIsAText() throws InvalidKeyException {
    assertThat(canonical("?!")).isEqualTo(".");
  }

  @Test
  void roundsAreRepeatedWhereOneIsNotStable() throws InvalidKeyException {
    // The control: capital sharp s has no upper case, so one round only makes it small.
    assertThat(TextFolding.once("\u1E9E")).isEqualTo("ß");
    assertThat(TextFolding.once("ß")).isEqualTo("ss");
    assertThat(canonical("\u1E9E")).isEqualTo("ss");
  }

  @Property
  void asciiIsFoldedAsOtherTexts(@ForAll("ascii") String text) throws InvalidKeyException {
    byte[] folded = TextFolding.foldAscii(text.getBytes(UTF_8));
    if (folded == null) {
      assertThatThrownBy(() -> TextFolding.fold(text)).isInstanceOf(InvalidKeyException.class);
    } else {
      assertThat(new String(folded, UTF_8)).isEqualTo(TextFolding.fold(text));
    }
  }

  @Provide
  Arbitrary<String> ascii() {
    return Arbitraries.strings().ascii();
  }

  @Test
  void longRunsOfMarksAreCut() throws InvalidKeyException {
    String folded = canonical("q" + "\u0323\u0334".repeat(5_000) + "b");
    assertThat(folded.codePointCount(0, folded.length())).isLessThanOrEqualTo(32);
    assertThat(folded).startsWith("q").endsWith("b").isNotEqualTo("qb");
    // Half-width sound marks are letters until NFKC makes marks of them.
    String katakana = canonical("\u30AB" + "\uFF9E\uFF9F".repeat(5_000));
    assertThat(katakana.length()).isLessThanOrEqualTo(31);
  }

  /** Far from the guard; and what the shortcut for ASCII relies on. */
  @Test
  void everyCodePointSettlesInThreeRoundsAndAtOnceIfItsFormIsAscii() {
    int step = Integer.getInteger("firstseen.scale", 1) == 1 ? 16 : 1;
    for (int codePoint = 0; codePoint <= Character.MAX_CODE_POINT; codePoint++) {
      int type = Character.getType(codePoint);
      // Of those without a meaning, the quick tier takes some.
      boolean meaningless = type == Character.UNASSIGNED || type == Character.PRIVATE_USE;
      if (type == Character.SURROGATE || (meaningless && codePoint % step != 0)) {
        continue;
      }
      String first = TextFolding.once("a" + Character.toString(codePoint) + "b");
      String second = TextFolding.once(first);
      boolean ascii = first.chars().allMatch(c -> c < 0x80);
      if (!TextFolding.once(second).equals(second) || (ascii && !second.equals(first))) {
        throw new AssertionError("U+%04X becomes %s, then %s".formatted(codePoint, first, second));
      }
    }
  }

  @Property(seed = "6", tries = 5_000)
  void foldingAFoldedTextChangesNothing(@ForAll("wildTexts") String text) {
    String once;
    try {
      once = canonical(text);
    } catch (InvalidKeyException refused) {
      assertThat(refused).hasMessageContaining("empty after folding");
      return;
    }
    assertThat(Normalizer.isNormalized(once, Normalizer.Form.NFKC)).isTrue();
    try {
      assertThat(canonical(once)).isEqualTo(once);
    } catch (InvalidKeyException refused) {
      throw new AssertionError("a folded text is rejected: " + once, refused);
    }
  }

  @Property(seed = "7", tries = 2_000)
  void foldedTextsHoldNoRunsDigitsOrOuterSpace(@ForAll("wildTexts") String text) {
    String once;
    try {
      once = canonical("x" + text);
    } catch (InvalidKeyException refused) {
      throw new AssertionError(refused);
    }
    assertThat(once).doesNotContain("  ", "00", "..").isEqualTo(once.strip());
    assertThat(once.codePoints().filter(Character::isDigit)).allMatch(c -> c == '0');
  }

  /** Mostly characters that some step touches, some from anywhere. */
  @Provide
  Arbitrary<String> wildTexts() {
    Arbitrary<String> touched =
        Arbitraries.of(
            " ",
            "\t",
            "\u00A0",
            "0",
            "7",
            "\u0667",
            ".",
            "!",
            "$",
            "<",
            "a",
            "A",
            "I",
            "i",
            "İ",
            "ı",
            "ß",
            "ẞ",
            "Σ",
            "ς",
            "ŉ",
            "ǰ",
            "ΐ",
            "ᾳ",
            "ﬁ",
            "ﬓ",
            "é",
            "\u0301",
            "\u0323",
            "\u0345",
            "\u0338",
            "\u0307",
            "\u0344",
            "\u034F",
            "\u200B",
            "\u200D",
            "\uFE0F",
            "\u00AD",
            "\u0000",
            "\u007F",
            "½",
            "①",
            "\u00A8",
            "\u037A",
            "\u1FEE",
            "\u1100",
            "\u1161",
            "\u11A8",
            "\u115F",
            "カ",
            "\uFF76",
            "\uFF9E",
            "\u3099",
            "\u0958",
            "\uFB1D",
            "\u05B4",
            "\uFDFA",
            "\u0E33",
            "Ꭰ",
            "ꭰ",
            "ა",
            "Ა",
            "😀",
            "👍🏽",
            "\uD834\uDD60",
            "𝓐",
            "\uE000",
            "\uDB40\uDD00");
    Arbitrary<String> anywhere = Arbitraries.strings().ofLength(1);
    return Arbitraries.frequencyOf(Tuple.of(8, touched), Tuple.of(1, anywhere))
        .list()
        .ofMinSize(1)
        .ofMaxSize(12)
        .map(parts -> new String(String.join("", parts).getBytes(UTF_8), UTF_8));
  }
}
