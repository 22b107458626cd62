package io.firstseen.cli.shared;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** The options of a command line, for another command line. */
public final class GivenOptions {

  private GivenOptions() {}

  /** The given options with these names, as one word each. */
  public static List<String> words(ParseResult given, Set<String> names) {
    List<String> words = new ArrayList<>();
    // A repeated option is matched several times, with all of its values each time.
    for (OptionSpec option : new LinkedHashSet<>(given.matchedOptions())) {
      String name = option.longestName();
      if (!names.contains(name)) {
        continue;
      }
      for (String value : option.originalStringValues()) {
        boolean isAlone =
            option.arity().max() == 0 || (option.arity().min() == 0 && value.isEmpty());
        words.add(isAlone ? name : name + "=" + value);
      }
    }
    return words;
  }
}
