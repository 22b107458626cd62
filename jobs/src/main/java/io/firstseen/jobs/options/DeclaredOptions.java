package io.firstseen.jobs.options;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Completes options of a command that have the name of a job's option and no label. Such an option
 * inherits the label of the job's option, its converter and bounds unless the command sets a
 * converter, and its default if the command's default is {@link #DEFAULT}.
 */
public final class DeclaredOptions implements IModelTransformer {
  /** Stands for the default of the job's option. */
  public static final String DEFAULT = "default of the job";

  private static final Map<String, OptionSpec> BY_NAME = new HashMap<>();

  static {
    Stream.of(JobOptions.class, KafkaOptions.class)
        .flatMap(type -> new CommandLine(type).getCommandSpec().options().stream())
        .forEach(option -> BY_NAME.put(option.longestName(), option));
  }

  /** Called by picocli. */
  public DeclaredOptions() {}

  /**
   * The default of a job's option.
   *
   * @param type the type of its values
   */
  public static <T> T defaultOf(String name, Class<T> type) {
    OptionSpec option = BY_NAME.get(name);
    try {
      return type.cast(option.converters()[0].convert(option.defaultValue()));
    } catch (Exception e) {
      throw new IllegalStateException(name, e);
    }
  }

  @Override
  public CommandSpec transform(CommandSpec command) {
    // Replace all options, to keep their order.
    List<OptionSpec> options = List.copyOf(command.options());
    options.forEach(command::remove);
    options.forEach(option -> command.addOption(completed(option)));
    return command;
  }

  private static OptionSpec completed(OptionSpec option) {
    OptionSpec declared = BY_NAME.get(option.longestName());
    if (declared == null || !option.paramLabel().startsWith("<")) {
      return option;
    }
    OptionSpec.Builder builder = OptionSpec.builder(option).paramLabel(declared.paramLabel());
    if (option.converters().length == 0) {
      builder.converters(declared.converters());
    }
    if (DEFAULT.equals(option.defaultValue())) {
      builder.defaultValue(declared.defaultValue());
    }
    return builder.build();
  }
}
