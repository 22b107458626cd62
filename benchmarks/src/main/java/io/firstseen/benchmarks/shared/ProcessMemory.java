package io.firstseen.benchmarks.shared;

import com.sun.management.GarbageCollectorMXBean;
import com.sun.management.GcInfo;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** The memory of this JVM. */
public final class ProcessMemory {
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final int UNCHANGED_BYTES = 1 << 16;

  private ProcessMemory() {}

  /** The resident memory in bytes; 0 if the system does not tell, as only Linux does. */
  public static long residentBytes() throws IOException {
    return ofStatus("VmRSS:");
  }

  /** The highest resident memory so far in bytes; 0 if the system does not tell. */
  public static long highestResidentBytes() throws IOException {
    return ofStatus("VmHWM:");
  }

  private static long ofStatus(String name) throws IOException {
    if (!Files.exists(STATUS)) {
      return 0;
    }
    for (String line : Files.readAllLines(STATUS)) {
      if (line.startsWith(name)) {
        return Long.parseLong(line.replaceAll("\\D", "")) << 10;
      }
    }
    return 0;
  }

  /** The used heap after the last collection; garbage that it left is in it. */
  public static long heapBytesAfterCollection() {
    long end = -1;
    long bytes = 0;
    for (GarbageCollectorMXBean collector :
        ManagementFactory.getPlatformMXBeans(GarbageCollectorMXBean.class)) {
      GcInfo last = collector.getLastGcInfo();
      if (last != null && last.getEndTime() > end) {
        end = last.getEndTime();
        bytes =
            last.getMemoryUsageAfterGc().entrySet().stream()
                .filter(pool -> pool.getKey().startsWith("G1"))
                .map(pool -> pool.getValue())
                .mapToLong(MemoryUsage::getUsed)
                .sum();
      }
    }
    return bytes;
  }

  /**
   * The used heap after collecting garbage until it no longer shrinks, since an earlier job is
   * cleaned up in the background.
   */
  public static long liveHeapBytes() throws InterruptedException {
    long bytes = Long.MAX_VALUE;
    for (int unchanged = 0; unchanged < 5; ) {
      System.gc();
      TimeUnit.MILLISECONDS.sleep(200);
      long used = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
      unchanged = used < bytes - UNCHANGED_BYTES ? 0 : unchanged + 1;
      bytes = Math.min(bytes, used);
    }
    return bytes;
  }
}
