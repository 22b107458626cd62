package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Holds {@code docs/format/text-v1.md} and the code together. */
class TextRuleTest {
  private static final Path PAGE = Path.of("../docs/format/text-v1.md");
  private static final Pattern HIDDEN = Pattern.compile("\\{([0-9A-F]{4,5})}");

  /** Of the folds of all characters that Unicode 13 assigns; the same on every JDK from 17 on. */
  private static final String FOLDS_OF_UNICODE_13 =
      "0ce86bb07c90096a8d1611c875aa3387f5a33e42907ebb9a82cc5c483d75549f";

  private static String canonical(String text) throws InvalidKeyException {
    return new String(Canonicaliser.TEXT.canonicalise(text.getBytes(UTF_8)), UTF_8);
  }

  /** The cells of a table's rows, without the marks of code around them. */
  private static Stream<String[]> table(String heading) throws IOException {
    String page = Files.readString(PAGE);
    String section = page.substring(page.indexOf("## " + heading) + 3);
    List<String[]> rows =
        section
            .substring(0, section.indexOf("\n## "))
            .lines()
            .filter(line -> line.startsWith("| `"))
            .map(line -> line.substring(2, line.length() - 2).split(" \\| "))
            .map(TextRuleTest::shown)
            .toList();
    assertThat(rows).hasSizeGreaterThan(10);
    return rows.stream();
  }

  private static String[] shown(String[] cells) {
    for (int i = 0; i < cells.length; i++) {
      String bare = cells[i].replaceAll("^`|`$", "");
      cells[i] =
          HIDDEN
              .matcher(bare)
              .replaceAll(hit -> Character.toString(HexFormat.fromHexDigits(hit.group(1))));
    }
    return cells;
  }

  static Stream<String[]> meeting() throws IOException {
    return table("Texts with the same form");
  }

  static Stream<String[]> apart() throws IOException {
    return table("Texts with different forms");
  }

  @ParameterizedTest
  @MethodSource("meeting")
  void whatThePageSaysMeetsDoes(String one, String other, String form) throws InvalidKeyException {
    assertThat(one).isNotEqualTo(other);
    assertThat(canonical(one)).isEqualTo(form);
    assertThat(canonical(other)).isEqualTo(form);
  }

  @ParameterizedTest
  @MethodSource("apart")
  void whatThePageSaysStaysApartDoes(String one, String other, String reason)
      throws InvalidKeyException {
    assertThat(canonical(one)).as(reason).isNotEqualTo(canonical(other));
  }

  @Test
  void thePageListsWhatIsInvisible() throws IOException {
    BitSet listed = codePoints(between("```\n", "```"), "()([0-9A-F]{4,5})(?:-([0-9A-F]{4,5}))?");
    for (int codePoint = 0xA0; codePoint <= Character.MAX_CODE_POINT; codePoint++) {
      assertThat(TextFolding.isInvisible(codePoint))
          .as("U+%04X", codePoint)
          .isEqualTo(listed.get(codePoint));
    }
  }

  @Test
  void thePageListsWhatIsWhiteSpace() throws IOException {
    BitSet listed =
        codePoints(between("White space is", "."), "(U\\+)([0-9A-F]{4})(?: to U\\+([0-9A-F]{4}))?");
    assertThat(IntStream.rangeClosed(0, Character.MAX_CODE_POINT).filter(TextFolding::isSpace))
        .containsExactlyElementsOf(listed.stream().boxed().toList());
  }

  private static String between(String start, String end) throws IOException {
    String page = Files.readString(PAGE);
    int from = page.indexOf(start) + start.length();
    return page.substring(from, page.indexOf(end, from));
  }

  private static BitSet codePoints(String text, String range) {
    BitSet found = new BitSet();
    Matcher matcher = Pattern.compile(range).matcher(text);
    while (matcher.find()) {
      int first = HexFormat.fromHexDigits(matcher.group(2));
      int last = matcher.group(3) == null ? first : HexFormat.fromHexDigits(matcher.group(3));
      found.set(first, last + 1);
    }
    return found;
  }

  /**
   * Fails on a JDK whose Unicode version folds a character differently from JDK 17: version 1 must
   * not be used there.
   */
  @Test
  void charactersOfUnicode13FoldAsOnJdk17() throws Exception {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    int assigned = 0;
    for (int[] range : assignedInUnicode13()) {
      for (int codePoint = range[0]; codePoint <= range[1]; codePoint++) {
        assertThat(Character.isDefined(codePoint)).isTrue();
        digest.update(TextFolding.fold("a" + Character.toString(codePoint) + "b").getBytes(UTF_8));
        digest.update((byte) '\n');
        assigned++;
      }
    }
    assertThat(assigned).isEqualTo(281_392);
    assertThat(HexFormat.of().formatHex(digest.digest())).isEqualTo(FOLDS_OF_UNICODE_13);
  }

  static List<int[]> assignedInUnicode13() throws IOException {
    try (InputStream stream = TextRuleTest.class.getResourceAsStream("unicode-13-assigned.txt");
        BufferedReader lines = new BufferedReader(new InputStreamReader(stream, UTF_8))) {
      return lines
          .lines()
          .filter(line -> !line.startsWith("#"))
          .map(line -> Arrays.stream(line.split("-")).mapToInt(HexFormat::fromHexDigits).toArray())
          .toList();
    }
  }
}
