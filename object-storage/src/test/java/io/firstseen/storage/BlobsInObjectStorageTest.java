package io.firstseen.storage;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.embedded.EmbeddedBroker;
import io.firstseen.embedded.EmbeddedCluster;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestBlobs;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.jobs.JobMain;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.plugin.DefaultPluginManager;
import org.apache.flink.core.plugin.DirectoryBasedPluginFinder;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests {@code --blob-dir} with a local directory and an S3 server, across a failure, on a real
 * broker.
 */
class BlobsInObjectStorageTest {
  private static final int SECONDS = Integer.getInteger("firstseen.scale", 1) > 1 ? 12 : 6;
  // A pack, a list of bases and the base of a shard.
  private static final int REPLACED = 3;

  @TempDir private static Path directory;
  private static StorageServer server;
  private static EmbeddedBroker kafka;
  private static EmbeddedCluster cluster;

  @BeforeAll
  static void start() throws Exception {
    Files.createDirectories(directory.resolve("buckets/bucket"));
    Files.createDirectories(directory.resolve("buckets/state"));
    server = StorageServer.start(directory, directory.resolve("buckets"));
    kafka = EmbeddedBroker.start(directory.resolve("kafka"), EmbeddedBroker.Settings.tuned());
    cluster =
        EmbeddedCluster.start(directory.resolve("flink"), EmbeddedCluster.Settings.defaults());
    Configuration settings = new Configuration();
    settings.setString("s3.endpoint", server.endpoint());
    settings.setString("s3.endpoint.region", "us-east-1");
    settings.setString("s3.path.style.access", "true");
    // The keys are in the environment, as in docker-compose.yml.
    assertThat(System.getenv())
        .containsEntry("AWS_ACCESS_KEY_ID", StorageServer.KEY)
        .containsEntry("AWS_SECRET_ACCESS_KEY", StorageServer.SECRET);
    settings.setString("s3.connection.timeout", "5000");
    settings.setString("s3.attempts.maximum", "2");
    FileSystem.initialize(
        settings,
        new DefaultPluginManager(
            new DirectoryBasedPluginFinder(Path.of("target", "plugins")).findPlugins(),
            CoreOptions.getPluginParentFirstLoaderPatterns(settings)));
  }

  @AfterAll
  static void stop() throws Exception {
    cluster.close();
    kafka.close();
    server.close();
    FileSystem.initialize(new Configuration(), null);
  }

  @Tag("slow")
  @Test
  void manifestsNameBlobsThatAreThereAndOldOnesGo() throws Exception {
    assertBlobsComeAndGo("s3");
  }

  @Tag("slow")
  @Test
  void theSameHoldsOnALocalDirectory() throws Exception {
    assertBlobsComeAndGo("file");
  }

  private static void assertBlobsComeAndGo(String scheme) throws Exception {
    String place =
        scheme.equals("file") ? directory.resolve("local").toUri().toString() : "s3://bucket/set";
    Path files = directory.resolve(scheme.equals("file") ? "local" : "buckets/bucket/set");
    String accepted = scheme + ".accepted";
    String snapshots = scheme + ".snapshots";
    kafka.createTopics(
        List.of(new NewTopic(accepted, 1, (short) 1).configs(Map.of("cleanup.policy", "compact"))));
    StreamExecutionEnvironment env = cluster.environment();
    JobMain.buildOnKafka(
        env,
        Job.SNAPSHOTS,
        KafkaOptions.parse(
            "--bootstrap-servers=" + kafka.bootstrapServers(),
            "--checkpoint-interval=200ms",
            "--checkpoint-dir="
                + (scheme.equals("file")
                    ? directory.resolve("checkpoints").toUri()
                    : "s3://state/checkpoints"),
            "--accepted-topic=" + accepted,
            "--snapshots-topic=" + snapshots),
        JobOptions.parse(
            "--window=1s",
            "--out-of-orderness=0s",
            "--idle-timeout=1h",
            "--snapshot-shards=2",
            "--blob-grace=0s",
            "--blob-dir=" + place));
    JobClient job = env.executeAsync();
    for (int second = 1; second <= SECONDS; second++) {
      accept(accepted, second);
      if (second == SECONDS / 2) {
        await(snapshots, second - 1);
        cluster.replaceTaskManager();
      }
    }
    Manifest newest = await(snapshots, SECONDS - 1);
    assertThat(newest.blobs()).isEqualTo(URI.create(place));
    SnapshotSet set = SnapshotSet.open(newest, reference -> blob(newest, reference));
    for (int second = 1; second < SECONDS; second++) {
      assertThat(set.mightContainKey(key(second), KeyHash.fixed())).isTrue();
    }
    assertThat(recordKeys(snapshots)).containsExactlyInAnyOrder("firstseen", "firstseen/publisher");

    // Without a grace period, a blob is deleted two checkpoints after the second manifest that does
    // not use it. Blobs that the newest manifest has replaced therefore still exist.
    Set<String> named =
        new ManifestBlobs(newest, reference -> blob(newest, reference)).named().keySet();
    long deadlineNanos = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    while (names(files).size() > named.size() + REPLACED) {
      assertThat(System.nanoTime()).as("%s", names(files)).isLessThan(deadlineNanos);
      TimeUnit.MILLISECONDS.sleep(50);
    }
    assertThat(names(files)).containsAll(named);
    job.cancel().get();
    assertThat(job.getJobExecutionResult()).failsWithin(Duration.ofMinutes(1));
    assertThat(newest.blobUri("a".repeat(64)).toString()).endsWith("/" + "a".repeat(64));
    assertThatThrownBy(() -> read(newest.blobUri("a".repeat(64)))).isInstanceOf(Exception.class);
  }

  private static byte[] key(int second) {
    return ("key-" + second).getBytes(UTF_8);
  }

  private static void accept(String topic, int second) throws Exception {
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", kafka.bootstrapServers()),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      ProducerRecord<byte[], byte[]> record =
          new ProducerRecord<>(topic, 0, key(second), new byte[] {1});
      record
          .headers()
          .add(
              "firstseen.timestamp",
              ByteBuffer.allocate(Long.BYTES).putLong(second * 1_000L).array());
      producer.send(record).get();
    }
  }

  private static ByteBuffer blob(Manifest manifest, BlobReference reference)
      throws java.io.IOException {
    return ByteBuffer.wrap(read(manifest.blobUri(reference.digest())));
  }

  private static byte[] read(URI blob) throws java.io.IOException {
    org.apache.flink.core.fs.Path path = new org.apache.flink.core.fs.Path(blob);
    try (FSDataInputStream stream = path.getFileSystem().open(path)) {
      return stream.readAllBytes();
    }
  }

  private static List<String> names(Path files) throws java.io.IOException {
    try (Stream<Path> all = Files.list(files)) {
      return all.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  private static Set<String> recordKeys(String topic) {
    Set<String> keys = new HashSet<>();
    TopicPartition partition = new TopicPartition(topic, 0);
    try (KafkaConsumer<String, byte[]> consumer = consumer(topic)) {
      long end = consumer.endOffsets(List.of(partition)).get(partition);
      while (consumer.position(partition) < end) {
        consumer.poll(Duration.ofMillis(100)).forEach(record -> keys.add(record.key()));
      }
    }
    return keys;
  }

  private static Manifest await(String topic, long sequence) throws Exception {
    long deadlineNanos = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    Manifest newest = null;
    try (KafkaConsumer<String, byte[]> consumer = consumer(topic)) {
      while (newest == null || newest.sequence() < sequence) {
        for (ConsumerRecord<String, byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
          if (record.key().equals("firstseen")) {
            newest = Manifest.read(record.value());
          }
        }
        assertThat(System.nanoTime()).as("%s", newest).isLessThan(deadlineNanos);
      }
    }
    return newest;
  }

  private static KafkaConsumer<String, byte[]> consumer(String topic) {
    KafkaConsumer<String, byte[]> consumer =
        new KafkaConsumer<>(
            Map.of(
                "bootstrap.servers", kafka.bootstrapServers(), "isolation.level", "read_committed"),
            new StringDeserializer(),
            new ByteArrayDeserializer());
    TopicPartition partition = new TopicPartition(topic, 0);
    consumer.assign(List.of(partition));
    consumer.seekToBeginning(List.of(partition));
    return consumer;
  }
}
