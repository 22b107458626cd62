package io.firstseen.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.firstseen.cli.CommandProcess;
import io.firstseen.cli.Invocation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** {@code firstseen demo} as a shell sees it. */
@DisabledOnOs(OS.WINDOWS)
class DemoProcessTest {
  private static final Duration START = Duration.ofMinutes(2);
  private static final Duration END = Duration.ofSeconds(20);

  @TempDir private Path directory;

  @Tag("slow")
  @Test
  void itSaysNothingButItsProgressAndItsSummaryAndLeavesNothing() throws Exception {
    String[] words = {
      "demo", "--events=3000", "--rate=4000", "--state-backend=rocksdb", "--parallelism=1"
    };
    try (CommandProcess demo = CommandProcess.start(directory, words)) {
      Invocation ended = demo.end();
      assertThat(ended.status()).as("%s", ended).isZero();
      assertThat(ended.out())
          .anyMatch(line -> line.startsWith("events              3,000   in "))
          .contains("All 8 checks passed.")
          .noneMatch(line -> line.contains("\u2717"));
      assertSaysNothingElse(ended);
      assertThat(ended.err()).anyMatch(line -> line.startsWith("  Flink  http://"));
      assertThat(demo.temporaryFiles()).isEmpty();
    }
  }

  @Tag("slow")
  @Test
  void interruptedInMidStreamItLeavesNothingAndSaysNothing() throws Exception {
    try (CommandProcess demo = CommandProcess.start(directory, "demo")) {
      // The second row of progress.
      endAfter(demo, "\n  1 s ");
    }
  }

  @Tag("slow")
  @Test
  void interruptedWhileItStartsItLeavesNothingAndSaysNothing() throws Exception {
    try (CommandProcess demo = CommandProcess.start(directory, "demo")) {
      endAfter(demo, "Starting");
    }
  }

  private void endAfter(CommandProcess demo, String sign) throws Exception {
    Path err = directory.resolve("err");
    await(sign).atMost(START).until(() -> Files.readString(err).contains(sign));
    assertThat(demo.children()).isZero();
    long startNanos = System.nanoTime();
    demo.interrupt();
    Invocation ended = demo.end();
    assertThat(Duration.ofNanos(System.nanoTime() - startNanos)).isLessThan(END);
    assertThat(ended.status()).isEqualTo(130);
    assertThat(ended.out()).isEmpty();
    assertSaysNothingElse(ended);
    assertThat(demo.temporaryFiles()).isEmpty();
  }

  private static void assertSaysNothingElse(Invocation ended) {
    assertThat(ended.err())
        .allMatch(
            line ->
                line.isEmpty()
                    || line.startsWith("Starting a Kafka broker")
                    || line.matches("  (Kafka|Flink)  .*")
                    || line.startsWith("Sending ")
                    || line.startsWith(" time ")
                    || line.matches(" *[0-9]+ s [ 0-9,]*"));
  }
}
