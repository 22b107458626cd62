package io.firstseen.processes;

import java.nio.file.Path;

/** Paths in Flink's notation. */
public final class FlinkPath {

  private FlinkPath() {}

  /** A path in Flink's notation, in which no character is escaped, unlike in a URI. */
  public static String of(Path path) {
    return new org.apache.flink.core.fs.Path(path.toUri()).toString();
  }
}
