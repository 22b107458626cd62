package io.firstseen.jobs.options;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Error messages for invalid command lines, with a suggestion for a misspelt word. */
public final class Suggestions {

  private Suggestions() {}

  /** Returns the error message for a mistake, with a suggestion for a misspelt word. */
  public static String sentence(ParameterException mistake) {
    CommandLine command = mistake.getCommandLine();
    if (mistake instanceof UnmatchedArgumentException unmatched) {
      String word = unmatched.getUnmatched().get(0);
      if (unmatched.isUnknownOption()) {
        return unknownOption(word, command);
      }
      if (!command.getSubcommands().isEmpty()) {
        return withSuggestion(
            "unknown command '%s'".formatted(word),
            elsewhere(word, command).or(() -> similar(word, command)));
      }
    } else if (mistake instanceof MissingParameterException) {
      // The missing option may have been given but misspelt.
      for (String word : command.getUnmatchedArguments()) {
        if (word.startsWith("-")) {
          return unknownOption(word, command);
        }
      }
    }
    // Only picocli's messages about option groups start with "Error: ".
    return mistake.getMessage().replaceFirst("^Error: ", "");
  }

  private static String unknownOption(String word, CommandLine command) {
    return withSuggestion(
        "Unknown option: '%s'".formatted(word), similar(word.replaceFirst("=.*", ""), command));
  }

  private static String withSuggestion(String sentence, Optional<String> meant) {
    return meant.map(word -> "%s; did you mean %s?".formatted(sentence, word)).orElse(sentence);
  }

  private static Optional<String> similar(String word, CommandLine command) {
    return new UnmatchedArgumentException(command, List.of(word))
        .getSuggestions().stream().findFirst();
  }

  /** A subcommand of another command, such as {@code snapshot query} for {@code query}. */
  private static Optional<String> elsewhere(String word, CommandLine command) {
    return descendants(command.getCommandSpec().root().commandLine())
        .filter(each -> each.getCommandName().equals(word))
        .map(each -> each.getCommandSpec().qualifiedName())
        .findFirst();
  }

  private static Stream<CommandLine> descendants(CommandLine command) {
    return command.getSubcommands().values().stream()
        .flatMap(each -> Stream.concat(Stream.of(each), descendants(each)));
  }
}
