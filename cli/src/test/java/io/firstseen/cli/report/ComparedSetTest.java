package io.firstseen.cli.report;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ComparedSetTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static byte[][] keys(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> ("https://example.org/" + "x".repeat(i % 17) + i).getBytes(ISO_8859_1))
        .toArray(byte[][]::new);
  }

  private static String[] strings(byte[][] keys) {
    String[] strings = new String[keys.length];
    for (int i = 0; i < keys.length; i++) {
      strings[i] = new String(keys[i], ISO_8859_1);
    }
    return strings;
  }

  /** The bytes that the JVM has allocated for it, less the outgrown tables. */
  @ParameterizedTest
  @CsvSource({"1000, 2048", "12288, 16384", "12289, 32768", "50000, 131072"})
  void itsSizeIsWhatTheJvmTakesForIt(int count, int table) {
    byte[][] keys = keys(count);
    ComparedSet.exact(strings(keys));
    long before = THREADS.getCurrentThreadAllocatedBytes();
    ComparedSet<String[]> set = ComparedSet.exact(strings(keys));
    long after = THREADS.getCurrentThreadAllocatedBytes();
    long array = 16 + 4L * count;
    long outgrown = 0;
    for (int length = 16; length < table; length *= 2) {
      outgrown += 16 + 4L * length;
    }
    assertThat(set.sizeBytes().getAsLong())
        .isCloseTo(after - before - array - outgrown, withinPercentage(0.5));
  }
}
