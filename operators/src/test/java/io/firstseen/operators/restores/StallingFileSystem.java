package io.firstseen.operators.restores;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.util.concurrent.CountDownLatch;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystemFactory;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.local.LocalFileSystem;

/**
 * The local file system, under the scheme {@code stalling}. A test can make the creation of files
 * wait, so that writing a checkpoint takes as long as the test needs.
 */
public final class StallingFileSystem extends LocalFileSystem {
  private static volatile Stall stall;

  /** Stalls from now on. */
  static Stall begin() {
    stall = new Stall();
    return stall;
  }

  /** A time in which no file is made. */
  static final class Stall implements AutoCloseable {
    private final CountDownLatch met = new CountDownLatch(1);
    private final CountDownLatch over = new CountDownLatch(1);

    /** Waits until a thread is stalled. */
    void awaitMet() throws InterruptedException {
      met.await();
    }

    @Override
    public void close() {
      stall = null;
      over.countDown();
    }
  }

  @Override
  public URI getUri() {
    return URI.create("stalling:///");
  }

  @Override
  public FSDataOutputStream create(Path path, WriteMode mode) throws IOException {
    Stall current = stall;
    if (current != null) {
      current.met.countDown();
      try {
        current.over.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("stalled");
      }
    }
    return super.create(path, mode);
  }

  /** Lets Flink find it. */
  public static final class Factory implements FileSystemFactory {
    @Override
    public String getScheme() {
      return "stalling";
    }

    @Override
    public FileSystem create(URI uri) {
      return new StallingFileSystem();
    }
  }
}
