package io.firstseen.embedded;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import kafka.server.BrokerServer;
import kafka.server.ControllerServer;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.server.Server;
import kafka.server.SharedServer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.ServerSocketFactory;
import org.apache.kafka.server.common.Feature;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.fault.FaultHandler;
import org.apache.kafka.server.fault.FaultHandlerException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real Kafka broker in this JVM: one KRaft node that is both broker and controller, bound to
 * localhost only. {@link #start} returns when the broker accepts requests, {@link #close} when it
 * has stopped. Its data stays in the directory, which the caller owns; a broker that is started in
 * the same directory has all topics again.
 *
 * <p>The servers are assembled here rather than by {@code kafka.server.KafkaRaftServer}, whose
 * fault handlers end the whole JVM and whose ports must be known before they are bound.
 */
public final class EmbeddedBroker implements Closeable {

  /** The maximum time that {@link #awaitTopics} waits. */
  public static final Duration TOPIC_TIMEOUT = Duration.ofSeconds(30);

  private static final Logger LOG = LoggerFactory.getLogger(EmbeddedBroker.class);
  private static final int NODE_ID = 1;
  private static final String BROKER_LISTENER = "PLAINTEXT";
  private static final String CONTROLLER_LISTENER = "CONTROLLER";

  private final SharedServer shared;
  private final ControllerServer controller;
  private final BrokerServer broker;
  private Admin admin;
  private boolean closed;

  private EmbeddedBroker(Path directory, Settings settings) throws Exception {
    KafkaConfig config = new KafkaConfig(properties(directory, settings), false);
    format(directory);
    var logDirs = KafkaRaftServer.initializeLogDirs(config, LOG, "");
    String clusterId = logDirs._1().clusterId().orElseThrow();
    var controllerAddress = new CompletableFuture<Map<Integer, InetSocketAddress>>();
    this.shared =
        new SharedServer(
            config,
            logDirs._1(),
            Time.SYSTEM,
            Server.initializeMetrics(config, Time.SYSTEM, clusterId),
            controllerAddress,
            List.of(),
            EmbeddedBroker::faultHandler,
            ServerSocketFactory.INSTANCE);
    this.controller = new ControllerServer(shared, KafkaRaftServer.configSchema(), logDirs._2());
    this.broker = new BrokerServer(shared);
    var unused =
        controller
            .socketServerFirstBoundPortFuture()
            .thenAccept(
                port ->
                    controllerAddress.complete(
                        Map.of(NODE_ID, new InetSocketAddress("localhost", port))));
    try {
      controller.startup();
      broker.startup();
    } catch (Throwable e) {
      close();
      throw e;
    }
  }

  /**
   * Starts a broker that stores its data in {@code directory}, which is created if it does not
   * exist.
   *
   * @throws java.net.BindException if the port is in use
   * @throws IOException if the directory cannot be created, or if the broker fails to start
   */
  public static EmbeddedBroker start(Path directory, Settings settings) throws IOException {
    Files.createDirectories(directory);
    LocalPort.requireFree(settings.port);
    try {
      return new EmbeddedBroker(directory, settings);
    } catch (Exception e) {
      throw new IOException("the embedded Kafka broker did not start: " + e.getMessage(), e);
    }
  }

  /** Returns the address for clients, {@code localhost:port}. */
  public String bootstrapServers() {
    return bootstrapServers(BROKER_LISTENER);
  }

  /** Returns the address of a listener that {@link Settings#with} has added. */
  public String bootstrapServers(String listener) {
    return "localhost:" + broker.boundPort(new ListenerName(listener));
  }

  /**
   * Creates topics of one replica each and waits until they can be written to.
   *
   * @throws org.apache.kafka.common.errors.TopicExistsException if a topic exists
   */
  public void createTopics(Collection<NewTopic> topics) {
    get(admin().createTopics(topics).all());
    awaitTopics(topics.stream().map(NewTopic::name).toList());
  }

  /**
   * Creates a topic of one replica and waits until it can be written to.
   *
   * @throws org.apache.kafka.common.errors.TopicExistsException if the topic exists
   */
  public void createTopic(String name, int partitions) {
    createTopics(List.of(new NewTopic(name, partitions, (short) 1)));
  }

  /**
   * Appends texts to a topic, in their order if it has one partition, as values without a key, and
   * waits until they are stored. For other records use a {@code KafkaProducer}.
   *
   * @throws KafkaException if one cannot be stored
   */
  public void send(String topic, String... values) {
    Map<String, Object> settings =
        Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers());
    try (KafkaProducer<String, String> producer =
        new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      List<Future<RecordMetadata>> sent = new ArrayList<>();
      for (String value : values) {
        sent.add(producer.send(new ProducerRecord<>(topic, value)));
      }
      sent.forEach(EmbeddedBroker::get);
    }
  }

  /**
   * Returns the committed records of a topic, as texts. For other records use {@link TopicReader}.
   *
   * @return the records that are in the topic now, in order within each partition
   * @throws TimeoutException as {@link TopicReader#read}
   */
  public List<ConsumerRecord<String, String>> readCommitted(String topic) throws TimeoutException {
    List<ConsumerRecord<String, String>> records = new ArrayList<>();
    texts().read(topic, records::add);
    return records;
  }

  /**
   * Waits until a topic has a number of committed records, and returns them as texts.
   *
   * @return at least this number of records, in order within each partition
   * @throws TimeoutException as {@link TopicReader#await}
   */
  public List<ConsumerRecord<String, String>> awaitCommitted(String topic, int count)
      throws TimeoutException {
    return texts().await(topic, count);
  }

  private TopicReader<String, String> texts() {
    return new TopicReader<>(
        bootstrapServers(), new StringDeserializer(), new StringDeserializer());
  }

  /**
   * Waits until every partition of the topics has a leader that responds. A topic exists some time
   * before its partitions can be written to; an idempotent producer that starts in between may lose
   * its first records.
   *
   * @throws KafkaException if that takes more than {@link #TOPIC_TIMEOUT}, for example because a
   *     topic does not exist
   */
  public void awaitTopics(Collection<String> topics) {
    Admin client = admin();
    long deadlineNanos = System.nanoTime() + TOPIC_TIMEOUT.toNanos();
    while (true) {
      try {
        List<TopicPartition> partitions = new ArrayList<>();
        for (TopicDescription topic : get(client.describeTopics(topics).allTopicNames()).values()) {
          topic
              .partitions()
              .forEach(p -> partitions.add(new TopicPartition(topic.name(), p.partition())));
        }
        Map<TopicPartition, OffsetSpec> ends = new HashMap<>();
        partitions.forEach(p -> ends.put(p, OffsetSpec.latest()));
        get(client.listOffsets(ends).all());
        return;
      } catch (RetriableException e) {
        if (System.nanoTime() - deadlineNanos > 0) {
          throw new KafkaException("topics " + topics + " are not ready: " + e.getMessage(), e);
        }
        pause();
      }
    }
  }

  /** Stops the broker and waits until it has stopped. Its data stays. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (admin != null) {
      admin.close();
    }
    // The broker first: its controlled shutdown needs the controller.
    broker.shutdown();
    controller.shutdown();
    broker.awaitShutdown();
    controller.awaitShutdown();
  }

  private synchronized Admin admin() {
    if (admin == null) {
      admin =
          Admin.create(
              Map.of(
                  AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG,
                  bootstrapServers(),
                  AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG,
                  (int) TOPIC_TIMEOUT.toMillis()));
    }
    return admin;
  }

  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(20);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KafkaException("interrupted while waiting for topics", e);
    }
  }

  private static <T> T get(Future<T> future) {
    try {
      return future.get(TOPIC_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof KafkaException kafka) {
        throw kafka;
      }
      throw new KafkaException(e.getCause());
    } catch (TimeoutException e) {
      throw new KafkaException("the broker did not answer within " + TOPIC_TIMEOUT, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KafkaException("interrupted while waiting for the broker", e);
    }
  }

  private static void format(Path directory) throws Exception {
    if (Files.exists(directory.resolve("meta.properties"))) {
      return;
    }
    var report = new ByteArrayOutputStream();
    new Formatter()
        .setPrintStream(new PrintStream(report, true, StandardCharsets.UTF_8))
        .setClusterId(Uuid.randomUuid().toString())
        .setNodeId(NODE_ID)
        .setDirectories(List.of(directory.toString()))
        .setMetadataLogDirectory(directory.toString())
        .setControllerListenerName(CONTROLLER_LISTENER)
        .setSupportedFeatures(Feature.PRODUCTION_FEATURES)
        .setReleaseVersion(MetadataVersion.latestProduction())
        .setHasDynamicQuorum(false)
        .run();
    LOG.debug("{}", report.toString(StandardCharsets.UTF_8));
  }

  private static Properties properties(Path directory, Settings settings) {
    Properties properties = new Properties();
    properties.put("node.id", Integer.toString(NODE_ID));
    properties.put("process.roles", "broker,controller");
    properties.put(
        "listeners", "PLAINTEXT://localhost:%s,CONTROLLER://localhost:0".formatted(settings.port));
    properties.put("controller.listener.names", CONTROLLER_LISTENER);
    properties.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
    // The real port is set once it is bound.
    properties.put("controller.quorum.voters", NODE_ID + "@localhost:0");
    properties.put("log.dirs", directory.toString());
    properties.putAll(settings.properties);
    return properties;
  }

  /**
   * Returns a handler that reports a fault and leaves the reaction to the caller; Kafka's handler
   * halts the JVM on fatal faults.
   */
  private static FaultHandler faultHandler(String name, boolean fatal, Runnable action) {
    return (message, cause) -> {
      LOG.error(
          "{}fault of the embedded broker in {}: {}", fatal ? "fatal " : "", name, message, cause);
      action.run();
      return new FaultHandlerException(name + ": " + message, cause);
    };
  }

  /** Settings of the node. Immutable; every method returns a changed copy. */
  public static final class Settings {

    private final int port;
    private final Map<String, String> properties;

    private Settings(int port, Map<String, String> properties) {
      this.port = port;
      this.properties = Map.copyOf(properties);
    }

    /**
     * For the demo and for most tests: a broker that starts and responds fast, needs little memory,
     * writes nothing while idle, does not create topics automatically, and retains records of any
     * age. A stock broker deletes records older than seven days half a minute after its start and
     * then every five minutes.
     */
    public static Settings tuned() {
      return stock()
          .with("log.retention.ms", "-1")
          .with("auto.create.topics.enable", "false")
          .with("metadata.max.idle.interval.ms", "0")
          .with("group.initial.rebalance.delay.ms", "0")
          .with("offsets.topic.num.partitions", "1")
          .with("transaction.state.log.num.partitions", "1")
          .with("log.cleaner.dedupe.buffer.size", "2097152")
          .with("broker.session.timeout.ms", "2000")
          .with("broker.heartbeat.interval.ms", "300");
    }

    /**
     * Kafka's defaults, except that internal topics have one replica, because there is one node.
     * Tests use it to find settings of Firstseen that only work on a tuned broker.
     */
    public static Settings stock() {
      return new Settings(
          0,
          Map.of(
              "offsets.topic.replication.factor", "1",
              "transaction.state.log.replication.factor", "1",
              "transaction.state.log.min.isr", "1",
              "share.coordinator.state.topic.replication.factor", "1",
              "share.coordinator.state.topic.min.isr", "1"));
    }

    /** Sets the port for clients; 0, the default, means any free port. */
    public Settings port(int newPort) {
      return new Settings(LocalPort.checked(newPort), properties);
    }

    /** Sets one property of the broker, as in {@code server.properties}. */
    public Settings with(String property, String value) {
      Map<String, String> changed = new HashMap<>(properties);
      changed.put(property, value);
      return new Settings(port, changed);
    }
  }
}
