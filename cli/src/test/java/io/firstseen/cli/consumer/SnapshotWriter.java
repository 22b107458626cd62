package io.firstseen.cli.consumer;

import io.firstseen.cli.Waiting;
import io.firstseen.cli.embedded.EmbeddedBroker;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestShard;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Writes snapshots of a set of one shard to a topic, in transactions. */
public final class SnapshotWriter implements AutoCloseable {
  /** The set. */
  public static final String SET = "spam";

  private final String topic;
  private final KafkaProducer<String, byte[]> producer;
  private final Admin admin;
  private long lastOffset;

  /** Creates the set's topic, with one partition. */
  public static void createTopic(EmbeddedBroker broker, String topic) {
    broker.createTopics(
        List.of(new NewTopic(topic, 1, (short) 1).configs(Map.of("cleanup.policy", "compact"))));
  }

  /** Opens a writer to a topic; an earlier one ends. */
  public SnapshotWriter(EmbeddedBroker broker, String topic) {
    this.topic = topic;
    this.producer =
        new KafkaProducer<>(
            Map.of(
                "bootstrap.servers",
                broker.bootstrapServers(),
                "transactional.id",
                "writer-of-" + topic),
            new StringSerializer(),
            new ByteArraySerializer());
    producer.initTransactions();
    this.admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()));
  }

  /** Writes and commits the snapshot of some keys. */
  public void publish(long sequence, String... keys) throws Exception {
    begin(sequence, hashes(keys));
    commit();
  }

  /** Writes and commits the snapshot of some keys of another set. */
  void publishAs(String setName, long sequence, String... keys) throws Exception {
    begin(window(setName, sequence, KeyHash.fixed(), hashes(keys)));
    commit();
  }

  /** Like {@link #publish}, with two unreadable manifests between the blob and its manifest. */
  void publishWithNoise(long sequence, String... keys) throws Exception {
    Window window = window(sequence, KeyHash.fixed(), hashes(keys));
    List<Written> records = new ArrayList<>(window.chunks);
    records.add(new Written(SET, new byte[] {'?'}));
    records.add(new Written(SET, new byte[] {'?'}));
    records.add(window.manifestRecord());
    write(records);
  }

  static long[] hashes(String... keys) {
    return Arrays.stream(keys)
        .mapToLong(key -> KeyHash.fixed().hash(key.getBytes(StandardCharsets.UTF_8)))
        .toArray();
  }

  /** Writes the snapshot of some hashes and leaves the transaction open. */
  void begin(long sequence, long[] hashes) throws Exception {
    begin(window(sequence, KeyHash.fixed(), hashes));
  }

  private void begin(Window window) throws Exception {
    producer.beginTransaction();
    for (Written each : window.chunks) {
      send(each);
    }
    send(window.manifestRecord());
  }

  /** A record of the topic. */
  @SuppressWarnings("ArrayRecordComponent")
  record Written(String key, byte[] value) {}

  /** The records of a window: the chunks of its blob, then its manifest. */
  record Window(List<Written> chunks, Manifest manifest) {

    Written manifestRecord() {
      return new Written(manifest.setName(), manifest.toJson());
    }
  }

  /** The records that {@link #publish} would write, under the given hash. */
  static Window window(long sequence, KeyHash keyHash, long[] hashes) {
    return window(SET, sequence, keyHash, hashes);
  }

  private static Window window(String setName, long sequence, KeyHash keyHash, long[] hashes) {
    SetParameters parameters = SetParameters.of(keyHash, Canonicaliser.NONE, new Shards(1), 1e-9);
    Snapshot snapshot =
        Snapshot.build(
            hashes,
            new SnapshotParameters(parameters, setName, 0, sequence, sequence, sequence + 1));
    ManifestShard shard =
        ManifestShard.of(0, LongStream.of(hashes).distinct().count(), BlobReference.to(snapshot));
    List<Written> chunks = new ArrayList<>();
    byte[] blob = snapshot.toBytes();
    for (int index = 0; index < SnapshotTopicFormat.chunkCount(blob.length); index++) {
      chunks.add(
          new Written(
              SnapshotTopicFormat.chunkKey(snapshot.digest(), index),
              SnapshotTopicFormat.chunk(blob, index)));
    }
    return new Window(
        chunks, Manifest.of(setName, sequence, sequence, sequence + 1, parameters, List.of(shard)));
  }

  /** Writes and commits any bytes as the manifest of the set. */
  public void publishAsManifest(byte[] value) throws Exception {
    write(List.of(new Written(SET, value)));
  }

  /** Writes and commits records in this order. */
  void write(List<Written> records) throws Exception {
    producer.beginTransaction();
    for (Written each : records) {
      send(each);
    }
    commit();
  }

  private void send(Written each) throws Exception {
    lastOffset = producer.send(new ProducerRecord<>(topic, each.key, each.value)).get().offset();
  }

  /** Commits, and waits until readers see it: the broker writes the marker later. */
  void commit() throws Exception {
    producer.commitTransaction();
    TopicPartition partition = new TopicPartition(topic, 0);
    Waiting.until(
        "what was committed can be read",
        Duration.ofMinutes(1),
        () ->
            admin
                    .listOffsets(
                        Map.of(partition, OffsetSpec.latest()),
                        new ListOffsetsOptions(IsolationLevel.READ_COMMITTED))
                    .partitionResult(partition)
                    .get()
                    .offset()
                > lastOffset);
  }

  void abort() {
    producer.abortTransaction();
  }

  @Override
  public void close() {
    producer.close();
    admin.close();
  }
}
