package io.firstseen.cli.shared;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Closes what a verb has opened, in reverse order, when the verb ends and also when the JVM is told
 * to end, as by Ctrl-C. Then the verb's thread is interrupted, so that it stops and closes
 * everything itself; if it does not come to that soon, because it reads standard input for
 * instance, everything is closed under it.
 */
public final class Cleanup implements Closeable {
  /** What shells and others say of a program that was ended by Ctrl-C. */
  private static final int INTERRUPTED = 130;

  /** How long an interrupted verb may take to begin to close. */
  private static final long GRACE_MILLIS = 1_000;

  private static final int DELETE_ATTEMPTS = 5;

  private final Deque<Closeable> open = new ArrayDeque<>();
  private final Thread verb = Thread.currentThread();
  private final Thread hook = new Thread(this::cutShort, "cleanup");
  private final CountDownLatch closing = new CountDownLatch(1);
  private boolean closed;
  private volatile boolean isCutShort;

  private Cleanup() {
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /** What a verb does. */
  @FunctionalInterface
  public interface Action {
    /** Does it, registers what it opens, and returns the exit code. */
    int run(Cleanup cleanup) throws Exception;
  }

  /**
   * Does what a verb does and cleans up after it. An action that fails because it was cut short
   * fails silently.
   */
  public static int after(Action action) throws Exception {
    Cleanup cleanup = new Cleanup();
    try (cleanup) {
      return action.run(cleanup);
    } catch (Throwable e) {
      if (cleanup.isCutShort) {
        return INTERRUPTED;
      }
      throw e;
    }
  }

  /** Registers what is to be closed. */
  public synchronized void add(Closeable resource) throws IOException {
    if (closed) {
      resource.close();
      throw new CancellationException("cut short");
    }
    open.push(resource);
  }

  /** Something that opens a resource. */
  @FunctionalInterface
  public interface Opener<T extends Closeable> {
    /** Opens it. */
    T open() throws IOException;
  }

  /** Opens what is to be closed, without being interrupted; nothing is closed meanwhile. */
  public synchronized <T extends Closeable> T open(Opener<T> opener) throws IOException {
    if (closed || isCutShort) {
      throw new CancellationException("cut short");
    }
    T resource = opener.open();
    open.push(resource);
    return resource;
  }

  /** Makes a temporary directory, to be removed with all that will be in it. */
  public Path temporaryDirectory() throws IOException {
    return open(() -> new TemporaryDirectory(Files.createTempDirectory("firstseen-"))).path;
  }

  private void cutShort() {
    isCutShort = true;
    try {
      // Not while something is being opened, which might end in complaints.
      synchronized (this) {
        if (closing.getCount() > 0) {
          verb.interrupt();
        }
      }
      var unused = closing.await(GRACE_MILLIS, TimeUnit.MILLISECONDS);
      closeAll();
    } catch (IOException | RuntimeException | InterruptedException e) {
      // The JVM is ending; there is nobody left to tell.
    }
  }

  @Override
  public void close() throws IOException {
    synchronized (this) {
      // Nobody interrupts from here on; an interrupt that came before must not disturb.
      closing.countDown();
      var unused = Thread.interrupted();
    }
    try {
      closeAll();
    } finally {
      if (!isCutShort) {
        Runtime.getRuntime().removeShutdownHook(hook);
      }
    }
  }

  private synchronized void closeAll() throws IOException {
    closed = true;
    if (!open.isEmpty()) {
      try {
        open.pop().close();
      } finally {
        closeAll();
      }
    }
  }

  /** A directory that goes with all that is in it. */
  public record TemporaryDirectory(Path path) implements Closeable {

    @Override
    public void close() throws IOException {
      for (int attempt = 1; ; attempt++) {
        try {
          delete();
          return;
        } catch (NoSuchFileException | DirectoryNotEmptyException e) {
          // Something that is still ending made or deleted a file meanwhile.
          if (attempt == DELETE_ATTEMPTS) {
            throw e;
          }
        }
      }
    }

    private void delete() throws IOException {
      Files.walkFileTree(
          path,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                throws IOException {
              Files.deleteIfExists(file);
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, IOException e)
                throws IOException {
              Files.deleteIfExists(visited);
              return FileVisitResult.CONTINUE;
            }
          });
    }
  }
}
