package io.firstseen.cli.shared;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ProgressTest {

  private final StringWriter err = new StringWriter();

  @AfterEach
  void noTerminal() {
    System.clearProperty(Progress.TERMINAL_PROPERTY);
  }

  @Test
  void onATerminalOneLineIsWrittenOverAndOverAndWiped() {
    System.setProperty(Progress.TERMINAL_PROPERTY, "true");
    try (Progress progress = new Progress(new PrintWriter(err), 0)) {
      progress.show(() -> "1 lines");
      progress.show(() -> "2 lines");
    }
    assertThat(err.toString()).isEqualTo("\r\u001b[K1 lines\r\u001b[K2 lines\r\u001b[K");
  }

  @Test
  void linesComeNoFasterThanTheInterval() {
    System.setProperty(Progress.TERMINAL_PROPERTY, "true");
    try (Progress progress = new Progress(new PrintWriter(err), Long.MAX_VALUE / 1_000_000)) {
      progress.show(() -> "1 lines");
    }
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void aWarningHasALineOfItsOwn() {
    System.setProperty(Progress.TERMINAL_PROPERTY, "true");
    try (Progress progress = new Progress(new PrintWriter(err), 0)) {
      progress.show(() -> "1 lines");
      progress.warn("it rains");
    }
    assertThat(err.toString())
        .isEqualTo("\r\u001b[K1 lines\r\u001b[Kwarning: it rains" + System.lineSeparator());
  }

  @Test
  void elsewhereNothingIsWritten() {
    try (Progress progress = new Progress(new PrintWriter(err), 0)) {
      progress.show(() -> "1 lines");
    }
    assertThat(err.toString()).isEmpty();
  }
}
