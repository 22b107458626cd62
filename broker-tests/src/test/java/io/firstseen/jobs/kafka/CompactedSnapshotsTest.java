package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.apache.kafka.common.IsolationLevel.READ_COMMITTED;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.embedded.EmbeddedBroker;
import io.firstseen.embedded.SharedCluster;
import io.firstseen.filters.snapshot.BlobLoader;
import io.firstseen.filters.snapshot.ManifestBlobs;
import io.firstseen.filters.snapshot.MissingBlobsException;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.fixtures.ExpectedSet;
import io.firstseen.fixtures.TopicIo;
import io.firstseen.jobs.JobMain;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A broker that compacts as soon as it can, and drops tombstones at once. */
class CompactedSnapshotsTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final int WINDOWS = Integer.getInteger("firstseen.scale", 1) > 1 ? 60 : 30;
  // A small set consists mostly of headers.
  private static final int CROWD = 4_000;
  private static final Map<String, String> HARSH =
      Map.of(
          "cleanup.policy", "compact",
          "min.cleanable.dirty.ratio", "0.0",
          "min.compaction.lag.ms", "0",
          "max.compaction.lag.ms", "1",
          "delete.retention.ms", "0",
          "segment.ms", "50");

  @RegisterExtension private static final SharedCluster FLINK = SharedCluster.ofSlots(5);

  @TempDir private static Path directory;
  private static EmbeddedBroker kafka;
  private static TopicIo topics;

  @BeforeAll
  static void start() throws Exception {
    kafka =
        EmbeddedBroker.start(
            directory.resolve("kafka"),
            EmbeddedBroker.Settings.tuned()
                .with("log.cleaner.backoff.ms", "20")
                .with("log.retention.check.interval.ms", "100"));
    topics = new TopicIo(kafka.bootstrapServers());
  }

  @AfterAll
  static void stop() throws Exception {
    topics.close();
    kafka.close();
  }

  private static JobClient submit(String name, String grace) throws Exception {
    kafka.createTopics(
        List.of(
            new NewTopic(name + ".accepted", 1, (short) 1)
                .configs(Map.of("cleanup.policy", "compact")),
            new NewTopic(name + ".snapshots", 2, (short) 1).configs(HARSH)));
    StreamExecutionEnvironment env = FLINK.environment();
    JobMain.buildOnKafka(
        env,
        Job.SNAPSHOTS,
        KafkaOptions.parse(
            "--bootstrap-servers=" + kafka.bootstrapServers(),
            "--checkpoint-interval=50ms",
            "--accepted-topic=" + name + ".accepted",
            "--snapshots-topic=" + name + ".snapshots"),
        JobOptions.parse(
            "--window=1s",
            "--out-of-orderness=0s",
            "--idle-timeout=1h",
            "--snapshot-shards=2",
            "--blob-grace=" + grace));
    return env.executeAsync();
  }

  private static SnapshotClient client(String name) {
    return SnapshotClient.start(
        SnapshotClientOptions.builder(kafka.bootstrapServers(), "firstseen")
            .topic(name + ".snapshots")
            .build());
  }

  /** Keys are added and removed; the key of the last window is not in the snapshots. */
  private static void send(AcceptedKeys keys, int window) throws Exception {
    long millis = window * 1_000L;
    for (int i = 0; window == 1 && i < CROWD; i++) {
      keys.add("crowd-" + i, millis);
    }
    keys.add("key-" + window, millis);
    if (window > 5) {
      keys.remove("key-" + (window - 5), millis);
    }
    keys.flush();
  }

  private static Set<String> liveAfter(int window) {
    Set<String> live = new TreeSet<>();
    IntStream.range(0, CROWD).forEach(i -> live.add("crowd-" + i));
    IntStream.rangeClosed(window - 4, window).forEach(i -> live.add("key-" + i));
    return live;
  }

  /** The digests of the blobs that a reader of a client's manifest may need. */
  private static Set<String> blobs(SnapshotClient client, String name) throws Exception {
    Map<String, byte[]> chunks = new HashMap<>();
    for (ConsumerRecord<byte[], byte[]> each : topics.read(name + ".snapshots", READ_COMMITTED)) {
      if (each.value() != null) {
        chunks.put(new String(each.key(), UTF_8), each.value());
      }
    }
    BlobLoader loader =
        blob -> {
          byte[] bytes = chunks.get(SnapshotTopicFormat.chunkKey(blob.digest(), 0));
          if (bytes == null) {
            throw new MissingBlobsException(List.of(blob));
          }
          return ByteBuffer.wrap(bytes);
        };
    return new ManifestBlobs(client.manifest().orElseThrow(), loader).named().keySet();
  }

  private static long records(String name) {
    return topics.read(name + ".snapshots", READ_COMMITTED).stream()
        .filter(record -> record.value() != null)
        .filter(record -> new String(record.key(), UTF_8).matches("[0-9a-f]{64}/0"))
        .count();
  }

  private static void mustHoldLive(SnapshotClient client, int windows) throws Exception {
    ExpectedSet.mustBe(
        client.status().snapshot().orElseThrow(), client::mightContain, liveAfter(windows));
  }

  @Test
  void nobodyIsStrandedAndTheTopicStaysSmall() throws Exception {
    JobClient job = submit("harsh", "0s");
    try (AcceptedKeys keys = new AcceptedKeys(kafka.bootstrapServers(), "harsh.accepted");
        SnapshotClient follower = client("harsh")) {
      send(keys, 1);
      for (int window = 2; window <= WINDOWS; window++) {
        send(keys, window);
        if (window % 10 == 0) {
          follower.awaitSequence(window - 1, LONG);
          mustHoldLive(follower, window - 1);
          try (SnapshotClient newcomer = client("harsh")) {
            newcomer.awaitSequence(window - 1, LONG);
            mustHoldLive(newcomer, window - 1);
          }
        }
      }
      // One more manifest. The next one would remove what only the manifest before it names.
      Set<String> named = new TreeSet<>(blobs(follower, "harsh"));
      send(keys, WINDOWS + 1);
      follower.awaitSequence(WINDOWS, LONG);
      named.addAll(blobs(follower, "harsh"));
      long deadlineNanos = System.nanoTime() + LONG.toNanos();
      // Plus blobs in the open segment.
      while (records("harsh") > named.size() + 4) {
        assertThat(System.nanoTime()).as("%d blobs", records("harsh")).isLessThan(deadlineNanos);
        TimeUnit.MILLISECONDS.sleep(100);
      }
      try (SnapshotClient newcomer = client("harsh")) {
        assertThat(newcomer.awaitReady(LONG).sequence()).isEqualTo(WINDOWS);
        mustHoldLive(newcomer, WINDOWS);
      }
    }
    TestJobs.cancel(job);
  }

  /** The control: without tombstones compaction keeps every blob. */
  @Test
  void withinTheirGraceAllBlobsStay() throws Exception {
    JobClient job = submit("kept", "1d");
    try (AcceptedKeys keys = new AcceptedKeys(kafka.bootstrapServers(), "kept.accepted");
        SnapshotClient follower = client("kept")) {
      for (int window = 1; window <= 21; window++) {
        send(keys, window);
      }
      follower.awaitSequence(20, LONG);
      assertThat(records("kept")).isGreaterThanOrEqualTo(20);
    }
    TestJobs.cancel(job);
  }
}
