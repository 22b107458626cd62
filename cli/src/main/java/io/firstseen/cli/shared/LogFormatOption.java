package io.firstseen.cli.shared;

import java.net.URI;
import java.net.URL;
import org.apache.logging.log4j.core.config.Configurator;
import picocli.CommandLine.Option;

/** The log format of long-running commands. */
public final class LogFormatOption {
  /** The environment variable with the format, which is used without the option. */
  public static final String VARIABLE = "FIRSTSEEN_LOG_FORMAT";

  /** The format of log lines. */
  public enum LogFormat {
    /** Plain text. */
    TEXT,
    /** An object with time, level, logger, thread and message on each line. */
    JSON
  }

  @Option(
      names = "--log-format",
      paramLabel = "FORMAT",
      defaultValue = "${env:" + VARIABLE + ":-TEXT}",
      description =
          "Format of standard error: text, or json, with one object per line that contains time, "
              + "level, logger, thread, message, and optionally exception and fields (default: "
              + "the environment variable "
              + VARIABLE
              + ", else text).")
  private LogFormat format;

  /**
   * Returns whether the format is JSON, and in that case switches the logging of this JVM to JSON.
   */
  public boolean apply() {
    if (format == LogFormat.TEXT) {
      return false;
    }
    URL configuration = LogFormatOption.class.getResource("/log4j2-json.properties");
    Configurator.reconfigure(URI.create(configuration.toString()));
    return true;
  }
}
