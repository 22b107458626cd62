package io.firstseen.cli.processes;

import io.firstseen.cli.shared.FlinkPath;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The checkpoints and savepoints of jobs in a directory. */
public final class RetainedState {

  /**
   * The depth of {@code JOB/chk-N/_metadata}; {@code savepoint-X/_metadata} is one level higher.
   */
  private static final int DEPTH = 3;

  private static final Pattern CHECKPOINT = Pattern.compile("/([0-9a-f]{32})/chk-\\d+/?$");

  private static final Pattern JOB = Pattern.compile("[0-9a-f]{32}");

  private RetainedState() {}

  /**
   * The path, in Flink's notation, of the newest complete checkpoint or savepoint in the directory.
   *
   * @param directory a job's directory of checkpoints or savepoints; it may be missing, and the job
   *     may be running
   */
  public static Optional<String> newest(Path directory) throws IOException {
    Newest newest = new Newest();
    Files.walkFileTree(directory, Set.of(), DEPTH, newest);
    return Optional.ofNullable(newest.path).map(FlinkPath::of);
  }

  /**
   * The id of the job that created a checkpoint.
   *
   * @param path the result of {@link #newest}; the path of a savepoint does not contain a job id
   */
  public static Optional<String> jobOf(String path) {
    Matcher matcher = CHECKPOINT.matcher(path);
    return matcher.find() ? Optional.of(matcher.group(1)) : Optional.empty();
  }

  /** The ids of the jobs that have started to write checkpoints to the directory. */
  public static List<String> jobs(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> entries = Files.list(directory)) {
      return entries
          .map(entry -> entry.getFileName().toString())
          .filter(name -> JOB.matcher(name).matches())
          .toList();
    }
  }

  /**
   * Whether a checkpoint or savepoint belongs to a job; the name of a savepoint contains six digits
   * of the job id.
   */
  public static boolean isOf(String job, String path) {
    return path.contains("/" + job + "/") || path.contains("/savepoint-" + job.substring(0, 6));
  }

  private static final class Newest extends SimpleFileVisitor<Path> {
    private @Nullable Path path;
    private FileTime time = FileTime.fromMillis(0);

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
      // Flink writes this file last.
      if (file.getFileName().toString().equals("_metadata")
          && attributes.lastModifiedTime().compareTo(time) > 0) {
        path = file.getParent();
        time = attributes.lastModifiedTime();
      }
      return FileVisitResult.CONTINUE;
    }

    /** A running job may delete its old checkpoints concurrently. */
    @Override
    public FileVisitResult visitFileFailed(Path file, IOException e) {
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e) {
      return FileVisitResult.CONTINUE;
    }
  }
}
