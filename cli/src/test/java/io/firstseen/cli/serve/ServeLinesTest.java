package io.firstseen.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.server.http.RequestObserver;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class ServeLinesTest {
  private static final int REQUESTS = 30_000;

  /** As {@code serve --access-log | less} does, or Ctrl-S. */
  @Test
  void whoDoesNotReadTheLinesStopsNobody() throws Exception {
    CountDownLatch reads = new CountDownLatch(1);
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    PrintWriter stalled =
        new PrintWriter(out) {
          @Override
          public void flush() {
            awaitQuietly(reads);
          }
        };
    CommandLine verb =
        new CommandLine(new ServeCommand()).setOut(stalled).setErr(new PrintWriter(err, true));
    try (ServeLines lines = new ServeLines(verb, false, false, true)) {
      for (int i = 0; i < REQUESTS; i++) {
        request(lines);
      }
      reads.countDown();
      while (!err.toString().contains("omitted")) {
        request(lines);
        TimeUnit.MILLISECONDS.sleep(1);
      }
    }
    Matcher leftOut = Pattern.compile("(\\d+) lines were omitted, because").matcher(err.toString());
    assertThat(leftOut.find()).isTrue();
    assertThat(Integer.parseInt(leftOut.group(1))).isGreaterThan(REQUESTS / 2);
    assertThat(out.toString()).contains("127.0.0.1 GET /v1/contains 200 12 0.001");
  }

  private static void request(ServeLines lines) {
    lines.onRequest(
        new RequestObserver.Answered(
            new InetSocketAddress("127.0.0.1", 1),
            "GET",
            "/v1/contains",
            "contains",
            200,
            12,
            1_000));
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
