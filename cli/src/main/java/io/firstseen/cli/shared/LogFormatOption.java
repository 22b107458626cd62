package io.firstseen.cli.shared;

import java.net.URI;
import java.net.URISyntaxException;
import org.apache.logging.log4j.core.config.Configurator;
import picocli.CommandLine.Option;

/** How a verb that runs for long writes what happens to it. */
public final class LogFormatOption {
  /** The variable that holds the format where the option is not given. */
  public static final String VARIABLE = "FIRSTSEEN_LOG_FORMAT";

  /** Form of the lines. */
  public enum LogFormat {
    /** For people. */
    TEXT,
    /** An object with time, level, logger, thread and message on each line. */
    JSON
  }

  @Option(
      names = "--log-format",
      paramLabel = "FORMAT",
      defaultValue = "${env:" + VARIABLE + ":-TEXT}",
      description =
          "text, or json: each line of standard error is an object with time, level, logger,"
              + " thread, message, and perhaps exception and fields (default: what the variable "
              + VARIABLE
              + " says, else text).")
  private LogFormat format;

  /** Whether it is JSON; switches the logging of this JVM to it if so. */
  public boolean apply() {
    if (format == LogFormat.TEXT) {
      return false;
    }
    try {
      URI configuration = LogFormatOption.class.getResource("/log4j2-json.properties").toURI();
      Configurator.reconfigure(configuration);
      return true;
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }
}
