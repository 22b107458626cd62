package io.firstseen.fuzz;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;

/** Limits on the time and memory that one input may cost. */
public final class Bounds {
  /** Allowed for every input, even the shortest: for messages, stack traces and small tables. */
  private static final long SPARE_BYTES = 256 << 10;

  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final int TRIES = 4;

  /** The factor by which a fuzzer's hooks increase allocations; 1 without a fuzzer. */
  private static final long HOOKS = Long.getLong("firstseen.fuzz.hooks", 1);

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private Bounds() {}

  /** Decodes an input; throws an exception only if the decoder violates its contract. */
  @FunctionalInterface
  public interface Decoding {
    void run() throws Exception;
  }

  /**
   * Runs a decoder. An input may take one second of processor time, and 256 KiB plus {@code factor}
   * bytes of memory per input byte; memory that is freed in the meantime also counts. A run that
   * exceeds a limit is repeated, because the first run of a path also loads classes.
   *
   * @param inputBytes the length of the input
   */
  public static void hold(int inputBytes, long factor, Decoding decoding) throws Exception {
    hold(inputBytes, factor, SPARE_BYTES, decoding);
  }

  /** The same with a different allowance of bytes for every input. */
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
