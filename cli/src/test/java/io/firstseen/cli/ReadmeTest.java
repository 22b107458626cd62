package io.firstseen.cli;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** All pages show Java code that the build compiles, and their links lead somewhere. */
class ReadmeTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern EXAMPLE =
      Pattern.compile("// example: begin\n(.*?)\\s*// example: end", Pattern.DOTALL);
  private static final Pattern JAVA_BLOCK = Pattern.compile("(?ms)^```java\n(.*?)\n```");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:\\s]*)(?:#([^)\\s]+))?\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#+ +(.+?) *$");
  private static final Pattern CODE_BLOCK = Pattern.compile("(?ms)^ *```.*?^ *```");

  @Test
  void javaCodeIsCompiled() throws IOException {
    List<String> compiled = new ArrayList<>();
    for (String source :
        List.of(
            "operators/src/test/java/com/example/NewUrls.java",
            "snapshot-consumer/src/test/java/com/example/FollowDirectory.java",
            "snapshot-consumer/src/test/java/com/example/LookUp.java",
            "snapshot-consumer/src/test/java/io/firstseen/consumer/DocumentedExamples.java")) {
      compiled.addAll(parts(EXAMPLE, ROOT.resolve(source)));
    }
    List<String> shown = new ArrayList<>();
    for (Path page : pages()) {
      shown.addAll(parts(JAVA_BLOCK, page));
    }
    assertThat(shown).containsAll(compiled);
    // A page may show a part of an example, or of a tutorial, which .ci/tutorial follows.
    compiled.addAll(parts(JAVA_BLOCK, ROOT.resolve("docs/tutorials/flink-job.md")));
    assertThat(shown.stream().map(ReadmeTest::unindented))
        .allMatch(part -> compiled.stream().anyMatch(each -> unindented(each).contains(part)));
  }

  private static String unindented(String code) {
    return code.lines().map(String::strip).collect(joining("\n", "\n", "\n"));
  }

  private static List<String> parts(Pattern pattern, Path file) throws IOException {
    return pattern
        .matcher(Files.readString(file))
        .results()
        .map(part -> part.group(1).stripIndent())
        .toList();
  }

  static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>();
    Files.walkFileTree(
        ROOT,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes ignored) {
            String name = directory.getFileName().toString();
            boolean isOurs = directory.equals(ROOT) || !name.startsWith(".");
            return isOurs && !name.equals("target")
                ? FileVisitResult.CONTINUE
                : FileVisitResult.SKIP_SUBTREE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes ignored) {
            if (file.toString().endsWith(".md")) {
              pages.add(file);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return pages;
  }

  @ParameterizedTest
  @MethodSource("pages")
  void linksLeadSomewhere(Path page) throws IOException {
    assertThat(brokenLinks(page)).isEmpty();
  }

  @Test
  void pagesOfAllFoldersAreChecked() throws IOException {
    assertThat(pages())
        .contains(
            ROOT.resolve("README.md"),
            ROOT.resolve("docs/operations/jobs.md"),
            ROOT.resolve("benchmarks/README.md"));
  }

  @Test
  void aLinkThatLeadsNowhereShows(@TempDir Path directory) throws IOException {
    Files.writeString(
        directory.resolve("other.md"),
        """
        # A `--set`, and [more](x): *one*_two
        ## Twice
        ## Twice
        ```sh
        # no heading
        ```
        """);
    Path page =
        Files.writeString(
            directory.resolve("page.md"),
            """
            # Title
            [here](#title) [file](other.md) [set](other.md#a---set-and-more-one_two)
            [first](other.md#twice) [second](other.md#twice-1) [away](https://example.org/#nothing)
            [`code`](nothing.md) [b](#nothing) [c](other.md#twice-2) [d](other.md#no-heading)
            """);
    assertThat(brokenLinks(page))
        .containsExactly("nothing.md", "#nothing", "other.md#twice-2", "other.md#no-heading");
  }

  private static List<String> brokenLinks(Path page) throws IOException {
    List<String> broken = new ArrayList<>();
    Matcher links = links(page);
    while (links.find()) {
      Path target = target(page, links);
      if (!Files.exists(target)
          || (links.group(2) != null && !anchors(target).contains(links.group(2)))) {
        broken.add(links.group().substring(2, links.group().length() - 1));
      }
    }
    return broken;
  }

  /** The files to which a page links. */
  static List<Path> linkedFiles(Path page) throws IOException {
    List<Path> files = new ArrayList<>();
    Matcher links = links(page);
    while (links.find()) {
      files.add(target(page, links));
    }
    return files;
  }

  private static Matcher links(Path page) throws IOException {
    return LINK.matcher(withoutCodeBlocks(page).replaceAll("`[^`\n]*`", ""));
  }

  private static Path target(Path page, Matcher link) {
    Path absolute = page.toAbsolutePath().normalize();
    return link.group(1).isEmpty() ? absolute : absolute.resolveSibling(link.group(1)).normalize();
  }

  /** Anchors of a page's headings, computed like GitHub's. */
  private static Set<String> anchors(Path page) throws IOException {
    Set<String> anchors = new HashSet<>();
    Matcher headings = HEADING.matcher(withoutCodeBlocks(page));
    while (headings.find()) {
      String anchor =
          headings
              .group(1)
              .replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1")
              .toLowerCase(Locale.ROOT)
              .replaceAll("[^\\p{L}\\p{M}\\p{N} _-]", "")
              .replace(' ', '-');
      for (int i = 0; !anchors.add(i == 0 ? anchor : anchor + "-" + i); i++) {}
    }
    return anchors;
  }

  private static String withoutCodeBlocks(Path page) throws IOException {
    return CODE_BLOCK.matcher(Files.readString(page)).replaceAll("");
  }
}
