package io.firstseen.benchmarks.shared;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The processors that a process may use. */
public enum Processors {
  ALL,
  /** The first one alone; all where there is one processor only, or no {@code taskset}. */
  FIRST,
  /** The second one alone; all where there is one processor only, or no {@code taskset}. */
  SECOND;

  private static final Path TASKSET = Path.of("/usr/bin/taskset");

  /** Whether processes can be kept apart here. */
  public static boolean canBeChosen() {
    return Runtime.getRuntime().availableProcessors() > 1 && Files.isExecutable(TASKSET);
  }

  /** What a command line for these processors begins with. */
  List<String> prefix() {
    return this == ALL || !canBeChosen()
        ? List.of()
        : List.of(TASKSET.toString(), "-c", this == FIRST ? "0" : "1");
  }
}
