package io.firstseen.cli.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.cli.CommandProcess;
import io.firstseen.cli.Invocation;
import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.embedded.SharedBroker;
import io.firstseen.embedded.SharedCluster;
import io.firstseen.fixtures.ExpectedSet;
import io.firstseen.fixtures.TopicIo;
import io.firstseen.jobs.JobMain;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * A job publishes packs and bases to a stock broker; clients that start at any moment end with the
 * set of an exact model.
 */
class SnapshotPacksOnTopicTest {
  private static final Duration LONG = Duration.ofMinutes(2);
  private static final int CROWD = 20_000;
  private static final int CHANGES = CROWD / 200;
  // The set becomes three times as large, so that all chains restart.
  private static final int STRETCH = 6;
  private static final int GROWTH = 10 * STRETCH;
  private static final int WINDOWS = 13 * STRETCH;

  @RegisterExtension private static final SharedBroker KAFKA = SharedBroker.stock();
  @RegisterExtension private static final SharedCluster FLINK = SharedCluster.ofSlots(4);

  private final String name = SharedBroker.unused("packs");
  private final String topic = name + ".snapshots";
  private final Random random = new Random(7);
  private final Set<String> live = new LinkedHashSet<>();
  private List<String> lastAdded = List.of();
  private List<String> lastRemoved = List.of();
  private int lastKey;

  @TempDir private Path directory;

  @Tag("slow")
  @Test
  void whoeverComesWheneverEndsWithTheSetOfTheModel() throws Exception {
    SeenUpdates firstUpdates = new SeenUpdates();
    SeenUpdates returnedUpdates = new SeenUpdates();
    Path follow = Files.createDirectory(directory.resolve("follow"));
    Path followed = directory.resolve("followed");
    String servers = KAFKA.servers();
    try (TopicIo topics = new TopicIo(servers)) {
      submit();
      List<SnapshotClient> clients = new ArrayList<>();
      SnapshotClient first = SnapshotClient.start(options(servers).listener(firstUpdates).build());
      clients.add(first);
      SnapshotClient leaving = null;
      CommandProcess following = null;
      try {
        for (int window = 1; window <= WINDOWS; window++) {
          topics.send(name + ".events", 1, events(window));
          if (window > 1) {
            first.awaitSequence(window - 1, LONG);
          }
          switch (window % STRETCH == 0 ? window / STRETCH : 0) {
            case 3, 7, 12 -> clients.add(SnapshotClient.start(options(servers).build()));
            case 4 -> leaving = SnapshotClient.start(cached(servers).build());
            case 5 -> {
              following =
                  CommandProcess.start(
                      follow,
                      "snapshot",
                      "follow",
                      "--bootstrap-servers=" + servers,
                      "--topic=" + topic,
                      "--cache-dir=" + followed,
                      "--json");
              awaitReported(follow, window - 1);
            }
            case 6 -> {
              leaving.awaitSequence(window - 1, LONG);
              leaving.close();
            }
            case 8 ->
                clients.add(
                    SnapshotClient.start(cached(servers).listener(returnedUpdates).build()));
            default -> {
              // Windows at which no client starts.
            }
          }
        }
        clients.add(SnapshotClient.start(options(servers).build()));
        // The last window is open: its changes are not published.
        undoLastWindow();
        for (SnapshotClient client : clients) {
          client.awaitSequence(WINDOWS - 1, LONG);
          mustHoldLive(client);
        }
        infoShowsTheChain(servers);
        awaitReported(follow, WINDOWS - 1);
        following.interrupt();
        checkLines(following.end());
      } finally {
        clients.forEach(SnapshotClient::close);
        if (following != null) {
          following.close();
        }
      }
    }
    // Running clients fetched whole shards only where chains restarted.
    assertThat(firstUpdates.count()).isGreaterThan(WINDOWS / 2);
    assertChainsBeganAnew(firstUpdates);
    assertThat(firstUpdates.troubles()).isEmpty();
    assertThat(returnedUpdates.count()).isGreaterThan(WINDOWS / 4);
    assertChainsBeganAnew(returnedUpdates);
    assertThat(returnedUpdates.troubles()).isEmpty();
    // The directory that the command wrote answers without a broker.
    try (SnapshotClient alone =
        SnapshotClient.start(options(servers).cacheDirectory(followed).build())) {
      assertThat(alone.awaitReady(LONG).sequence()).isEqualTo(WINDOWS - 1);
      mustHoldLive(alone);
    }
  }

  private void mustHoldLive(SnapshotClient client) throws Exception {
    ExpectedSet.mustBe(client.status().snapshot().orElseThrow(), client::mightContain, live);
  }

  /** Over many windows, a shard may also exceed the capacity of its range. */
  private static void assertChainsBeganAnew(SeenUpdates updates) {
    assertThat(updates.sequencesWithWholeShards())
        .contains((long) GROWTH)
        .hasSizeLessThanOrEqualTo(3);
  }

  private static void awaitReported(Path follow, int sequence) throws Exception {
    await("sequence " + sequence + " is told")
        .atMost(LONG)
        .until(
            () ->
                Files.readString(follow.resolve("out")).contains("\"sequence\":" + sequence + ","));
  }

  private void infoShowsTheChain(String servers) throws Exception {
    Path pulled = directory.resolve("pulled");
    String broker = "--bootstrap-servers=" + servers;
    String ofTopic = "--topic=" + topic;
    assertThat(Invocation.of("snapshot", "pull", broker, ofTopic, "--output=" + pulled).status())
        .isZero();
    assertThat(Invocation.of("snapshot", "info", broker, ofTopic))
        .isEqualTo(Invocation.of("snapshot", "info", pulled.toString()));
    Invocation info = Invocation.of("snapshot", "info", broker, ofTopic, "--json");
    JsonNode summary = new ObjectMapper().readTree(info.out().get(0));
    assertThat(summary.get("keys").asLong()).isEqualTo(live.size());
    JsonNode chain = summary.get("chain");
    assertThat(chain.get("ofShards")).hasSize(4);
    // Packs follow the list.
    assertThat(chain.get("list").get("sequence").asLong())
        .isLessThan(summary.get("sequence").asLong());
  }

  private static void checkLines(Invocation ended) throws Exception {
    assertThat(ended.status()).isEqualTo(130);
    assertThat(ended.err()).isEmpty();
    List<JsonNode> snapshots = new ArrayList<>();
    for (String line : ended.out()) {
      snapshots.add(new ObjectMapper().readTree(line));
      assertThat(line).contains("\"event\":\"snapshot\"");
    }
    assertThat(snapshots).hasSizeGreaterThan(WINDOWS / 4);
    long before = -1;
    for (JsonNode snapshot : snapshots) {
      long keys = snapshot.get("keys").asLong();
      if (snapshot.has("added")) {
        long changed = snapshot.get("added").asLong() - snapshot.get("removed").asLong();
        // Values are counted, which two keys of a thousand may share.
        assertThat(keys - before).isCloseTo(changed, within(2L));
      }
      before = keys;
    }
  }

  private SnapshotClientOptions.Builder options(String servers) {
    return SnapshotClientOptions.builder(servers, "firstseen").topic(topic);
  }

  private SnapshotClientOptions.Builder cached(String servers) {
    return options(servers).cacheDirectory(directory.resolve("cache"));
  }

  private void submit() throws Exception {
    KAFKA.create(name + ".events", "delete");
    StreamExecutionEnvironment env = FLINK.environment();
    JobMain.buildOnKafka(
        env,
        Job.PIPELINE,
        KafkaOptions.parse(
            "--bootstrap-servers=" + KAFKA.servers(),
            "--checkpoint-interval=100ms",
            "--transactional-id-prefix=" + name,
            "--events-topic=" + name + ".events",
            "--accepted-topic=" + name + ".accepted",
            "--duplicates-topic=" + name + ".duplicates",
            "--dead-letters-topic=" + name + ".dead-letters",
            "--snapshots-topic=" + topic),
        JobOptions.parse(
            "--mode=exact",
            "--capacity=100000",
            "--window=1s",
            "--out-of-orderness=0s",
            "--idle-timeout=1h",
            "--snapshot-shards=4"));
    env.executeAsync();
  }

  /** The events of a window, which the model then includes. */
  private List<String> events(int window) {
    lastAdded = new ArrayList<>();
    lastRemoved = new ArrayList<>();
    List<String> events = new ArrayList<>();
    List<String> old = new ArrayList<>(live);
    for (int i = 0; window > 1 && i < CHANGES; i++) {
      String key = old.get(random.nextInt(old.size()));
      if (live.remove(key)) {
        lastRemoved.add(key);
        events.add(event(window, "delete", key));
      }
    }
    int adds = window == 1 ? CROWD : window == GROWTH ? 2 * CROWD : CHANGES;
    for (int i = 0; i < adds; i++) {
      String key = "key-" + ++lastKey;
      live.add(key);
      lastAdded.add(key);
      events.add(event(window, "add", key));
    }
    return events;
  }

  private void undoLastWindow() {
    lastAdded.forEach(live::remove);
    live.addAll(lastRemoved);
  }

  private static String event(int window, String operation, String key) {
    return "{\"ts\":%d,\"op\":\"%s\",\"key\":\"%s\"}".formatted(window * 1_000L, operation, key);
  }
}
