package io.firstseen.cli.up;

import io.firstseen.operators.UserErrorException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The directory that keeps all data between two runs of {@code up}. It is locked while {@code up}
 * is running; the lock is released when the process ends.
 */
record DataDirectory(Path path, FileChannel lockFile) implements Closeable {

  /** Creates the directory if it is missing, and locks it. */
  static DataDirectory open(Path path) throws IOException {
    if (Files.exists(path) && !Files.isDirectory(path)) {
      throw new UserErrorException("--data must be a directory, got the file " + path);
    }
    Path absolute = Files.createDirectories(path.toAbsolutePath().normalize());
    for (String part : new String[] {"logs", "prometheus/targets"}) {
      Files.createDirectories(absolute.resolve(part));
    }
    FileChannel lockFile =
        FileChannel.open(
            absolute.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    FileLock lock = lockFile.tryLock();
    if (lock == null) {
      lockFile.close();
      throw new UserErrorException("another 'firstseen up' uses " + path);
    }
    return new DataDirectory(absolute, lockFile);
  }

  /** Checkpoints and savepoints of one job. */
  Path stateOf(String job) {
    return path.resolve("flink/state").resolve(job);
  }

  @Override
  public void close() throws IOException {
    lockFile.close();
  }
}
