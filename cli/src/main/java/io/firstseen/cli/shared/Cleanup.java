package io.firstseen.cli.shared;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.flink.util.FileUtils;
import org.apache.flink.util.function.FunctionWithException;
import org.apache.flink.util.function.SupplierWithException;

/**
 * Closes the resources of a command, in reverse order, at its end. If the JVM is told to exit, the
 * command is interrupted; if it does not stop soon, the shutdown hook closes the resources.
 */
public final class Cleanup implements Closeable {
  private static final int INTERRUPTED = 130;

  /** The maximum time until an interrupted command starts to close its resources. */
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

  /** Runs an action and cleans up after it; an interrupted action fails silently. */
  public static int after(FunctionWithException<Cleanup, Integer, Exception> action)
      throws Exception {
    Cleanup cleanup = new Cleanup();
    try (cleanup) {
      return action.apply(cleanup);
    } catch (Throwable e) {
      if (cleanup.isCutShort) {
        return INTERRUPTED;
      }
      throw e;
    }
  }

  public synchronized void add(Closeable resource) throws IOException {
    if (closed) {
      resource.close();
      throw new CancellationException("cut short");
    }
    open.push(resource);
  }

  /** Opens and registers a resource, without being interrupted; nothing is closed meanwhile. */
  public synchronized <T extends Closeable> T open(SupplierWithException<T, IOException> opener)
      throws IOException {
    if (closed || isCutShort) {
      throw new CancellationException("cut short");
    }
    T resource = opener.get();
    open.push(resource);
    return resource;
  }

  /** Creates a temporary directory, which is deleted with its content. */
  public Path temporaryDirectory() throws IOException {
    return open(() -> new TemporaryDirectory(Files.createTempDirectory("firstseen-"))).path;
  }

  private void cutShort() {
    isCutShort = true;
    try {
      // Do not interrupt while a resource is being opened, which might print errors.
      synchronized (this) {
        if (closing.getCount() > 0) {
          verb.interrupt();
        }
      }
      var unused = closing.await(GRACE_MILLIS, TimeUnit.MILLISECONDS);
      closeAll();
    } catch (IOException | RuntimeException | InterruptedException e) {
      // The JVM is exiting, so the failure cannot be handled.
    }
  }

  @Override
  public void close() throws IOException {
    synchronized (this) {
      // No more interrupts from here on; clear an earlier one.
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

  public record TemporaryDirectory(Path path) implements Closeable {

    @Override
    public void close() throws IOException {
      for (int attempt = 1; ; attempt++) {
        try {
          FileUtils.deleteDirectory(path.toFile());
          return;
        } catch (DirectoryNotEmptyException e) {
          // A task that is still stopping created a file meanwhile.
          if (attempt == DELETE_ATTEMPTS) {
            throw e;
          }
        }
      }
    }
  }
}
