package io.firstseen.benchmarks.kafka;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;

/**
 * The processor time of this JVM and the time for which it compiled, observed every few
 * milliseconds until it is closed.
 */
final class ProcessorTime implements AutoCloseable {
  private static final OperatingSystemMXBean SYSTEM =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
  private static final CompilationMXBean COMPILERS = ManagementFactory.getCompilationMXBean();
  private static final int EVERY_MILLIS = 20;

  private final NavigableMap<Long, Long> nanosAtMillis = new ConcurrentSkipListMap<>();
  private final NavigableMap<Long, Long> compiledMillisAtMillis = new ConcurrentSkipListMap<>();
  private final Thread observer = new Thread(this::observe, "processor-time");
  private volatile boolean closed;

  ProcessorTime() {
    observer.setDaemon(true);
    observer.start();
  }

  private void observe() {
    try {
      while (!closed) {
        long now = System.currentTimeMillis();
        nanosAtMillis.put(now, SYSTEM.getProcessCpuTime());
        compiledMillisAtMillis.put(now, COMPILERS.getTotalCompilationTime());
        TimeUnit.MILLISECONDS.sleep(EVERY_MILLIS);
      }
    } catch (InterruptedException e) {
      // Closed.
    }
  }

  /** The seconds between two instants, in milliseconds of the clock, that were observed. */
  double seconds(long fromMillis, long toMillis) {
    return (at(nanosAtMillis, toMillis) - at(nanosAtMillis, fromMillis)) / 1e9;
  }

  /** The share of the time between two instants for which Java compiled. */
  double compiling(long fromMillis, long toMillis) {
    double millis = at(compiledMillisAtMillis, toMillis) - at(compiledMillisAtMillis, fromMillis);
    return millis / Math.max(1, toMillis - fromMillis);
  }

  private static double at(NavigableMap<Long, Long> observed, long millis) {
    var before = observed.floorEntry(millis);
    var after = observed.ceilingEntry(millis);
    if (before == null || after == null) {
      throw new IllegalArgumentException("the processor time at " + millis + " was not observed");
    }
    long length = after.getKey() - before.getKey();
    double part = length == 0 ? 0 : (double) (millis - before.getKey()) / length;
    return before.getValue() + part * (after.getValue() - before.getValue());
  }

  @Override
  public void close() {
    closed = true;
    observer.interrupt();
  }
}
