package io.firstseen.cli.consumer;

import static org.awaitility.Awaitility.await;

import io.firstseen.embedded.EmbeddedBroker;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.fixtures.SetPublisher;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
  private final Map<String, SetPublisher> publishers = new HashMap<>();
  private final Map<TopicPartition, Long> lastOffsets = new HashMap<>();

  // More than any window here has, so that no two windows have the same position.
  private static final long BYTES_OF_A_WINDOW = 1L << 32;
  private static final int PARTITIONS = 2;

  /** Creates the set's topic. */
  public static void createTopic(EmbeddedBroker broker, String topic) {
    broker.createTopics(
        List.of(
            new NewTopic(topic, PARTITIONS, (short) 1)
                .configs(Map.of("cleanup.policy", "compact"))));
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

  /** Writes and commits the next window of a chain of packs, with some keys. */
  public void publish(long sequence, String... keys) throws Exception {
    publishAs(SET, sequence, keys);
  }

  /** Like {@link #publish}, of another set. */
  void publishAs(String setName, long sequence, String... keys) throws Exception {
    SetPublisher publisher =
        publishers.computeIfAbsent(setName, name -> publisher(name, KeyHash.fixed(), sequence));
    publish(publisher, sequence, keys);
  }

  /** Publishes a set of match expressions in canonical form. */
  void publishList(String setName, long sequence, String... expressions) throws Exception {
    publish(
        publishers.computeIfAbsent(
            setName,
            name -> publisher(name, KeyHash.fixed(), Canonicaliser.URL_EXPRESSION, sequence)),
        sequence,
        expressions);
  }

  /** Like {@link #publish}, of a chain that was begun before this writer was opened. */
  void publish(SetPublisher publisher, long sequence, String... keys) throws Exception {
    begin(Window.of(publisher.publish(sequence, sequence, sequence + 1, hashes(keys))));
    commit();
  }

  static long[] hashes(String... keys) {
    return Arrays.stream(keys)
        .mapToLong(key -> KeyHash.fixed().hash(key.getBytes(StandardCharsets.UTF_8)))
        .toArray();
  }

  /** Writes a {@link #window} and leaves the transaction open. */
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
  record Written(int partition, String key, byte[] value) {

    /** A manifest of the set. */
    static Written manifest(byte[] value) {
      return new Written(0, SET, value);
    }

    /** The same record with another value. */
    Written with(byte[] other) {
      return new Written(partition, key, other);
    }
  }

  /** The records of a window: the chunks of its blobs, then its manifest. */
  record Window(List<Written> chunks, Manifest manifest) {

    static Window of(SetPublisher.Window published) throws SnapshotException {
      List<Written> chunks = new ArrayList<>();
      for (byte[] blob : published.blobs()) {
        int partition =
            SnapshotTopicFormat.partitionOf(
                BlobFrame.read(ByteBuffer.wrap(blob)).kind(), PARTITIONS);
        String digest = BlobReference.to(blob).digest();
        for (int index = 0; index < SnapshotTopicFormat.chunkCount(blob.length); index++) {
          chunks.add(
              new Written(
                  partition,
                  SnapshotTopicFormat.chunkKey(digest, index),
                  SnapshotTopicFormat.chunk(blob, index)));
        }
      }
      return new Window(chunks, published.manifest());
    }

    Written manifestRecord() {
      return new Written(0, manifest.setName(), manifest.toBytes());
    }
  }

  /** A window that restarts a chain of packs: a base, a list, a pack. */
  static Window window(long sequence, KeyHash keyHash, long[] hashes) throws SnapshotException {
    return Window.of(
        publisher(SET, keyHash, sequence).publish(sequence, sequence, sequence + 1, hashes));
  }

  /** A publisher of a set of one shard, whose packs no older chain leads to. */
  static SetPublisher publisher(String setName, KeyHash keyHash, long sequence) {
    return publisher(setName, keyHash, Canonicaliser.NONE, sequence);
  }

  private static SetPublisher publisher(
      String setName, KeyHash keyHash, Canonicaliser canonicaliser, long sequence) {
    return new SetPublisher(
        setName,
        SetParameters.of(keyHash, canonicaliser, new Shards(1), 1e-9),
        sequence * BYTES_OF_A_WINDOW);
  }

  /** Writes and commits any bytes as the manifest of the set. */
  public void publishAsManifest(byte[] value) throws Exception {
    write(List.of(Written.manifest(value)));
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
    long offset =
        producer
            .send(new ProducerRecord<>(topic, each.partition, each.key, each.value))
            .get()
            .offset();
    lastOffsets.put(new TopicPartition(topic, each.partition), offset);
  }

  /** Commits, and waits until readers see it: the broker writes the marker later. */
  void commit() throws Exception {
    producer.commitTransaction();
    for (Map.Entry<TopicPartition, Long> last : lastOffsets.entrySet()) {
      TopicPartition partition = last.getKey();
      await("what was committed can be read")
          .atMost(Duration.ofMinutes(1))
          .until(
              () ->
                  admin
                          .listOffsets(
                              Map.of(partition, OffsetSpec.latest()),
                              new ListOffsetsOptions(IsolationLevel.READ_COMMITTED))
                          .partitionResult(partition)
                          .get()
                          .offset()
                      > last.getValue());
    }
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
