package io.firstseen.cli.shared;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.function.Predicate;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

/**
 * The subcommands of a command. If picocli added the subcommands, each call would build the options
 * of all of them, which takes a second. This class builds the one that a command line names.
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
  public static CommandLine addAll(CommandLine command, Predicate<String> isNamed) {
    for (Class<?> each : classes(command)) {
      Command description = each.getAnnotation(Command.class);
      // A command with subcommands has no options, and suggestions name its subcommands.
      if (isNamed.test(description.name()) || each.isAnnotationPresent(Of.class)) {
        command.addSubcommand(addAll(new CommandLine(each), isNamed));
      } else {
        CommandSpec spec = CommandSpec.create();
        spec.usageMessage().description(description.description());
        command.addSubcommand(description.name(), spec);
      }
    }
    return command;
  }

  /**
   * Adds only the subcommand that {@code words} begin with. Returns whether they name a command
   * without subcommands; otherwise {@code command} is incomplete.
   */
  public static boolean addNamed(CommandLine command, List<String> words) {
    for (Class<?> each : classes(command)) {
      if (!words.isEmpty() && each.getAnnotation(Command.class).name().equals(words.get(0))) {
        CommandLine named = new CommandLine(each);
        command.addSubcommand(named);
        return addNamed(named, words.subList(1, words.size()));
      }
    }
    return classes(command).length == 0;
  }

  private static Class<?>[] classes(CommandLine command) {
    Of subcommands = command.getCommand().getClass().getAnnotation(Of.class);
    return subcommands == null ? new Class<?>[0] : subcommands.value();
  }
}
