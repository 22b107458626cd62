package io.firstseen.faults;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The directory of checkpoints, which can be full or read-only: a small file system in memory, or,
 * where none can be mounted, a directory that a file takes the place of.
 */
final class CheckpointDisk {
  private static final int MEBIBYTES = 256;
  private static final int ATTEMPTS = 100;

  final Path directory;
  private final Path aside;
  private final Path ballast;
  private final boolean isMounted;

  CheckpointDisk(Path directory) throws IOException, InterruptedException {
    this.directory = Files.createDirectories(directory);
    this.aside = directory.resolveSibling(directory.getFileName() + ".aside");
    this.ballast = directory.resolve("ballast");
    this.isMounted = run("mount", "-t", "tmpfs", "-o", "size=" + MEBIBYTES + "m", "tmpfs");
  }

  /** From now on no byte can be written. */
  void fill() throws IOException {
    if (!isMounted) {
      block();
      return;
    }
    byte[] zeros = new byte[1 << 16];
    try (OutputStream out = Files.newOutputStream(ballast)) {
      while (true) {
        out.write(zeros);
      }
    } catch (IOException e) {
      // It is full.
    }
  }

  /** From now on no file can be made or changed. */
  void makeReadOnly() throws IOException, InterruptedException {
    if (!isMounted) {
      block();
      return;
    }
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      // Refused while a file is open for writing.
      if (run("mount", "-o", "remount,ro")) {
        return;
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
    fill();
  }

  /** Checkpoints can be written again. */
  void mend() throws IOException, InterruptedException {
    if (isMounted) {
      run("mount", "-o", "remount,rw");
      Files.deleteIfExists(ballast);
    } else if (Files.exists(aside)) {
      Files.deleteIfExists(directory);
      Files.move(aside, directory);
    }
  }

  /** Takes the file system away with all that is in it. */
  void remove() {
    try {
      if (isMounted) {
        run("umount", "-l");
      }
    } catch (IOException e) {
      // The file is kept, which is harmless.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void block() throws IOException {
    Files.move(directory, aside);
    Files.createFile(directory);
  }

  /** Whether a command on the directory succeeds. */
  private boolean run(String... command) throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(List.of(command));
    words.add(directory.toString());
    return new ProcessBuilder(words)
            .redirectErrorStream(true)
            .redirectOutput(Redirect.DISCARD)
            .start()
            .waitFor()
        == 0;
  }
}
