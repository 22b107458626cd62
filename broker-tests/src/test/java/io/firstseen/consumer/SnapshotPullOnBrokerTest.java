package io.firstseen.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.embedded.SharedBroker;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.fixtures.SnapshotWriter;
import io.firstseen.fixtures.SnapshotWriter.Window;
import io.firstseen.fixtures.SnapshotWriter.Written;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A pull from a topic with invalid manifests, or with deleted blobs. */
class SnapshotPullOnBrokerTest {
  private static final SigningKey TRUSTED = SigningKey.generate();

  @RegisterExtension private static final SharedBroker KAFKA = SharedBroker.tuned();

  @TempDir private Path directory;
  private final String topic = SharedBroker.unused("pull");
  private final List<String> refusals = new ArrayList<>();

  @BeforeEach
  void createTopic() {
    SnapshotWriter.createTopic(KAFKA.broker(), topic);
  }

  private SnapshotPull.Result pull(Path output) throws Exception {
    SnapshotListener listener =
        new SnapshotListener() {
          @Override
          public void onRefused(String reason) {
            refusals.add(reason);
          }
        };
    return SnapshotPull.pull(
        SnapshotClientOptions.builder(KAFKA.servers(), SnapshotWriter.SET)
            .topic(topic)
            .trustedKeys(Set.of(TRUSTED.publicKey()))
            .listener(listener)
            .followingOnly()
            .build(),
        output,
        Duration.ofMinutes(1));
  }

  private static Window window(long sequence) throws SnapshotException {
    return SnapshotWriter.window(
        sequence, KeyHash.fixed(), SnapshotWriter.hashes("key-" + sequence));
  }

  private static Written manifest(long sequence) throws SnapshotException {
    return Written.manifest(TRUSTED.sign(window(sequence).manifest()).toBytes());
  }

  private static List<Written> records(long sequence) throws SnapshotException {
    List<Written> records = new ArrayList<>(window(sequence).chunks());
    records.add(manifest(sequence));
    return records;
  }

  @Test
  void takesTheHighestThatATrustedKeySigned() throws Exception {
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic)) {
      writer.write(records(5));
      writer.write(List.of(Written.manifest(null)));
      writer.write(records(2));
      writer.write(records(3));
      writer.publishAsManifest(window(9).manifest().toBytes());
    }
    assertThat(pull(directory.resolve("pulled")).manifest().sequence()).isEqualTo(5);
    assertThat(refusals)
        .containsExactly(
            "1 manifests of set 'spam' on the topic do not count, the last because the manifest"
                + " has no signature");
  }

  @Test
  void takesTheNextHighestIfBlobsOfTheHighestAreGone() throws Exception {
    Path output = directory.resolve("pulled");
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic)) {
      writer.write(records(4));
      writer.write(List.of(manifest(5)));
      SnapshotPull.Result result = pull(output);
      assertThat(result.manifest().sequence()).isEqualTo(4);
      assertThat(result.isNew()).isTrue();
      assertThat(refusals)
          .singleElement()
          .asString()
          .startsWith("1 of the blobs of sequence 5 of set 'spam' are not on the topic, such as ")
          .endsWith("try again; sequence 4 is fetched instead");
      // Nothing is newer than what the directory holds.
      assertThatThrownBy(() -> pull(output))
          .isInstanceOf(SnapshotException.class)
          .hasMessageContaining("of sequence 5 of set 'spam' are not on the topic");
      writer.write(window(5).chunks());
      assertThat(pull(output).manifest().sequence()).isEqualTo(5);
    }
  }
}
