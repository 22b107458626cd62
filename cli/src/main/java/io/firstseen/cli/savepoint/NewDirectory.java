package io.firstseen.cli.savepoint;

import io.firstseen.cli.shared.Cleanup;
import io.firstseen.filters.snapshot.SyncedFiles;
import io.firstseen.operators.UserErrorException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A directory that appears under its name only when it is complete. Until then, its name ends in
 * {@code .partial}.
 */
final class NewDirectory implements Closeable {
  private final Path target;
  private final Path partial;
  private boolean complete;

  private NewDirectory(Path target, Path partial) {
    this.target = target;
    this.partial = partial;
  }

  static NewDirectory at(Path directory) {
    Path target = directory.toAbsolutePath().normalize();
    if (Files.exists(target)) {
      throw new UserErrorException(directory + " already exists");
    }
    Path parent = target.getParent();
    if (!Files.isDirectory(parent)) {
      throw new UserErrorException(
          "cannot create %s: directory %s does not exist".formatted(directory, parent));
    }
    for (int number = 1; ; number++) {
      Path partial = parent.resolve("%s.%d.partial".formatted(target.getFileName(), number));
      try {
        return new NewDirectory(target, Files.createDirectory(partial));
      } catch (FileAlreadyExistsException e) {
        // The name is used already; try the next one.
      } catch (IOException e) {
        throw UserErrorException.cannot("make", directory, e);
      }
    }
  }

  Path directory() {
    return partial;
  }

  void complete() {
    try {
      Files.move(partial, target);
      SyncedFiles.syncDirectory(target.getParent());
    } catch (IOException e) {
      throw UserErrorException.cannot("make", target, e);
    }
    complete = true;
  }

  @Override
  public void close() throws IOException {
    if (!complete) {
      new Cleanup.TemporaryDirectory(partial).close();
    }
  }
}
