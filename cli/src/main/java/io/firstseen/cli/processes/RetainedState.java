package io.firstseen.cli.processes;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The checkpoints and savepoints that jobs have left in a directory. */
public final class RetainedState {

  /** {@code JOB/chk-N/_metadata}, or {@code savepoint-X/_metadata} one level higher. */
  private static final int DEPTH = 3;

  private RetainedState() {}

  /**
   * The URI of the newest complete checkpoint or savepoint in the directory.
   *
   * @param directory the one that a job was given for its checkpoints, or savepoints; it need not
   *     exist, and the job may run
   */
  public static Optional<String> newest(Path directory) throws IOException {
    Newest newest = new Newest();
    Files.walkFileTree(directory, Set.of(), DEPTH, newest);
    return Optional.ofNullable(newest.path).map(path -> path.toUri().toString());
  }

  private static final class Newest extends SimpleFileVisitor<Path> {
    private @Nullable Path path;
    private FileTime time = FileTime.fromMillis(0);

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
      // Written last.
      if (file.getFileName().toString().equals("_metadata")
          && attributes.lastModifiedTime().compareTo(time) > 0) {
        path = file.getParent();
        time = attributes.lastModifiedTime();
      }
      return FileVisitResult.CONTINUE;
    }

    /** A job deletes its old checkpoints meanwhile. */
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
