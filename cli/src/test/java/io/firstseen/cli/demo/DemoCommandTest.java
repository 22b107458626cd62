package io.firstseen.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.cli.Invocation;
import io.firstseen.cli.shared.ExitCode;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code firstseen demo}, complete but short, in this JVM. */
class DemoCommandTest {

  /** The quick tier leaves this to {@code .ci/run}. */
  @Tag("slow")
  @Test
  void aDemoEndsWithAllChecksHolding() throws Exception {
    Invocation demo = Invocation.of("demo", "--events=4000", "--rate=4000", "--json");
    assertThat(demo.status()).as("%s", demo).isZero();
    JsonNode json = new ObjectMapper().readTree(String.join("", demo.out()));
    assertThat(json.get("holds").booleanValue()).isTrue();
    assertThat(json.get("events").intValue()).isEqualTo(4_000);
    assertThat(json.get("deadLetters").intValue()).isEqualTo(16);
    assertThat(json.get("accepted").intValue()).isGreaterThan(2_500);
    assertThat(json.get("duplicates").intValue()).isGreaterThan(1_200);
    assertThat(json.get("snapshots").intValue()).isPositive();
    assertThat(json.get("lastSnapshot").get("keys").intValue())
        .isEqualTo(json.get("accepted").intValue() - json.get("removed").intValue());
    assertThat(json.get("checks")).hasSize(8);
  }

  @Test
  void aWebPortThatIsTakenIsOneLine() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("localhost"))) {
      Invocation demo = Invocation.of("demo", "--web-port=" + taken.getLocalPort());
      assertThat(demo.status()).isEqualTo(ExitCode.USAGE);
      assertThat(demo.out()).isEmpty();
      assertThat(demo.err())
          .last()
          .isEqualTo(
              ("firstseen demo: cannot listen on 127.0.0.1:%d: the port is in use:"
                      + " choose another one with --web-port")
                  .formatted(taken.getLocalPort()));
    }
  }

  @Test
  void valuesOutOfBoundsAreOneLine() {
    for (String word : List.of("--events=0", "--rate=0", "--parallelism=17", "--web-port=65536")) {
      Invocation demo = Invocation.of("demo", word);
      assertThat(demo.status()).isEqualTo(ExitCode.USAGE);
      assertThat(demo.err()).singleElement().asString().contains("must be a whole number in [");
    }
    assertThat(Invocation.of("demo", "--state-backend=disk").err())
        .singleElement()
        .asString()
        .contains("must be one of heap, rocksdb, got 'disk'");
  }
}
