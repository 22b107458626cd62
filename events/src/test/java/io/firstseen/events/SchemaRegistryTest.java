package io.firstseen.events;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SchemaRegistryTest {
  private static final String NO_VARIABLE = "FIRSTSEEN_NO_SUCH_VARIABLE";
  private static final String LONG = "200 {\"schema\":\"\\\"long\\\"\"}";
  private static final String ABSENT = "404 {\"error_code\":40403,\"message\":\"x\"}";

  // The responses of the server, in order; the last response is repeated.
  private final List<String> answers = Collections.synchronizedList(new ArrayList<>());
  private final List<String> requests = Collections.synchronizedList(new ArrayList<>());
  private HttpServer server;

  private static final class SettableClock extends Clock implements Serializable {
    private static final long serialVersionUID = 1;
    private static long millis;

    @Override
    public Instant instant() {
      return Instant.ofEpochMilli(millis);
    }

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }
  }

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          requests.add(
              exchange.getRequestURI()
                  + " "
                  + exchange.getRequestHeaders().getFirst("Authorization"));
          String answer = answers.size() > 1 ? answers.remove(0) : answers.get(0);
          byte[] body = answer.substring(4).getBytes(UTF_8);
          exchange.sendResponseHeaders(Integer.parseInt(answer.substring(0, 3)), body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private SchemaRegistry registry(String path, String variable) {
    return new SchemaRegistry(
        URI.create("http://localhost:" + server.getAddress().getPort() + path),
        1,
        variable,
        new SettableClock());
  }

  @Test
  void aSchemaIsAskedForOnce() throws Exception {
    answers.add(LONG);
    SchemaRegistry registry = InstantiationUtil.clone(registry("/api", NO_VARIABLE));
    assertThat(registry.of(7).getType()).isEqualTo(Schema.Type.LONG);
    assertThat(registry.of(7).getType()).isEqualTo(Schema.Type.LONG);
    registry.of(Integer.MAX_VALUE);
    assertThat(requests)
        .containsExactly("/api/schemas/ids/7 null", "/api/schemas/ids/2147483647 null");
  }

  /** As where one node of a registry knows a schema before the others. */
  @Test
  void aSchemaThatIsNotThereYetIsAskedForAgain() throws Exception {
    answers.add(ABSENT);
    answers.add("503 ");
    answers.add(ABSENT);
    answers.add(LONG);
    assertThat(registry("/", NO_VARIABLE).of(7).getType()).isEqualTo(Schema.Type.LONG);
    assertThat(requests).hasSize(4);
  }

  @Test
  void thatASchemaIsNotThereCountsForAWhile() throws Exception {
    answers.add(ABSENT);
    SchemaRegistry registry = registry("/", NO_VARIABLE);
    assertDeadLetter(registry, 7, "schema 7", "not in the registry");
    assertThat(requests).hasSize(SchemaRegistry.ATTEMPTS);
    answers.set(0, LONG);
    SettableClock.millis += SchemaRegistry.ABSENCE.toMillis() - 1;
    assertDeadLetter(registry, 7, "schema 7", "not in the registry");
    assertThat(requests).hasSize(SchemaRegistry.ATTEMPTS);
    SettableClock.millis++;
    assertThat(registry.of(7).getType()).isEqualTo(Schema.Type.LONG);
    SettableClock.millis += 1_000_000;
    assertThat(registry.of(7).getType()).isEqualTo(Schema.Type.LONG);
    assertThat(requests).hasSize(SchemaRegistry.ATTEMPTS + 1);
  }

  @Test
  void anIdThatCannotBeIsNotAskedFor() {
    answers.add("400 ");
    SchemaRegistry registry = registry("/", NO_VARIABLE);
    assertDeadLetter(registry, 0, "schema id", "at least 1", "got 0");
    assertDeadLetter(registry, Integer.MIN_VALUE, "schema id", "at least 1", "-2147483648");
    assertThat(requests).isEmpty();
  }

  private static void assertDeadLetter(SchemaRegistry registry, int id, String... facts) {
    assertThatThrownBy(() -> registry.of(id))
        .isInstanceOf(MalformedEventException.class)
        .hasMessageContainingAll(facts);
  }

  /** It is not read to its end, which does not come. */
  @ParameterizedTest
  @ValueSource(ints = {200, 404})
  void anAnswerWithoutAnEndIsReadUpToTheBound(int status) {
    server.createContext(
        "/endless/",
        exchange -> {
          exchange.sendResponseHeaders(status, 0);
          try (OutputStream body = exchange.getResponseBody()) {
            while (true) {
              body.write(new byte[1 << 16]);
            }
          }
        });
    SchemaRegistry registry = registry("/endless", NO_VARIABLE);
    if (status == 200) {
      assertDeadLetter(registry, 7, "schema 7", "4194304 bytes");
    } else {
      assertThatThrownBy(() -> registry.of(7))
          .isInstanceOf(UncheckedIOException.class)
          .hasMessageEndingWith("responds with status 404 and no schema: check the address");
    }
  }

  /** PATH stands for the variable, since a test cannot set one. */
  @Test
  void theUserIsSentAsTheEnvironmentSays() throws Exception {
    answers.add(LONG);
    registry("/", "PATH").of(7);
    String basic = Base64.getEncoder().encodeToString(System.getenv("PATH").getBytes(UTF_8));
    assertThat(requests).containsExactly("/schemas/ids/7 Basic " + basic);
    assertThatThrownBy(() -> registry("/", "HOME").of(7))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll("HOME", "user:password", "colon");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "400 {} | schema 7 cannot be requested: the registry responds with status 400",
        "422 x | schema 7 cannot be requested: the registry responds with status 422",
        "200 {\"schema\":\"message M{}\",\"schemaType\":\"PROTOBUF\"}"
            + " | schema 7 must be an Avro schema, its type is PROTOBUF",
        "200 {\"schema\":\"\\\"R\\\"\",\"references\":[{\"name\":\"R\"}]}"
            + " | schema 7 must not have references",
        "200 {\"schema\":\"\\\"R\\\"\"} | schema 7 is unusable: it refers to an undefined type",
      })
  void aSchemaThatCannotBeUsedIsTheFaultOfTheValueAndAskedForOnce(String answer, String problem) {
    answers.add(answer);
    SchemaRegistry registry = registry("/", NO_VARIABLE);
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> registry.of(7))
          .isInstanceOf(MalformedEventException.class)
          .hasMessageStartingWith(problem);
    }
    assertThat(requests).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "404 {\"error_code\":404} | responds with status 404 and no schema: check the address",
        "404 not found | responds with status 404 and no schema: check the address",
        "200 {} | responds with status 200 and no schema: check the address",
        "302 | responds with status 302 and no schema: check the address",
        "403 {} | rejects the request with status 403: set FIRSTSEEN_NO_SUCH_VARIABLE to"
            + " user:password for every TaskManager",
        "401 {} | rejects the request with status 401: set FIRSTSEEN_NO_SUCH_VARIABLE to"
            + " user:password for every TaskManager",
      })
  void aWrongAddressOrUserFailsTheJob(String answer, String sentence) {
    answers.add(answer + " ");
    SchemaRegistry registry = registry("/", NO_VARIABLE);
    assertFails(registry, sentence);
    assertThat(requests).hasSize(1);
    // The registry is requested again.
    assertFails(registry, sentence);
  }

  @Test
  void anAnswerThatDoesNotComeIsAskedForAFewTimes() throws Exception {
    answers.add("500 ");
    answers.add("429 ");
    answers.add("503 ");
    answers.add(LONG);
    assertThat(registry("/", NO_VARIABLE).of(7).getType()).isEqualTo(Schema.Type.LONG);
    assertThat(requests).hasSize(4);

    answers.clear();
    answers.add("503 ");
    requests.clear();
    assertFails(
        registry("/", NO_VARIABLE),
        "cannot be read, after 4 attempts: it responds with status " + "503");
    assertThat(requests).hasSize(4);
    server.stop(0);
    assertFails(registry("/", NO_VARIABLE), "cannot be read, after 4 attempts: java.net.Connect");
  }

  private void assertFails(SchemaRegistry registry, String sentence) {
    assertThatThrownBy(() -> registry.of(7))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining(
            "the schema registry at http://localhost:"
                + server.getAddress().getPort()
                + "/ "
                + sentence);
  }
}
