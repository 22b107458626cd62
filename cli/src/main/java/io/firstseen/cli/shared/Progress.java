package io.firstseen.cli.shared;

import java.io.PrintWriter;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** A progress line on a terminal, which is overwritten during long work and cleared at the end. */
public final class Progress implements AutoCloseable {
  /** Set by the launch script if standard error is a terminal; Java cannot tell. */
  public static final String TERMINAL_PROPERTY = "firstseen.terminal";

  private static final long INTERVAL_MILLIS = 250;
  private static final long POLL_MILLIS = 100;
  private static final String WIPE = "\r\u001b[K";

  private final PrintWriter err;
  private final long intervalNanos;
  private final boolean visible;
  private long lastNanos = System.nanoTime();
  private boolean written;

  public Progress(PrintWriter err) {
    this(err, INTERVAL_MILLIS);
  }

  Progress(PrintWriter err, long intervalMillis) {
    this.err = err;
    this.intervalNanos = TimeUnit.MILLISECONDS.toNanos(intervalMillis);
    this.visible = Boolean.getBoolean(TERMINAL_PROPERTY);
  }

  /** Shows the line, unless a line was shown very recently. */
  public void show(Supplier<String> line) {
    if (visible && System.nanoTime() - lastNanos >= intervalNanos) {
      err.print(WIPE + line.get());
      err.flush();
      lastNanos = System.nanoTime();
      written = true;
    }
  }

  /** Waits for a result, and shows the line meanwhile; throws the cause of a failure. */
  public <T> T await(Future<T> result, Supplier<String> line) throws Exception {
    while (true) {
      try {
        return result.get(POLL_MILLIS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        show(line);
      } catch (ExecutionException e) {
        throw e.getCause() instanceof Exception cause ? cause : e;
      }
    }
  }

  /** Prints a warning on a separate line, even if standard error is not a terminal. */
  public void warn(String sentence) {
    close();
    err.println("warning: " + sentence);
    err.flush();
  }

  @Override
  public void close() {
    if (written) {
      err.print(WIPE);
      err.flush();
      written = false;
    }
  }
}
