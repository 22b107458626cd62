package io.firstseen.embedded;

import java.nio.file.Path;

/** Paths in Flink's notation. */
public final class FlinkPath {
  private FlinkPath() {}

  /**
   * Returns a path in Flink's notation, in which no character is escaped, unlike in a URI: Flink
   * would create a directory named {@code %20}.
   */
  public static String of(Path path) {
    return new org.apache.flink.core.fs.Path(path.toUri()).toString();
  }
}
