package io.firstseen.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** What the poms say. */
public final class Project {
  public static final Path ROOT = Path.of("..");

  private Project() {}

  /** The version of the project. */
  public static String version() throws IOException {
    return all("(?m)^  <version>([^<]+)</version>$", Files.readString(ROOT.resolve("pom.xml")))
        .get(0);
  }

  /** The directories of all modules, including modules of profiles, relative to the root. */
  static List<String> modules() throws IOException {
    return all("<module>([^<]+)</module>", Files.readString(ROOT.resolve("pom.xml")));
  }

  /** The first group of each match. */
  static List<String> all(String pattern, String text) {
    List<String> found = new ArrayList<>();
    for (MatchResult match : Pattern.compile(pattern).matcher(text).results().toList()) {
      found.add(match.group(1));
    }
    return found;
  }
}
