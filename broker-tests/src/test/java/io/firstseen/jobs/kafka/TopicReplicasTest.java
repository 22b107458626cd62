package io.firstseen.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.embedded.EmbeddedBroker;
import io.firstseen.fixtures.TcpProxy;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.operators.UserErrorException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.utils.Time;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The jobs' topics on two brokers. */
class TopicReplicasTest {
  private static final List<String> MADE =
      List.of("accepted", "duplicates", "dead-letters", "snapshots");

  @TempDir private static Path directory;
  private static EmbeddedBroker first;
  private static KafkaRaftServer second;
  private static TcpProxy toController;
  private static Admin admin;

  @BeforeAll
  static void start() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    first =
        EmbeddedBroker.start(
            directory.resolve("1"),
            EmbeddedBroker.Settings.tuned()
                // The second broker is cut off for a while, and must not be given up.
                .with("broker.session.timeout.ms", "60000")
                .with("listeners", "PLAINTEXT://localhost:0,CONTROLLER://localhost:" + port));
    admin = Admin.create(Map.of("bootstrap.servers", first.bootstrapServers()));
    toController = new TcpProxy(0, port);
    second = secondBroker(toController.port());
    second.startup();
  }

  private static KafkaRaftServer secondBroker(int controllerPort) throws Exception {
    Path data = Files.createDirectory(directory.resolve("2"));
    String clusterId = admin.describeCluster().clusterId().get();
    Files.write(
        data.resolve("meta.properties"),
        List.of(
            "version=1",
            "node.id=2",
            "cluster.id=" + clusterId,
            "directory.id=" + Uuid.randomUuid()));
    Properties properties = new Properties();
    properties.putAll(
        Map.of(
            "node.id", "2",
            "process.roles", "broker",
            "listeners", "PLAINTEXT://localhost:0",
            "controller.listener.names", "CONTROLLER",
            "listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "controller.quorum.voters", "1@localhost:" + controllerPort,
            "offsets.topic.num.partitions", "1",
            "transaction.state.log.num.partitions", "1",
            "log.dirs", data.toString()));
    return new KafkaRaftServer(new KafkaConfig(properties, false), Time.SYSTEM);
  }

  @AfterAll
  static void stop() throws Exception {
    admin.close();
    second.shutdown();
    second.awaitShutdown();
    toController.close();
    first.close();
  }

  private static KafkaOptions options(String name, String... more) {
    return optionsAt(first.bootstrapServers(), name, more);
  }

  private static KafkaOptions optionsAt(String servers, String name, String... more) {
    Stream<String> topics =
        Stream.concat(Stream.of("events"), MADE.stream())
            .map(topic -> "--" + topic + "-topic=" + name + "." + topic);
    return KafkaOptions.parse(
        Stream.of(Stream.of("--bootstrap-servers=" + servers), topics, Stream.of(more))
            .flatMap(words -> words)
            .toArray(String[]::new));
  }

  private static void create(String topic, int replicas, String cleanupPolicy) {
    first.createTopics(
        List.of(
            new NewTopic(topic, 1, (short) replicas)
                .configs(Map.of("cleanup.policy", cleanupPolicy))));
  }

  private static ConfigResource resource(String topic) {
    return new ConfigResource(ConfigResource.Type.TOPIC, topic);
  }

  private static String describe(String topic) throws Exception {
    TopicDescription description =
        admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic);
    String inSync =
        admin
            .describeConfigs(List.of(resource(topic)))
            .all()
            .get()
            .get(resource(topic))
            .get("min.insync.replicas")
            .value();
    return description.partitions().get(0).replicas().size() + " replicas, " + inSync + " in sync";
  }

  @Test
  void topicsThatTheJobMakesHaveTheReplicasThatWereAskedFor() throws Exception {
    create("a.events", 1, "delete");
    KafkaOptions options =
        options("a", "--topic-replication-factor=2", "--topic-min-insync-replicas=2");
    TestJobs.require(Job.PIPELINE, options);
    for (String topic : MADE) {
      assertThat(describe("a." + topic)).isEqualTo("2 replicas, 2 in sync");
    }
    TestJobs.require(Job.PIPELINE, options);
    TestJobs.require(Job.SNAPSHOTS, options("a", "--topic-replication-factor=1"));
  }

  @Test
  void topicsThatOneOfTheBrokersDoesNotKnowYetAreWaitedFor() throws Exception {
    int secondPort =
        admin.describeCluster().nodes().get().stream()
            .filter(node -> node.id() == 2)
            .mapToInt(Node::port)
            .findAny()
            .orElseThrow();
    // Made when its leader, the second broker, knows it.
    first.createTopics(List.of(new NewTopic("e.events", Map.of(0, List.of(2)))));
    toController.cut();
    Thread later =
        new Thread(
            () -> {
              LockSupport.parkNanos(Duration.ofSeconds(1).toNanos());
              toController.pass(0);
            });
    later.start();
    try {
      NewTopic accepted =
          new NewTopic("e.accepted", Map.of(0, List.of(1)))
              .configs(Map.of("cleanup.policy", "compact"));
      admin.createTopics(List.of(accepted)).all().get();
      TestJobs.require(Job.PIPELINE, optionsAt("localhost:" + secondPort, "e"));
    } finally {
      later.join();
    }
  }

  @Test
  void moreReplicasThanBrokersAreRefused() {
    create("b.events", 1, "delete");
    assertRefused(
        options("b", "--topic-replication-factor=3"),
        "topic b.accepted; 3 replicas; brokers is 2; --topic-replication-factor to at most 2");
  }

  @Test
  void aTopicWithFewerReplicasThanAskedForIsRefused() throws Exception {
    create("c.events", 1, "delete");
    create("c.accepted", 2, "compact");
    create("c.duplicates", 1, "delete");
    assertRefused(
        options("c", "--topic-replication-factor=2"),
        "topic c.duplicates; 2 replicas; has 1; kafka-reassign-partitions.sh");
    KafkaOptions twoInSync =
        options("c", "--topic-replication-factor=2", "--topic-min-insync-replicas=2");
    assertRefused(
        twoInSync,
        "topic c.accepted; --topic-min-insync-replicas; has 1; --add-config min.insync.replicas=2");
    AlterConfigOp raise =
        new AlterConfigOp(new ConfigEntry("min.insync.replicas", "2"), AlterConfigOp.OpType.SET);
    admin.incrementalAlterConfigs(Map.of(resource("c.accepted"), List.of(raise))).all().get();
    assertThatThrownBy(() -> TestJobs.require(Job.PIPELINE, twoInSync))
        .hasMessageStartingWith("topic c.duplicates must have 2 replicas");
  }

  @Test
  void warnsOfReplicasOfWhichOneAloneAcknowledges() {
    create("d.events", 2, "delete");
    create("d.accepted", 2, "compact");
    create("d.snapshots", 2, "compact");
    List<String> warnings = new ArrayList<>();
    AbstractAppender appender =
        new AbstractAppender("warnings", null, null, true, Property.EMPTY_ARRAY) {
          @Override
          public void append(LogEvent event) {
            warnings.add(event.getMessage().getFormattedMessage());
          }
        };
    appender.start();
    Logger logger = (Logger) LogManager.getLogger(Preflight.class);
    logger.addAppender(appender);
    try {
      TestJobs.require(
          Job.PIPELINE,
          options("d", "--topic-replication-factor=1", "--topic-min-insync-replicas=1"));
      assertThat(warnings).isEmpty();
      TestJobs.require(Job.PIPELINE, options("d"));
    } finally {
      logger.removeAppender(appender);
    }
    assertThat(warnings).hasSize(2);
    assertThat(warnings.get(0))
        .startsWith("topic d.accepted: 1 partition, 2 replicas, min.insync.replicas=1,")
        .endsWith("increase min.insync.replicas to 2 (--topic-min-insync-replicas)");
    assertThat(warnings.get(1)).startsWith("topic d.snapshots: ");
  }

  private static void assertRefused(KafkaOptions options, String facts) {
    assertThatThrownBy(() -> TestJobs.require(Job.PIPELINE, options))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll(facts.split("; "));
  }
}
