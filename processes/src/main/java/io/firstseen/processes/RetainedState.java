package io.firstseen.processes;

import io.firstseen.embedded.FlinkPath;
import java.io.File;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The checkpoints and savepoints of jobs in a directory. */
public final class RetainedState {
  /** Of {@code JOB/chk-N/_metadata}; {@code savepoint-X/_metadata} is one level higher. */
  private static final int DEPTH = 3;

  private static final Pattern CHECKPOINT = Pattern.compile("/[0-9a-f]{32}/chk-\\d+/?$");
  private static final Pattern JOB = Pattern.compile("[0-9a-f]{32}");

  private RetainedState() {}

  /**
   * The path, in Flink's notation, of the newest complete checkpoint or savepoint in the directory.
   *
   * @param directory a job's directory of checkpoints or savepoints; it may be missing, and the job
   *     may be running
   */
  public static Optional<String> newest(Path directory) {
    return metadata(directory.toFile(), DEPTH)
        .max(Comparator.comparingLong(File::lastModified))
        .map(file -> FlinkPath.of(file.toPath().getParent()));
  }

  /** The files that Flink writes last. A running job may delete old checkpoints concurrently. */
  private static Stream<File> metadata(File directory, int depth) {
    File[] files = directory.listFiles();
    return Stream.of(files == null ? new File[0] : files)
        .flatMap(
            file ->
                depth > 1 && file.isDirectory()
                    ? metadata(file, depth - 1)
                    : Stream.of(file).filter(each -> each.getName().equals("_metadata")));
  }

  /** Whether the result of {@link #newest} is a checkpoint. */
  public static boolean isCheckpoint(String path) {
    return CHECKPOINT.matcher(path).find();
  }

  /** The ids of the jobs that have started to write checkpoints to the directory. */
  public static List<String> jobs(Path directory) {
    String[] names = directory.toFile().list((parent, name) -> JOB.matcher(name).matches());
    return names == null ? List.of() : List.of(names);
  }

  /**
   * Whether a checkpoint or savepoint belongs to a job; the name of a savepoint contains six digits
   * of the job id.
   */
  public static boolean isOf(String job, String path) {
    return path.contains("/" + job + "/") || path.contains("/savepoint-" + job.substring(0, 6));
  }
}
