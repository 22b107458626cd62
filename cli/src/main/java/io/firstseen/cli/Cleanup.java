package io.firstseen.cli;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Closes what a verb has opened, in reverse order, when the verb ends and also when the JVM is told
 * to end, as by Ctrl-C.
 */
final class Cleanup implements Closeable {
  /** What shells and others say of a program that was ended by Ctrl-C. */
  private static final int INTERRUPTED = 130;

  private final Deque<Closeable> open = new ArrayDeque<>();
  private final Thread hook = new Thread(this::cutShort, "cleanup");
  private volatile boolean isCutShort;

  private Cleanup() {
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /** What a verb does. */
  @FunctionalInterface
  interface Action {
    /** Does it, registers what it opens, and returns the exit code. */
    int run(Cleanup cleanup) throws Exception;
  }

  /**
   * Does what a verb does and cleans up after it. An action that fails because it was cut short
   * fails silently.
   */
  static int after(Action action) throws Exception {
    Cleanup cleanup = new Cleanup();
    try (cleanup) {
      return action.run(cleanup);
    } catch (Exception e) {
      if (cleanup.isCutShort) {
        return INTERRUPTED;
      }
      throw e;
    }
  }

  /** Registers what is to be closed. */
  synchronized void add(Closeable resource) {
    open.push(resource);
  }

  /** Makes a temporary directory, to be removed with all that will be in it. */
  Path temporaryDirectory() throws IOException {
    Path directory = Files.createTempDirectory("firstseen-");
    add(() -> delete(directory));
    return directory;
  }

  private void cutShort() {
    isCutShort = true;
    try {
      closeAll();
    } catch (IOException | RuntimeException e) {
      // The JVM is ending; there is nobody left to tell.
    }
  }

  @Override
  public void close() throws IOException {
    try {
      closeAll();
    } finally {
      if (!isCutShort) {
        Runtime.getRuntime().removeShutdownHook(hook);
      }
    }
  }

  private synchronized void closeAll() throws IOException {
    if (!open.isEmpty()) {
      try {
        open.pop().close();
      } finally {
        closeAll();
      }
    }
  }

  private static void delete(Path directory) throws IOException {
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path visited, IOException e)
              throws IOException {
            Files.delete(visited);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
