package io.firstseen.cli.shared;

import java.nio.file.Path;

/** Paths as Flink reads them. */
public final class FlinkPath {

  private FlinkPath() {}

  /**
   * A path in Flink's form, which is no URI: spaces and letters outside of ASCII stand for
   * themselves. Of {@code %20} Flink would make a directory of that name.
   */
  public static String of(Path path) {
    return new org.apache.flink.core.fs.Path(path.toUri()).toString();
  }
}
