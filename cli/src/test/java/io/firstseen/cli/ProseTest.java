package io.firstseen.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Counts the phrases of {@code config/prose/patterns.txt} in pages, comments, and messages. The
 * count of each file has a ceiling, which may only fall: {@code -Dfirstseen.update=true} lowers it.
 */
class ProseTest {
  private static final Path ROOT = Path.of("..");
  private static final Path CEILINGS = ROOT.resolve("config/prose/ceilings.txt");
  private static final Set<String> SKIPPED =
      Set.of("target", ".git", "node_modules", "vectors", "resources", "__pycache__");
  private static final Pattern CODE =
      Pattern.compile("`[^`]*`|\\{@(?:code|link|value|linkplain)\\s[^}]*\\}|(?<=\\])\\([^)]*\\)");
  private static final Pattern STRING =
      Pattern.compile("\"((?:[^\"\\\\]|\\\\.)* (?:[^\"\\\\]|\\\\.)*)\"");

  private record Advice(Pattern pattern, String text) {
    boolean mayStartWith(char first) {
      Matcher matcher = pattern.matcher(String.valueOf(first));
      return matcher.lookingAt() || matcher.hitEnd();
    }
  }

  @Test
  void noFileHasMoreUnexpectedPhrasesThanItsCeiling() throws IOException {
    List<Advice> all =
        Files.readAllLines(ROOT.resolve("config/prose/patterns.txt")).stream()
            .filter(line -> !line.startsWith("#"))
            .map(line -> line.split("\t", 2))
            .map(line -> new Advice(Pattern.compile(line[0]), line[1]))
            .toList();
    Map<Character, List<Advice>> byStart = new HashMap<>();
    Map<String, List<String>> found = new TreeMap<>();
    Files.walkFileTree(
        ROOT,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attributes) {
            return SKIPPED.contains(path.getFileName().toString())
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path path, BasicFileAttributes attributes)
              throws IOException {
            List<String> hits = hits(path, all, byStart);
            if (!hits.isEmpty()) {
              found.put(ROOT.relativize(path).toString(), hits);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    Map<String, Integer> ceilings =
        Files.readAllLines(CEILINGS).stream()
            .map(line -> line.split("\t", 2))
            .collect(Collectors.toMap(line -> line[0], line -> Integer.valueOf(line[1])));
    if (Boolean.getBoolean("firstseen.update")) {
      ceilings.keySet().retainAll(found.keySet());
      ceilings.replaceAll((file, ceiling) -> Math.min(ceiling, found.get(file).size()));
      Files.write(
          CEILINGS,
          new TreeMap<>(ceilings)
              .entrySet().stream().map(each -> each.getKey() + "\t" + each.getValue()).toList());
    }
    found.forEach(
        (file, hits) ->
            assertThat(hits).as(file).hasSizeLessThanOrEqualTo(ceilings.getOrDefault(file, 0)));
  }

  private static List<String> hits(
      Path path, List<Advice> all, Map<Character, List<Advice>> byStart) throws IOException {
    List<String> hits = new ArrayList<>();
    Consumer<String> text =
        line -> {
          String prose = CODE.matcher(line).replaceAll(" X ");
          for (int i = 0; i < prose.length(); i++) {
            char first = prose.charAt(i);
            if (i > 0 && Character.isLetter(first) && Character.isLetter(prose.charAt(i - 1))) {
              continue;
            }
            // Most patterns cannot match here, and trying all takes most of the test's time.
            for (Advice advice :
                byStart.computeIfAbsent(
                    first, c -> all.stream().filter(each -> each.mayStartWith(c)).toList())) {
              Matcher matcher = advice.pattern().matcher(prose).useTransparentBounds(true);
              if (matcher.useAnchoringBounds(false).region(i, prose.length()).lookingAt()) {
                hits.add(
                    "'%s' in \"%s\": %s".formatted(matcher.group(), line.strip(), advice.text()));
              }
            }
          }
        };
    String name = path.toString();
    if (name.endsWith(".md")) {
      boolean isCode = false;
      for (String line : Files.readAllLines(path)) {
        if (line.strip().startsWith("```")) {
          isCode = !isCode;
        } else if (!isCode) {
          text.accept(line);
        }
      }
    } else if (name.endsWith(".java") || name.endsWith(".js") || name.endsWith(".py")) {
      ofCode(Files.readString(path, UTF_8).lines().toList(), name.endsWith(".py"), text);
    }
    return hits;
  }

  private static void ofCode(List<String> lines, boolean isPython, Consumer<String> text) {
    boolean isComment = false;
    for (String line : lines) {
      String stripped = line.strip();
      int marks = stripped.split("\"\"\"", -1).length - 1;
      if (isPython && marks > 0) {
        isComment ^= marks == 1;
        text.accept(stripped);
      } else if (!isPython && (isComment || stripped.startsWith("/*"))) {
        isComment = !stripped.contains("*/");
        text.accept(stripped);
      } else if (isComment) {
        text.accept(stripped);
      } else {
        int comment = line.indexOf(isPython ? "# " : "// ");
        if (comment >= 0) {
          text.accept(line.substring(comment));
        }
        STRING.matcher(line).results().forEach(each -> text.accept(each.group(1)));
      }
    }
  }
}
