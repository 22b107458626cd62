package io.firstseen.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.firstseen.embedded.EmbeddedBroker;
import io.firstseen.embedded.SharedBroker;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.fixtures.SetPublisher;
import io.firstseen.fixtures.SnapshotWriter;
import io.firstseen.fixtures.SnapshotWriter.Window;
import io.firstseen.fixtures.SnapshotWriter.Written;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The snapshot client against a real broker and its failures. */
class SnapshotClientOnBrokerTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final EmbeddedBroker.Settings SETTINGS = EmbeddedBroker.Settings.tuned();

  @RegisterExtension private static final SharedBroker KAFKA = SharedBroker.tuned();

  private final String topic = SharedBroker.unused("firstseen.snapshots");
  private final BlockingQueue<String> events = new LinkedBlockingQueue<>();

  private SnapshotClient follow() {
    return follow(KAFKA.servers());
  }

  private SnapshotClient follow(String bootstrapServers) {
    return FasterClients.start(options(bootstrapServers));
  }

  private SnapshotClientOptions options(String bootstrapServers) {
    SnapshotListener listener =
        new SnapshotListener() {
          @Override
          public void onSnapshot(Manifest manifest) {
            events.add("snapshot " + manifest.sequence());
          }

          @Override
          public void onRefused(String reason) {
            events.add("refused: " + reason);
          }

          @Override
          public void onNotice(String sentence) {
            events.add("notice: " + sentence);
          }

          @Override
          public void onUnreachable(String reason) {
            events.add("unreachable: " + reason);
          }

          @Override
          public void onReachable() {
            events.add("reachable");
          }
        };
    return SnapshotClientOptions.builder(bootstrapServers, SnapshotWriter.SET)
        .topic(topic)
        .listener(listener)
        .chunkWait(Duration.ofMillis(100))
        .build();
  }

  private String nextEvent() throws InterruptedException {
    return events.poll(LONG.toSeconds(), TimeUnit.SECONDS);
  }

  @Test
  void seesWhatWasCommittedAndNothingElse() throws Exception {
    long[] many = new Random(1).longs(600_000).toArray();
    SnapshotWriter.createTopic(KAFKA.broker(), topic);
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic);
        SnapshotClient client = follow()) {
      writer.publish(1, "a");
      assertThat(client.awaitReady(LONG).sequence()).isEqualTo(1);
      assertThat(client.state()).isEqualTo(ClientState.READY);
      assertThat(client.mightContain("a")).isTrue();
      assertThat(client.mightContain("b")).isFalse();

      writer.begin(2, SnapshotWriter.hashes("b"));
      writer.abort();
      // Three chunks; committed only once another client has read to the end before it.
      writer.begin(3, many);
      try (SnapshotClient second = follow()) {
        assertThat(second.awaitReady(LONG).sequence()).isEqualTo(1);
      }
      assertThat(client.manifest().orElseThrow().sequence()).isEqualTo(1);
      writer.commit();
      assertThat(client.awaitSequence(3, LONG).count()).isEqualTo(many.length);
      assertThat(List.of(nextEvent(), nextEvent(), nextEvent()))
          .containsExactly("snapshot 1", "snapshot 1", "snapshot 3");
      // The control: the aborted manifest is on the topic.
      assertThat(manifestsReadUncommitted()).isEqualTo(3);
    }
  }

  /** The record is new; the times that count are under the signature. */
  @Test
  void anOldSignedManifestThatIsPublishedAgainIsStale() throws Exception {
    SigningKey key = SigningKey.generate();
    long twoHoursAgo = System.currentTimeMillis() - Duration.ofHours(2).toMillis();
    SnapshotWriter.createTopic(KAFKA.broker(), topic);
    SnapshotClientOptions options =
        SnapshotClientOptions.builder(KAFKA.servers(), SnapshotWriter.SET)
            .topic(topic)
            .staleAfter(Duration.ofHours(1))
            .trustedKeys(Set.of(key.publicKey()))
            .build();
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic);
        SnapshotClient client = SnapshotClient.start(options)) {
      for (long age = 2; age >= 0; age -= 2) {
        long published = twoHoursAgo + Duration.ofHours(2 - age).toMillis();
        Window window = SnapshotWriter.window(3 - age, KeyHash.fixed(), SnapshotWriter.hashes("a"));
        List<Written> records = new ArrayList<>(window.chunks());
        Manifest manifest = key.sign(window.manifest().withTimes(published, null));
        records.add(Written.manifest(manifest.toBytes()));
        writer.write(records);
        client.awaitSequence(3 - age, LONG);
        assertThat(client.state()).isEqualTo(age == 0 ? ClientState.READY : ClientState.STALE);
        assertThat(client.status().publishedMillis()).isEqualTo(published);
      }
    }
  }

  @Test
  void outlivesItsTopic() throws Exception {
    SnapshotWriter.createTopic(KAFKA.broker(), topic);
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic)) {
      for (int sequence = 1; sequence <= 5; sequence++) {
        writer.publish(sequence, "a");
      }
    }
    try (SnapshotClient client = follow()) {
      assertThat(nextEvent()).isEqualTo("snapshot 5");
      try (Admin admin = Admin.create(Map.of("bootstrap.servers", KAFKA.servers()))) {
        admin.deleteTopics(List.of(topic)).all().get();
      }
      SnapshotWriter.createTopic(KAFKA.broker(), topic);
      try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic)) {
        writer.publish(2, "b");
      }
      assertThat(nextEvent())
          .isEqualTo(
              "unreachable: topic '"
                  + topic
                  + "' cannot be read: the last records that were read no longer exist");
      assertThat(nextEvent())
          .isEqualTo(
              "notice: topic '"
                  + topic
                  + "' was recreated; set 'spam' may start again"
                  + " with any sequence, it was at 5");
      assertThat(nextEvent()).isEqualTo("reachable");
      assertThat(nextEvent()).isEqualTo("snapshot 2");
      assertThat(client.mightContain("b")).isTrue();
    }
  }

  /** The follower's offset is also valid on the new topic. */
  @Tag("slow")
  @Test
  void noticesATopicThatWasCreatedAnewAndHasGrownAsLong() throws Exception {
    SnapshotWriter.createTopic(KAFKA.broker(), topic);
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic)) {
      writer.publish(7, "a");
    }
    try (SnapshotClient client = follow();
        Admin admin = Admin.create(Map.of("bootstrap.servers", KAFKA.servers()))) {
      assertThat(nextEvent()).isEqualTo("snapshot 7");
      admin.deleteTopics(List.of(topic)).all().get();
      SnapshotWriter.createTopic(KAFKA.broker(), topic);
      try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic)) {
        for (int sequence = 1; sequence <= 5; sequence++) {
          writer.publish(sequence, "b", "b" + sequence);
        }
      }
      String event = nextEvent();
      while (!event.equals("snapshot 5")) {
        // The first snapshot of the new topic may answer by now.
        assertThat(client.mightContain("a") || client.mightContain("b")).as(event).isTrue();
        event = nextEvent();
      }
      assertThat(client.mightContain("b")).isTrue();
    }
  }

  @Test
  void findsAPinnedSequenceOnTheTopic() throws Exception {
    SnapshotWriter.createTopic(KAFKA.broker(), topic);
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic)) {
      for (int sequence = 1; sequence <= 3; sequence++) {
        writer.publish(sequence, "key-" + sequence);
      }
      try (SnapshotClient client = follow()) {
        assertThat(nextEvent()).isEqualTo("snapshot 3");
        client.pin(2);
        assertThat(nextEvent()).isEqualTo("snapshot 2");
        assertThat(client.mightContain("key-2")).isTrue();
        writer.publish(4, "key-4");
        client.unpin();
        assertThat(client.awaitSequence(4, LONG).sequence()).isEqualTo(4);
        assertThat(client.mightContain("key-4")).isTrue();
      }
    }
  }

  @Tag("slow")
  @Test
  void followsManySetsByOneThread(@TempDir Path directory) throws Exception {
    SnapshotWriter.createTopic(KAFKA.broker(), topic);
    List<SnapshotClientOptions> options = new ArrayList<>();
    for (int set = 0; set < 50; set++) {
      options.add(
          SnapshotClientOptions.builder(KAFKA.servers(), "set-" + set)
              .topic(topic)
              .cacheDirectory(directory.resolve("cache"))
              .build());
    }
    List<SnapshotClient> clients = SnapshotClient.startAll(options);
    assertThat(clientThreads().stream().filter(name -> name.startsWith("firstseen-follower")))
        .containsExactly("firstseen-follower-50-sets");
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic)) {
      for (int set = 0; set < 50; set++) {
        writer.publishAs("set-" + set, 1, "key-of-" + set);
      }
      for (int set = 0; set < 50; set++) {
        clients.get(set).awaitReady(LONG);
        assertThat(clients.get(set).mightContain("key-of-" + set)).isTrue();
        assertThat(clients.get(set).mightContain("key-of-" + (set + 1))).isFalse();
      }
      clients.subList(0, 49).forEach(SnapshotClient::close);
      writer.publishAs("set-49", 2, "later");
      assertThat(clients.get(49).awaitSequence(2, LONG).sequence()).isEqualTo(2);
    }
    clients.get(49).close();
    assertThat(clientThreads()).isEmpty();
  }

  @Test
  void aSlowBlobServerDelaysOnlyItsOwnSet() throws Exception {
    SnapshotWriter.createTopic(KAFKA.broker(), topic);
    Map<String, byte[]> blobs = new ConcurrentHashMap<>();
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch answers = new CountDownLatch(1);
    HttpServer slow = HttpServer.create(new InetSocketAddress("localhost", 0), 0);
    slow.setExecutor(Executors.newCachedThreadPool());
    slow.createContext(
        "/",
        exchange -> {
          asked.countDown();
          awaitUnlessInterrupted(answers);
          byte[] blob = blobs.get(exchange.getRequestURI().getPath().substring(1));
          exchange.sendResponseHeaders(200, blob.length);
          exchange.getResponseBody().write(blob);
          exchange.close();
        });
    slow.start();
    URI directory = URI.create("http://localhost:" + slow.getAddress().getPort() + "/");
    List<SnapshotClient> clients =
        SnapshotClient.startAll(
            List.of(
                SnapshotClientOptions.builder(KAFKA.servers(), "slow")
                    .topic(topic)
                    .blobDirectory(directory)
                    .build(),
                options(KAFKA.servers())));
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic)) {
      SetPublisher.Window window =
          SnapshotWriter.publisher("slow", KeyHash.fixed(), 1)
              .publish(1, 1, 2, SnapshotWriter.hashes("a"));
      window.blobs().forEach(blob -> blobs.put(BlobReference.to(blob).digest(), blob));
      writer.write(List.of(new Written(0, "slow", window.manifest().toBytes())));
      assertThat(asked.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
      writer.publish(1, "b");
      writer.publish(2, "c");
      clients.get(1).awaitSequence(2, Duration.ofSeconds(30));
      assertThat(clients.get(1).mightContain("c")).isTrue();
      assertThat(clients.get(0).state()).isEqualTo(ClientState.LOADING);
      answers.countDown();
      assertThat(clients.get(0).awaitReady(LONG).sequence()).isEqualTo(1);
      assertThat(clients.get(0).mightContain("a")).isTrue();
    } finally {
      answers.countDown();
      clients.forEach(SnapshotClient::close);
      slow.stop(0);
    }
    await("its threads end").atMost(LONG).until(() -> clientThreads().isEmpty());
  }

  private static void awaitUnlessInterrupted(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void closesWhileABlobServerDoesNotAnswer() throws Exception {
    SnapshotWriter.createTopic(KAFKA.broker(), topic);
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic)) {
      SnapshotClient client =
          SnapshotClient.start(
              SnapshotClientOptions.builder(KAFKA.servers(), SnapshotWriter.SET)
                  .topic(topic)
                  .blobDirectory(URI.create("http://localhost:" + silent.getLocalPort() + "/"))
                  .build());
      writer.publish(1, "a");
      silent.accept();
      client.close();
      await("its threads end").atMost(LONG).until(() -> clientThreads().isEmpty());
    }
  }

  @Test
  void startsFromItsCacheWithoutABrokerAndReadsOnlyWhatCameSince(@TempDir Path directory)
      throws Exception {
    int port = SharedBroker.freePort();
    Path cache = directory.resolve("cache");
    SnapshotClientOptions options =
        SnapshotClientOptions.builder("localhost:" + port, SnapshotWriter.SET)
            .topic(topic)
            .cacheDirectory(cache)
            .build();
    Path data = directory.resolve("broker");
    SetPublisher publisher = SnapshotWriter.publisher(SnapshotWriter.SET, KeyHash.fixed(), 1);
    try (EmbeddedBroker broker = EmbeddedBroker.start(data, SETTINGS.port(port))) {
      SnapshotWriter.createTopic(broker, topic);
      try (SnapshotWriter writer = new SnapshotWriter(broker, topic);
          SnapshotClient client = FasterClients.start(options)) {
        writer.publish(publisher, 1, "a");
        client.awaitReady(LONG);
      }
    }
    try (SnapshotClient client = FasterClients.start(options)) {
      client.awaitReady(LONG);
      assertThat(client.mightContain("a")).isTrue();
      try (EmbeddedBroker broker = EmbeddedBroker.start(data, SETTINGS.port(port));
          SnapshotWriter writer = new SnapshotWriter(broker, topic)) {
        writer.publish(publisher, 2, "b");
        client.awaitSequence(2, LONG);
        assertThat(client.mightContain("b")).isTrue();
        // A pack and a manifest; what came before is not read again.
        assertThat(client.metrics().readRecords()).isEqualTo(2);
      }
    }
  }

  @Test
  void waitsForABrokerAndATopicAndOutlivesTheBroker(@TempDir Path directory) throws Exception {
    int port = SharedBroker.freePort();
    String unreachable =
        "no answer about topic '" + topic + "' from localhost:" + port + " within 5 s";
    try (SnapshotClient client = follow("localhost:" + port)) {
      assertThat(nextEvent()).isEqualTo("unreachable: " + unreachable);
      assertThat(client.state()).isEqualTo(ClientState.EMPTY);
      assertThatThrownBy(() -> client.awaitReady(Duration.ofMillis(1)))
          .isInstanceOf(TimeoutException.class)
          .hasMessageEndingWith("the client is EMPTY; " + unreachable);
      try (EmbeddedBroker broker = EmbeddedBroker.start(directory, SETTINGS.port(port))) {
        SnapshotWriter.createTopic(broker, topic);
        assertThat(nextEvent()).isEqualTo("reachable");
        try (SnapshotWriter writer = new SnapshotWriter(broker, topic)) {
          writer.publish(1, "a");
        }
        assertThat(nextEvent()).isEqualTo("snapshot 1");
        assertThat(client.mightContain("a")).isTrue();
      }
      assertThat(nextEvent()).isEqualTo("unreachable: " + unreachable);
      assertThat(client.mightContain("a")).isTrue();
      assertThat(client.state()).isEqualTo(ClientState.READY);
      assertThat(client.status().trouble()).hasValue(unreachable);
      try (EmbeddedBroker broker = EmbeddedBroker.start(directory, SETTINGS.port(port));
          SnapshotWriter writer = new SnapshotWriter(broker, topic)) {
        assertThat(nextEvent()).isEqualTo("reachable");
        assertThat(client.status().trouble()).isEmpty();
        writer.publish(2, "b");
        assertThat(nextEvent()).isEqualTo("snapshot 2");
        assertThat(client.mightContain("b")).isTrue();
      }
      assertThat(events).isEmpty();
    }
  }

  @Test
  void saysThatThereIsNoTopicYet() throws Exception {
    try (SnapshotClient client = follow()) {
      assertThat(nextEvent()).isEqualTo("unreachable: there is no topic '" + topic + "' yet");
      SnapshotWriter.createTopic(KAFKA.broker(), topic);
      assertThat(nextEvent()).isEqualTo("reachable");
      assertThat(client.state()).isEqualTo(ClientState.EMPTY);
    }
  }

  @Test
  void keepsTryingServersWhoseNamesMeanNothingYet() throws Exception {
    try (SnapshotClient client = follow("no..where:9092")) {
      assertThat(nextEvent())
          .isEqualTo(
              "unreachable: topic '"
                  + topic
                  + "' cannot be read: Failed to construct kafka"
                  + " consumer: No resolvable bootstrap urls given in bootstrap.servers");
      assertThat(client.state()).isEqualTo(ClientState.EMPTY);
    }
    assertThat(clientThreads()).isEmpty();
  }

  @Test
  void leavesNoThreadBehindWithOrWithoutABroker() throws Exception {
    SnapshotWriter.createTopic(KAFKA.broker(), topic);
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic)) {
      writer.publish(1, "a");
    }
    SnapshotClient connected = follow();
    connected.awaitReady(LONG);
    assertThat(clientThreads()).isNotEmpty();
    connected.close();
    assertThat(clientThreads()).isEmpty();
    SnapshotClient lost = follow("localhost:" + SharedBroker.freePort());
    assertThat(clientThreads()).isNotEmpty();
    lost.close();
    assertThat(clientThreads()).isEmpty();
    // In the middle of connecting.
    for (int i = 0; i < 20; i++) {
      follow("localhost:" + SharedBroker.freePort()).close();
    }
    assertThat(clientThreads()).isEmpty();
  }

  private static Set<String> clientThreads() {
    Set<String> names = new HashSet<>();
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().contains("firstseen-")) {
        names.add(thread.getName());
      }
    }
    return names;
  }

  private int manifestsReadUncommitted() {
    try (KafkaConsumer<String, byte[]> consumer =
        new KafkaConsumer<>(
            Map.of("bootstrap.servers", KAFKA.servers(), "enable.auto.commit", false),
            new StringDeserializer(),
            new ByteArrayDeserializer())) {
      TopicPartition partition = new TopicPartition(topic, 0);
      consumer.assign(List.of(partition));
      consumer.seekToBeginning(List.of(partition));
      long end = consumer.endOffsets(List.of(partition)).get(partition);
      int manifests = 0;
      while (consumer.position(partition) < end) {
        for (ConsumerRecord<String, byte[]> each : consumer.poll(Duration.ofSeconds(1))) {
          manifests += each.key().equals(SnapshotWriter.SET) ? 1 : 0;
        }
      }
      return manifests;
    }
  }
}
