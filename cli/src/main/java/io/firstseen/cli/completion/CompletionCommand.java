package io.firstseen.cli.completion;

import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Subcommands;
import io.firstseen.cli.shared.Verb;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Prints a script that completes commands and options in a shell. */
@Command(
    name = "completion",
    footer = {
      "  eval \"$(firstseen completion)\"",
      "  firstseen completion > ~/.firstseen-completion"
    },
    description = {
      "Prints a script that completes commands, options and their values in bash and zsh."
    })
public final class CompletionCommand extends Verb {

  @Override
  public Integer call() {
    CommandLine root = new CommandLine(commandLine().getCommandSpec().root().userObject());
    Subcommands.addAll(root, name -> true);
    nameValuesAsOptionsDo(root);
    out().print(AutoComplete.bash(root.getCommandName(), root));
    return ExitCode.GOOD;
  }

  /** Option values are the names of enums in lower case, with hyphens. */
  private static void nameValuesAsOptionsDo(CommandLine command) {
    CommandSpec ofCommand = command.getCommandSpec();
    for (OptionSpec option : List.copyOf(ofCommand.options())) {
      Object[] constants = option.type().getEnumConstants();
      if (constants != null && option.group() == null) {
        List<String> names =
            Arrays.stream(constants)
                .map(each -> ((Enum<?>) each).name().toLowerCase(Locale.ROOT).replace('_', '-'))
                .toList();
        ofCommand.remove(option);
        ofCommand.addOption(OptionSpec.builder(option).completionCandidates(names).build());
      }
    }
    command.getSubcommands().values().forEach(CompletionCommand::nameValuesAsOptionsDo);
  }
}
