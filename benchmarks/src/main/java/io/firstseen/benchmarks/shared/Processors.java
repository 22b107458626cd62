package io.firstseen.benchmarks.shared;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

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
        : List.of(TASKSET.toString(), "-c", Integer.toString(allowed().get(this == FIRST ? 0 : 1)));
  }

  /** The numbers of the processors that this process may use. */
  private static List<Integer> allowed() {
    try (Stream<String> status = Files.lines(Path.of("/proc/self/status"))) {
      String ranges =
          status
              .filter(line -> line.startsWith("Cpus_allowed_list:"))
              .map(line -> line.substring(line.indexOf(':') + 1).strip())
              .findFirst()
              .orElse("0-1");
      return Arrays.stream(ranges.split(","))
          .map(range -> range.split("-"))
          .flatMapToInt(
              range ->
                  IntStream.rangeClosed(
                      Integer.parseInt(range[0]), Integer.parseInt(range[range.length - 1])))
          .boxed()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
