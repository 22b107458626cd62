package io.firstseen.jobs.options;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Error messages for invalid command lines, with suggestions for misspelt words. */
public final class Suggestions {
  private static final int MAX_SUGGESTIONS = 3;

  private Suggestions() {}

  /** Returns the error message for a mistake, with suggestions for a misspelt command or option. */
  public static String sentence(ParameterException mistake) {
    CommandLine command = mistake.getCommandLine();
    CommandSpec spec = command.getCommandSpec();
    // Only picocli's messages about option groups start with "Error: ".
    String sentence = mistake.getMessage().replaceFirst("^Error: ", "");
    if (mistake instanceof UnmatchedArgumentException unmatched) {
      String word = unmatched.getUnmatched().get(0);
      if (unmatched.isUnknownOption()) {
        return withSuggestions(unknownOption(word), nearOptions(word, spec));
      }
      if (!command.getSubcommands().isEmpty()) {
        return withSuggestions("unknown command '%s'".formatted(word), nearCommands(word, command));
      }
    } else if (mistake instanceof MissingParameterException) {
      // The missing option may have been given but misspelt.
      for (String word : command.getUnmatchedArguments()) {
        List<String> near = word.startsWith("-") ? nearOptions(word, spec) : List.of();
        if (!near.isEmpty()) {
          return withSuggestions(unknownOption(word), near);
        }
      }
    }
    return sentence;
  }

  private static String unknownOption(String word) {
    return "Unknown option: '%s'".formatted(word);
  }

  private static String withSuggestions(String sentence, List<String> meant) {
    return meant.isEmpty()
        ? sentence
        : sentence + "; did you mean " + String.join(" or ", meant) + "?";
  }

  private static List<String> nearOptions(String word, CommandSpec spec) {
    return nearest(
        word.replaceFirst("=.*", ""),
        spec.options().stream()
            .filter(option -> !option.hidden())
            .map(OptionSpec::longestName)
            .toList());
  }

  private static List<String> nearCommands(String word, CommandLine command) {
    List<String> near = nearest(word, command.getSubcommands().keySet());
    if (!near.isEmpty()) {
      return near;
    }
    // The word may be a subcommand of another command: query instead of snapshot query.
    return descendants(command.getCommandSpec().root().commandLine())
        .filter(each -> each.getCommandName().equals(word))
        .map(each -> each.getCommandSpec().qualifiedName())
        .limit(MAX_SUGGESTIONS)
        .toList();
  }

  private static Stream<CommandLine> descendants(CommandLine command) {
    return command.getSubcommands().values().stream()
        .flatMap(each -> Stream.concat(Stream.of(each), descendants(each)));
  }

  /**
   * Returns at most three names similar to a word: the names at the smallest edit distance, which
   * is at most a third of the word's length; if there are none, the names that start with the word.
   * Leading hyphens are ignored.
   */
  static List<String> nearest(String word, Collection<String> names) {
    String typed = bare(word);
    Map<Integer, List<String>> byDistance = new TreeMap<>();
    for (String name : names) {
      int distance = distance(typed, bare(name));
      if (distance <= Math.max(1, typed.length() / 3) && distance < bare(name).length()) {
        byDistance.computeIfAbsent(distance, unused -> new ArrayList<>()).add(name);
      }
    }
    Stream<String> near =
        byDistance.isEmpty()
            ? names.stream().filter(name -> !typed.isEmpty() && bare(name).startsWith(typed))
            : byDistance.values().iterator().next().stream();
    return near.limit(MAX_SUGGESTIONS).toList();
  }

  private static String bare(String name) {
    return name.replaceFirst("^-+", "");
  }

  /** Edit distance, with adjacent transpositions. */
  private static int distance(String a, String b) {
    int[][] distances = new int[a.length() + 1][b.length() + 1];
    Arrays.setAll(distances[0], j -> j);
    for (int i = 1; i <= a.length(); i++) {
      distances[i][0] = i;
      for (int j = 1; j <= b.length(); j++) {
        boolean same = a.charAt(i - 1) == b.charAt(j - 1);
        int least = distances[i - 1][j - 1] + (same ? 0 : 1);
        least = Math.min(least, Math.min(distances[i - 1][j], distances[i][j - 1]) + 1);
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          least = Math.min(least, distances[i - 2][j - 2] + 1);
        }
        distances[i][j] = least;
      }
    }
    return distances[a.length()][b.length()];
  }
}
