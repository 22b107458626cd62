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

  /** Adds the subcommands to {@code command}: with their options, or only their descriptions. */
  public static CommandLine addTo(CommandLine command, Predicate<String> isNamed) {
    for (Class<?> each : of(command.getCommand().getClass())) {
      command.addSubcommand(
          isNamed.test(command(each).name())
              ? addTo(new CommandLine(each), isNamed)
              : withoutOptions(each));
    }
    return command;
  }

  private static CommandLine withoutOptions(Class<?> type) {
    CommandSpec spec = CommandSpec.create().name(command(type).name());
    spec.usageMessage().description(command(type).description());
    for (Class<?> each : of(type)) {
      spec.addSubcommand(null, withoutOptions(each));
    }
    return new CommandLine(spec);
  }

  private static Class<?>[] of(Class<?> type) {
    Of subcommands = type.getAnnotation(Of.class);
    return subcommands == null ? new Class<?>[0] : subcommands.value();
  }

  private static Command command(Class<?> type) {
    return type.getAnnotation(Command.class);
  }
}
