package io.firstseen.consumer.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.consumer.TestPublisher;
import io.firstseen.consumer.TestPublisher.Entry;
import io.firstseen.consumer.TestPublisher.Publication;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.MissingBlobsException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Blobs of a simulated topic of one partition. */
class TopicBlobsTest {
  private static final TopicPartition PARTITION = new TopicPartition("topic", 0);

  private final List<Entry> log = new ArrayList<>();
  private final Map<String, ByteBuffer> stored = new HashMap<>();
  private final Publication publication =
      TestPublisher.of(Following.SET, 4).publish(1, new Random(1).longs(10_000).toArray());
  private final Manifest manifest = publication.manifest();
  private CatchUp loaded;
  private int readings;
  private TopicReading topic;

  private final class SimulatedConsumer extends MockConsumer<byte[], byte[]> {
    private int position;

    SimulatedConsumer() {
      super("none");
    }

    @Override
    public List<PartitionInfo> partitionsFor(String topic, Duration timeout) {
      return List.of(new PartitionInfo(topic, 0, null, null, null));
    }

    @Override
    public Map<TopicPartition, Long> endOffsets(
        Collection<TopicPartition> partitions, Duration timeout) {
      return Map.of(PARTITION, (long) log.size());
    }

    @Override
    public synchronized void seekToBeginning(Collection<TopicPartition> partitions) {
      position = 0;
      readings++;
    }

    @Override
    public synchronized long position(TopicPartition partition, Duration timeout) {
      return position;
    }

    @Override
    public synchronized ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
      Entry entry = log.get(position);
      byte[] key = entry.key().getBytes(StandardCharsets.UTF_8);
      return new ConsumerRecords<>(
          Map.of(
              PARTITION, List.of(new ConsumerRecord<>("topic", 0, position++, key, entry.value()))),
          Map.of());
    }
  }

  @BeforeEach
  void open() throws Exception {
    TopicFollower.Connections connections =
        new TopicFollower.Connections() {
          @Override
          public Consumer<byte[], byte[]> consumer(Map<String, Object> properties) {
            return new SimulatedConsumer();
          }

          @Override
          public TopicIdentity identity(String topic, Map<String, Object> properties) {
            throw new UnsupportedOperationException();
          }
        };
    topic =
        new TopicReading(
            "topic", Map.of(), ChronoUnit.FOREVER.getDuration(), (bytes, left) -> {}, connections);
    assertThat(topic.exists()).isTrue();
  }

  /** Reads the topic once, and loads the set from what was kept and stored. */
  private void load(long maxBytes) throws Exception {
    TopicBlobs blobs = new TopicBlobs(topic, Following.SET, maxBytes);
    topic.readAll(blobs::accept);
    blobs.load(
        loader ->
            loaded =
                CatchUp.to(
                    manifest,
                    List.of(),
                    blob ->
                        stored.containsKey(blob.digest())
                            ? stored.get(blob.digest())
                            : loader.load(blob)),
        (blob, bytes) -> stored.put(blob.digest(), bytes));
  }

  @Test
  void oneReadingIsEnoughWithinTheBound() throws Exception {
    log.addAll(TestPublisher.of("other", 4).publish(1, "a").entries());
    log.addAll(publication.entries());
    load(1 << 20);
    assertThat(loaded.way()).isEqualTo(CatchUp.Way.BASES);
    assertThat(readings).isEqualTo(1);
    assertThat(stored).isEmpty();
  }

  @Test
  void whatDidNotFitIsReadAgainAndStored() throws Exception {
    log.addAll(publication.entries());
    load(10_000);
    assertThat(loaded.set().manifest()).isEqualTo(manifest);
    assertThat(stored).isNotEmpty();
    // The pack, the list of bases and the bases at most.
    assertThat(readings).isBetween(2, 4);
  }

  @Test
  void anotherCopyCuresDamageAndWithoutOneTheBlobIsMissing() throws Exception {
    Entry pack = publication.pack().get(0);
    log.addAll(publication.bases());
    log.add(pack.damaged());
    BlobReference reference = manifest.pack();
    assertThatThrownBy(() -> load(1 << 20))
        .isInstanceOfSatisfying(
            MissingBlobsException.class, e -> assertThat(e.blobs()).containsExactly(reference));
    assertThat(loaded).isNull();
    log.add(pack);
    load(1 << 20);
    assertThat(loaded.set().manifest()).isEqualTo(manifest);
  }
}
