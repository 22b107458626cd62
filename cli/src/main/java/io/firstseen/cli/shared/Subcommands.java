package io.firstseen.cli.shared;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.function.Predicate;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

/**
 * The subcommands of a command. If picocli added the subcommands, each call would build the options
 * of all of them, which takes a second. This class builds the options of the subcommands that a
 * command line names.
 */
public final class Subcommands {

  /** The classes of the subcommands, in the order in which the help lists them. */
  @Retention(RetentionPolicy.RUNTIME)
  @Target(ElementType.TYPE)
  public @interface Of {
    Class<?>[] value();
  }

  private Subcommands() {}

  /**
   * Adds the subcommands to {@code command}, with their options if {@code isNamed} accepts the name
   * of the subcommand, otherwise with their descriptions only.
   */
  public static CommandLine addTo(CommandLine command, Predicate<String> isNamed) {
    Of subcommands = command.getCommand().getClass().getAnnotation(Of.class);
    for (Class<?> each : subcommands == null ? new Class<?>[0] : subcommands.value()) {
      Command description = each.getAnnotation(Command.class);
      // A command with subcommands has no options, and suggestions name its subcommands.
      boolean isBuilt = isNamed.test(description.name()) || each.isAnnotationPresent(Of.class);
      command.addSubcommand(
          isBuilt ? addTo(new CommandLine(each), isNamed) : withoutOptions(description));
    }
    return command;
  }

  private static CommandLine withoutOptions(Command description) {
    CommandSpec spec = CommandSpec.create().name(description.name());
    spec.usageMessage().description(description.description());
    return new CommandLine(spec);
  }
}
