package io.firstseen.fuzz;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;

/** What one input may cost. */
public final class Bounds {
  /** Allowed to every input, however short: for messages, stack traces and small tables. */
  private static final long SPARE_BYTES = 256 << 10;

  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final int TRIES = 4;

  /** What a fuzzer allocates by its hooks in the code, as a factor. Without a fuzzer 1. */
  private static final long HOOKS = Long.getLong("firstseen.fuzz.hooks", 1);

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private Bounds() {}

  /** Decodes an input; leaves through an exception only if the decoder breaks its contract. */
  @FunctionalInterface
  public interface Decoding {
    void run() throws Exception;
  }

  /**
   * Runs a decoding. Its input may cost one second of the processor and {@code factor} bytes of
   * memory for each of its bytes, beside 256 KiB; memory that is freed meanwhile counts, too. What
   * costs more is run again, as the first run of a path also loads classes.
   *
   * @param inputBytes the length of the input
   */
  public static void hold(int inputBytes, long factor, Decoding decoding) throws Exception {
    hold(inputBytes, factor, SPARE_BYTES, decoding);
  }

  /** The same with another number of bytes that any input may cost. */
  public static void hold(int inputBytes, long factor, long spareBytes, Decoding decoding)
      throws Exception {
    long allowed = HOOKS * (factor * inputBytes + spareBytes);
    for (int left = TRIES; ; left--) {
      long startNanos = THREADS.getCurrentThreadCpuTime();
      long before = THREADS.getCurrentThreadAllocatedBytes();
      decoding.run();
      long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
      long nanos = THREADS.getCurrentThreadCpuTime() - startNanos;
      if (allocated <= allowed && nanos <= MAX_NANOS) {
        return;
      }
      if (left == 1) {
        throw new AssertionError(
            "an input of %d bytes took %d bytes of memory, allowed are %d, and %d ms"
                .formatted(inputBytes, allocated, allowed, TimeUnit.NANOSECONDS.toMillis(nanos)));
      }
    }
  }
}
