package io.firstseen.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.cli.shared.Progress;
import io.firstseen.jobs.OutcomeCounts;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DemoProgressTest {
  private final StringWriter err = new StringWriter();

  @AfterEach
  void forgetTheTerminal() {
    System.clearProperty(Progress.TERMINAL_PROPERTY);
  }

  private void showTwice() {
    try (DemoProgress progress = new DemoProgress(new PrintWriter(err))) {
      progress.show(OutcomeCounts.of(Map.of()), 0, 0);
      progress.show(OutcomeCounts.of(Map.of()), 12, 3_456);
    }
  }

  @Test
  void elsewhereALineIsWrittenNotMoreOftenThanEachSecond() {
    showTwice();
    assertThat(err.toString().lines())
        .containsExactly(
            " time  events/s  accepted  duplicates  deleted  dead letters  snapshots     keys",
            "  0 s         0         0           0        0             0          0        0");
  }

  @Test
  void onATerminalOneLineIsWrittenOverAndStaysInTheEnd() {
    System.setProperty(Progress.TERMINAL_PROPERTY, "true");
    showTwice();
    assertThat(err.toString()).contains("keys\n\r\u001b[K  0 s").endsWith("\n");
  }
}
