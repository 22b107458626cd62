package io.firstseen.cli.consumer;

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
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Writes snapshots of a set of one shard to a topic, in transactions. */
final class SnapshotWriter implements AutoCloseable {
  static final String SET = "spam";
  static final String TOPIC = "firstseen.snapshots";

  private static final SetParameters PARAMETERS =
      SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), 1e-9);

  private final KafkaProducer<String, byte[]> producer;

  SnapshotWriter(EmbeddedBroker broker) {
    producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", broker.bootstrapServers(), "transactional.id", "writer"),
            new StringSerializer(),
            new ByteArraySerializer());
    producer.initTransactions();
  }

  /** Writes and commits the snapshot of some keys. */
  void publish(long sequence, String... keys) throws Exception {
    begin(sequence, hashes(keys));
    commit();
  }

  /** The same, but two manifests that cannot be read stand between the blob and its manifest. */
  void publishWithNoise(long sequence, String... keys) throws Exception {
    Manifest manifest = beginWithBlob(sequence, hashes(keys));
    send(SET, new byte[] {'?'});
    send(SET, new byte[] {'?'});
    send(SET, manifest.toJson());
    commit();
  }

  static long[] hashes(String... keys) {
    return Arrays.stream(keys)
        .mapToLong(key -> KeyHash.fixed().hash(key.getBytes(StandardCharsets.UTF_8)))
        .toArray();
  }

  /** Writes the snapshot of some hashes and leaves the transaction open. */
  void begin(long sequence, long[] hashes) throws Exception {
    send(SET, beginWithBlob(sequence, hashes).toJson());
  }

  private Manifest beginWithBlob(long sequence, long[] hashes) throws Exception {
    Snapshot snapshot =
        Snapshot.build(
            hashes, new SnapshotParameters(PARAMETERS, SET, 0, sequence, sequence, sequence + 1));
    long count = LongStream.of(hashes).distinct().count();
    ManifestShard shard = ManifestShard.of(0, count, BlobReference.to(snapshot));
    Manifest manifest =
        Manifest.of(SET, sequence, sequence, sequence + 1, PARAMETERS, List.of(shard));
    byte[] blob = snapshot.toBytes();
    producer.beginTransaction();
    for (int index = 0; index < SnapshotTopicFormat.chunkCount(blob.length); index++) {
      send(
          SnapshotTopicFormat.chunkKey(snapshot.digest(), index),
          SnapshotTopicFormat.chunk(blob, index));
    }
    return manifest;
  }

  private void send(String key, byte[] value) throws Exception {
    producer.send(new ProducerRecord<>(TOPIC, key, value)).get();
  }

  void commit() {
    producer.commitTransaction();
  }

  void abort() {
    producer.abortTransaction();
  }

  @Override
  public void close() {
    producer.close();
  }
}
