package io.firstseen.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchIllegalArgumentException;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SnapshotClientOptionsTest {
  private final SnapshotClientOptions.Builder builder =
      SnapshotClientOptions.builder("localhost:9092", "spam");

  @Test
  void hasDefaults() {
    SnapshotClientOptions options = builder.build();
    assertThat(options.topic()).isEqualTo("firstseen.snapshots");
    assertThat(options.keyHash().isFixedKey()).isTrue();
    assertThat(options.chunkWait()).isEqualTo(Duration.ofSeconds(30));
    assertThat(options.maxUnnamedBytes()).isEmpty();
    assertThat(options.staleAfter()).isEmpty();
    assertThat(options.answerWhileStale()).isTrue();
    assertThat(options.noSnapshotPolicy()).isEqualTo(NoSnapshotPolicy.THROW);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "localhost", "localhost:", "a:1,", "a:1,b", "localhost:123456"})
  void refusesServersThatAreNone(String servers) {
    assertThatThrownBy(() -> SnapshotClientOptions.builder(servers, "spam"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("bootstrapServers", "host:port", "'" + servers + "'");
  }

  @Test
  void acceptsSeveralServersAndIpv6() {
    assertThat(SnapshotClientOptions.builder("a:1, [::1]:9092", "spam").build().bootstrapServers())
        .isEqualTo("a:1, [::1]:9092");
  }

  @Test
  void refusesWhatCannotBe() {
    assertThatThrownBy(() -> SnapshotClientOptions.builder("a:1", "a/b"))
        .hasMessageContaining("a set name must be ");
    assertThat(catchIllegalArgumentException(() -> builder.chunkWait(Duration.ZERO)))
        .hasMessageContainingAll("chunkWait", "longer than 0", "PT0S");
    assertThat(catchIllegalArgumentException(() -> builder.staleAfter(Duration.ofMillis(-1))))
        .hasMessageContainingAll("staleAfter", "longer than 0", "PT-0.001S");
    assertThat(catchIllegalArgumentException(() -> builder.maxUnnamedBytes(1_000)))
        .hasMessageContainingAll("maxUnnamedBytes", "1048576", "got 1000");
  }

  @Test
  void keepsThePropertiesThatMakeItAFollower() {
    assertThat(
            builder
                .kafkaProperties(Map.of("security.protocol", "SSL"))
                .kafkaProperty("fetch.max.bytes", "1000000")
                .build()
                .kafkaProperties())
        .isEqualTo(Map.of("security.protocol", "SSL", "fetch.max.bytes", "1000000"));
    assertThatThrownBy(() -> builder.kafkaProperty("isolation.level", "read_uncommitted"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("isolation.level", "set by the client");
    assertThat(catchIllegalArgumentException(() -> builder.kafkaProperties(Map.of("group.id", ""))))
        .hasMessageContainingAll("group.id", "set by the client");
  }

  @Test
  void clientsThatStartTogetherReadOneTopicAndDifferentSets() {
    SnapshotClientOptions first = SnapshotClientOptions.builder("localhost:1", "a").build();
    SnapshotClientOptions other =
        SnapshotClientOptions.builder("localhost:1", "b").topic("other").build();
    assertThat(catchIllegalArgumentException(() -> SnapshotClient.startAll(List.of())))
        .hasMessageContainingAll("options", "at least one set");
    assertThatThrownBy(() -> SnapshotClient.startAll(List.of(first, first)))
        .hasMessageEndingWith("must follow different sets, got 'a' twice");
    assertThatThrownBy(() -> SnapshotClient.startAll(List.of(first, other)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageEndingWith("but sets 'a' and 'b' do not");
  }
}
