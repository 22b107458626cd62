package io.firstseen.cli.processes;

import java.nio.file.Path;
import java.util.List;

/**
 * How processes log.
 *
 * @param directory of their files, which exists
 * @param json whether each entry is a JSON object on a line instead of text
 */
public record ProcessLogs(Path directory, boolean json) {

  /** The file of one process. */
  public Path file(String name) {
    return directory.resolve(name + ".log");
  }

  /** Options of a JVM that logs so. */
  public List<String> options() {
    return List.of(
        "-Dlog4j2.configurationFile="
            + (json ? "log4j2-process-json.properties" : "log4j2-process.properties"));
  }
}
