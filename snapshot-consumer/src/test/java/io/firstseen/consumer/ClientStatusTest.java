package io.firstseen.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.snapshot.SnapshotSet;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ClientStatusTest {
  private long offset;
  private final AtomicLong clock = new AtomicLong(1_000_000);
  private final TestPublisher publisher = TestPublisher.of("spam", 4).publishingAt(clock::get);

  @Test
  void tellsWhatBelongsTogether() {
    SnapshotClient client =
        new SnapshotClient(
            SnapshotClientOptions.builder("localhost:9092", "spam").build(), clock::get);
    assertThat(client.status().state()).isEqualTo(ClientState.EMPTY);
    assertThat(client.status().snapshot()).isEmpty();
    assertThat(client.status().trouble()).isEmpty();

    publish(client, 1, "a");
    ClientStatus first = client.status();
    assertThat(first.state()).isEqualTo(ClientState.READY);
    assertThat(sequence(first)).isEqualTo(1);
    assertThat(first.publishedMillis()).isEqualTo(1_000_000);

    clock.addAndGet(5);
    publish(client, 2, "a", "b");
    assertThat(sequence(client.status())).isEqualTo(2);
    assertThat(client.status().publishedMillis()).isEqualTo(1_000_005);
    // A status does not change after it was returned.
    assertThat(sequence(first)).isEqualTo(1);

    client.reader().unreachable("no answer");
    assertThat(client.status().trouble()).contains("no answer");
    assertThat(sequence(client.status())).isEqualTo(2);
  }

  private void publish(SnapshotClient client, long sequence, String... keys) {
    publisher
        .publish(sequence, keys)
        .entries()
        .forEach(entry -> client.reader().accept(offset++, entry.key(), entry.value()));
    client.reader().settle();
  }

  private static long sequence(ClientStatus status) {
    return status.snapshot().map(SnapshotSet::manifest).orElseThrow().sequence();
  }
}
