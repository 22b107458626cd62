package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import crawlercommons.domains.EffectiveTldFinder;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The readers in other languages have the public suffix list that crawler-commons has. */
class PublicSuffixCopiesTest {
  private static final String NAME = "public_suffix_list_icann.dat";
  private static final String END = "// ===END ICANN DOMAINS===\n";

  @Test
  void copiesAreTheIcannSectionOfTheBundledList() throws IOException {
    String list;
    try (InputStream in =
        EffectiveTldFinder.class.getResourceAsStream(EffectiveTldFinder.ETLD_DATA)) {
      list = new String(in.readAllBytes(), UTF_8);
    }
    String section =
        list.substring(
            list.indexOf("// ===BEGIN ICANN DOMAINS==="), list.indexOf(END) + END.length());
    assertThat(section).hasSizeGreaterThan(100_000);
    List<Path> copies;
    try (Stream<Path> files = Files.walk(Path.of("../clients"))) {
      copies = files.filter(file -> file.endsWith(NAME)).toList();
    }
    assertThat(copies).isNotEmpty();
    for (Path copy : copies) {
      assertThat(Files.readString(copy)).as("%s", copy).isEqualTo(section);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"javascript/lib/suffixes.js", "python/firstseen/canonical/suffixes.py"})
  void readersNameTheVersionOfTheList(String file) {
    assertThat(Path.of("../clients").resolve(file))
        .content()
        .contains("\"" + PublicSuffixes.bundled().version() + "\"");
  }
}
