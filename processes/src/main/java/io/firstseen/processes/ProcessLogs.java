package io.firstseen.processes;

import java.nio.file.Path;
import java.util.List;

/**
 * The logging of processes.
 *
 * @param directory the directory of the log files, which must exist
 * @param json whether each entry is a JSON object on a line instead of text
 */
public record ProcessLogs(Path directory, boolean json) {

  /** The log file of one process. */
  public Path file(String name) {
    return directory.resolve(name + ".log");
  }

  /** The options of a JVM with this logging. */
  public List<String> options() {
    return List.of(
        "-Dlog4j2.configurationFile="
            + (json ? "log4j2-process-json.properties" : "log4j2-process.properties"));
  }
}
