package io.firstseen.cli.shared;

import java.net.URI;
import java.net.URL;
import org.apache.logging.log4j.core.config.Configurator;
import picocli.CommandLine.Option;

/** The log format of long-running commands. */
public final class LogFormatOption {
  /** The environment variable with the format, which is used without the option. */
  public static final String VARIABLE = "FIRSTSEEN_LOG_FORMAT";

  public enum LogFormat {
    TEXT,
    JSON
  }

  @Option(
      names = "--log-format",
      paramLabel = "FORMAT",
      defaultValue = "${env:" + VARIABLE + ":-TEXT}",
      description =
          "Format of standard error: text, or json with one object per line (default: the environment "
              + "variable "
              + VARIABLE
              + ", else text).")
  private LogFormat format;

  /** Switches the logging of this JVM to JSON if that is the format, and returns whether it is. */
  public boolean apply() {
    if (format == LogFormat.TEXT) {
      return false;
    }
    URL configuration = LogFormatOption.class.getResource("/log4j2-json.properties");
    Configurator.reconfigure(URI.create(configuration.toString()));
    return true;
  }
}
