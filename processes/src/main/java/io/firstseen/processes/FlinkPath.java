package io.firstseen.processes;

import java.nio.file.Path;

/** Paths in Flink's notation. */
public final class FlinkPath {

  private FlinkPath() {}

  /**
   * A path in Flink's notation, which is not a URI: spaces and non-ASCII letters are not escaped.
   * Flink would interpret {@code %20} literally.
   */
  public static String of(Path path) {
    return new org.apache.flink.core.fs.Path(path.toUri()).toString();
  }
}
