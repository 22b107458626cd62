package io.firstseen.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests how calls share clients; {@link KafkaExamplesTest} tests their results. */
class SnapshotContainsTest {
  @TempDir private Path directory;

  @Test
  void anotherKeyInTheFileIsAnotherClient() throws Exception {
    Path file = directory.resolve("key");
    SnapshotContains.Source source =
        new SnapshotContains.Source(
            "localhost:1", "topic", "set", Map.of(), null, file.toString(), List.of());
    Files.writeString(file, "00".repeat(16));
    SnapshotContains.Shared first = acquire(source);
    assertThat(acquire(source)).isSameAs(first);
    Files.writeString(file, "01".repeat(16));
    SnapshotContains.Shared second = acquire(source);
    assertThat(second).isNotSameAs(first);
    assertThat(SnapshotContains.clients()).isEqualTo(2);
    SnapshotContains.release(first);
    assertThat(SnapshotContains.clients()).isEqualTo(2);
    SnapshotContains.release(first);
    assertThat(SnapshotContains.clients()).isEqualTo(1);
    SnapshotContains.release(second);
    assertThat(SnapshotContains.clients()).isZero();
  }

  private static SnapshotContains.Shared acquire(SnapshotContains.Source source) throws Exception {
    return SnapshotContains.acquire(source, source.keyHash(), List.of());
  }
}
