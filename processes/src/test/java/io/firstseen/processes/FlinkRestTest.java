package io.firstseen.processes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Against a server that answers as a cluster does. */
class FlinkRestTest {
  private final Deque<String> statuses = new ArrayDeque<>();
  private HttpServer server;
  private FlinkRest rest;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          String status = statuses.size() > 1 ? statuses.poll() : statuses.peek();
          String answer =
              exchange.getRequestURI().getPath().endsWith("/exceptions")
                  ? "{}"
                  : "{\"state\":\"RUNNING\",\"vertices\":[{\"status\":\"RUNNING\"},{\"status\":\"%s\"}]}"
                      .formatted(status);
          byte[] bytes = answer.getBytes(UTF_8);
          exchange.sendResponseHeaders(200, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    server.start();
    rest = new FlinkRest(URI.create("http://127.0.0.1:" + server.getAddress().getPort()));
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  @Test
  void theTimeInWhichTasksRestoreTheirStateDoesNotCount() throws IOException {
    for (int i = 0; i < 8; i++) {
      statuses.add("INITIALIZING");
    }
    statuses.add("RUNNING");
    long before = System.nanoTime();
    rest.awaitRunning("job", Duration.ofMillis(100));
    assertThat(System.nanoTime() - before).isGreaterThan(Duration.ofMillis(200).toNanos());
  }

  @Test
  void aTaskThatDoesNotStartIsGivenUp() {
    statuses.add("SCHEDULED");
    assertThatThrownBy(() -> rest.awaitRunning("job", Duration.ofMillis(100)))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("job job", "RUNNING", "not all of its tasks");
  }
}
