package io.firstseen.filters.near;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.near.NearRule.Unit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FoldingTest {
  private static final Pattern ESCAPE = Pattern.compile("\\{([0-9A-F]{4})\\}");

  private static byte[] form(String text) throws InvalidKeyException {
    return Canonicaliser.TEXT.canonicalise(text.getBytes(UTF_8));
  }

  private static String folded(String text, Unit unit) throws InvalidKeyException {
    return new String(Folding.fold(form(text), unit), UTF_8);
  }

  private static long equalBands(String rule, String first, String second)
      throws InvalidKeyException {
    TextSignature signature = new TextSignature(NearRule.of(rule), KeyHash.fixed());
    long[] bands = signature.bands(form(first), 0);
    long[] others = signature.bands(form(second), 0);
    return IntStream.range(0, bands.length).filter(i -> bands[i] == others[i]).count();
  }

  @Test
  void thePageHasTheTableAndTheFormsOfItsExamples() throws Exception {
    String page = Files.readString(Path.of("../docs/format/near-v1.md"));
    assertThat(page).contains("```text\n" + table() + "```");
    List<MatchResult> rows =
        Pattern.compile("(?m)^\\| `(.+)` \\| `(.+)` \\| `(.+)` \\|$")
            .matcher(page)
            .results()
            .toList();
    assertThat(rows).hasSize(8);
    for (MatchResult row : rows) {
      String text =
          ESCAPE
              .matcher(row.group(1))
              .replaceAll(each -> Character.toString(Integer.parseInt(each.group(1), 16)));
      assertThat(folded(text, Unit.CHARACTERS)).isEqualTo(row.group(2));
      assertThat(folded(text, Unit.WORDS)).isEqualTo(row.group(3));
    }
  }

  /** Otherwise the fold would depend on the JDK, or never see the letter. */
  @Test
  void aLetterOfTheTableIsItsOwnFormOfTheTextRule() throws Exception {
    int letters = 0;
    for (String line : table().split("\n")) {
      String[] words = line.split(" ");
      for (int i = 1; i < words.length; i++) {
        String letter = Character.toString(Integer.parseInt(words[i], 16));
        assertThat(new String(form(letter), UTF_8)).isEqualTo(letter);
        assertThat(folded(letter, Unit.WORDS)).isEqualTo(words[0]);
        letters++;
      }
    }
    assertThat(letters).isEqualTo(440);
  }

  private static String table() throws IOException {
    return new String(Folding.class.getResourceAsStream("look-alikes.txt").readAllBytes(), UTF_8);
  }

  @ParameterizedTest
  @CsvSource({
    "'. ... .', '', '. ... .'",
    "a b, ab, a b",
    "a b c, abc, abc",
    "a . b.c, abc, abc",
    "ab c d e fg, abcdefg, ab cde fg",
    ". a b c ., abc, . abc .",
    "д ж и, джи, джи",
    "0 0 0, ooo, ooo",
  })
  void lettersOnTheirOwnAreJoinedFromThree(String form, String characters, String words) {
    assertThat(new String(Folding.fold(form.getBytes(UTF_8), Unit.CHARACTERS), UTF_8))
        .isEqualTo(characters);
    assertThat(new String(Folding.fold(form.getBytes(UTF_8), Unit.WORDS), UTF_8)).isEqualTo(words);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Dеаr Аnnа, сlаim уоur frее рrizе wоrth £500 tоdау",
        "D e a r Anna, c l a i m your F R E E p r i z e worth £500 today",
        "Dear Anna, c.l.a.i.m y.o.u.r f.r.e.e p-r-i-z-e worth £500 today",
        "Ðear 4nna, cłaim ÿour ƒree ρrize w0rth £500 t0day"
      })
  void disguisedTextsMatchOnlyIfTheRuleFolds(String disguised) throws Exception {
    String text = "Dear Anna, claim your free prize worth £500 today";
    assertThat(equalBands("short", text, disguised)).isLessThan(2);
    assertThat(equalBands("short+fold", text, disguised)).isGreaterThanOrEqualTo(2);
  }
}
