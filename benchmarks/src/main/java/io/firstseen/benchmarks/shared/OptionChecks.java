package io.firstseen.benchmarks.shared;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Checks of options before hours of work; each throws an error with a message. */
public record OptionChecks(CommandSpec command) {

  private ParameterException refused(String sentence) {
    return new ParameterException(command.commandLine(), sentence);
  }

  /** Refuses a value below the least. */
  public void atLeast(String option, long least, long value) {
    if (value < least) {
      throw refused(option + " must be at least " + least + ", got " + value);
    }
  }

  /** Refuses a value below the least, and NaN. */
  public void atLeast(String option, double least, double value) {
    if (!(value >= least)) {
      throw refused(option + " must be at least " + text(least) + ", got " + text(value));
    }
  }

  /** Refuses a value outside (0, most]. */
  public void positive(String option, double most, double value) {
    if (!(value > 0 && value <= most)) {
      throw refused(
          most == Double.POSITIVE_INFINITY
              ? option + " must be more than 0, got " + text(value)
              : option + " must be in (0, " + text(most) + "], got " + text(value));
    }
  }

  /** Refuses a file that cannot be written; null passes. */
  public void canBeWritten(String option, @Nullable Path file) {
    if (file == null) {
      return;
    }
    Path parent = file.toAbsolutePath().getParent();
    if (parent == null || !Files.isWritable(parent) || Files.isDirectory(file)) {
      throw refused(option + " must be a file in a directory that can be written to, got " + file);
    }
  }

  private static String text(double value) {
    return value == Math.rint(value) && Math.abs(value) < 1e18
        ? Long.toString((long) value)
        : Double.toString(value);
  }
}
