package io.firstseen.jobs.kafka;

import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.jobs.shared.UserErrorException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * Checks before a job starts that the broker and its topics meet the job's needs. Creates missing
 * topics that the job writes to, where that is allowed. Every refusal is a {@link
 * UserErrorException}, within 30 seconds.
 */
public final class Topics implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(12);

  private final String servers;
  private final Admin admin;
  private final String anyBroker;

  private Topics(KafkaOptions options) {
    this.servers = options.bootstrapServers();
    Properties properties = options.clientProperties();
    String patienceMillis = Long.toString(PATIENCE.toMillis());
    properties.setProperty(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, patienceMillis);
    properties.setProperty(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, patienceMillis);
    try {
      this.admin = Admin.create(properties);
    } catch (KafkaException e) {
      throw new UserErrorException(
          "cannot connect to Kafka at %s: %s".formatted(servers, deepestMessage(e)));
    }
    try {
      Node node = get(admin.describeCluster().nodes()).iterator().next();
      this.anyBroker = node.idString();
    } catch (RuntimeException e) {
      admin.close(Duration.ZERO);
      throw e;
    }
  }

  /** Prepares the topics of a dedup job. */
  public static void prepareDedup(KafkaOptions options) {
    try (Topics topics = new Topics(options)) {
      topics.prepareDedupTopics(options);
    }
  }

  /**
   * Prepares the topics of a snapshot job.
   *
   * @return for how long the accepted topic keeps the records of removals
   */
  public static Duration prepareSnapshots(KafkaOptions options) {
    try (Topics topics = new Topics(options)) {
      topics.requireTransactionTimeout(options.transactionTimeout());
      topics.requireAcceptedTopic(options, Optional.empty());
      Duration retention = topics.requireRetention(options);
      topics.requireSnapshotsTopic(options.snapshotsTopic());
      return retention;
    }
  }

  /** Prepares the topics of a pipeline job. */
  public static void preparePipeline(KafkaOptions options) {
    try (Topics topics = new Topics(options)) {
      topics.prepareDedupTopics(options);
      topics.requireSnapshotsTopic(options.snapshotsTopic());
    }
  }

  private void prepareDedupTopics(KafkaOptions options) {
    requireTransactionTimeout(options.transactionTimeout());
    TopicDescription events =
        describe(options.eventsTopic())
            .orElseThrow(
                () ->
                    new UserErrorException(
                        "there is no topic %s at %s to read events from"
                            .formatted(options.eventsTopic(), servers)));
    Optional<Integer> partitions = Optional.of(events.partitions().size());
    requireAcceptedTopic(options, partitions);
    requireNotCompacted(options.duplicatesTopic(), partitions);
    requireNotCompacted(options.deadLettersTopic(), partitions);
  }

  private void requireAcceptedTopic(KafkaOptions options, Optional<Integer> partitions) {
    requireCompacted(
        options.acceptedTopic(),
        partitions,
        Map.of(
            TopicConfig.DELETE_RETENTION_MS_CONFIG,
            Long.toString(options.maxDowntime().toMillis())));
  }

  /** Requires that the records of removals stay for as long as the job may be down. */
  private Duration requireRetention(KafkaOptions options) {
    String topic = options.acceptedTopic();
    Duration needed = options.maxDowntime();
    Duration retention =
        config(
                new ConfigResource(ConfigResource.Type.TOPIC, topic),
                TopicConfig.DELETE_RETENTION_MS_CONFIG)
            .map(millis -> Duration.ofMillis(Long.parseLong(millis)))
            .orElse(needed);
    if (retention.compareTo(needed) < 0) {
      throw new UserErrorException(
          "topic %s must keep removals for --max-downtime, which is %s, it keeps them for %s (raise its delete.retention.ms to %d, or lower --max-downtime)"
              .formatted(
                  topic,
                  OptionValues.write(needed),
                  OptionValues.write(retention),
                  needed.toMillis()));
    }
    return retention;
  }

  /** Requires one partition, since a manifest must follow the blobs that it names. */
  private void requireSnapshotsTopic(String topic) {
    int partitions = requireCompacted(topic, Optional.of(1), Map.of()).partitions().size();
    if (partitions != 1) {
      throw new UserErrorException(
          "topic %s must have 1 partition, it has %d".formatted(topic, partitions));
    }
  }

  /**
   * Requires compaction: deletion by age would lose live keys, and without compaction the topic
   * would grow without bound.
   *
   * @param partitions how many to create if the topic is missing; the broker's default if empty
   * @param settings more settings of a topic that is created
   */
  private TopicDescription requireCompacted(
      String topic, Optional<Integer> partitions, Map<String, String> settings) {
    TopicDescription description =
        describeOrCreate(topic, partitions, TopicConfig.CLEANUP_POLICY_COMPACT, settings);
    cleanupPolicy(topic)
        .filter(policy -> !policy.equals(TopicConfig.CLEANUP_POLICY_COMPACT))
        .ifPresent(
            policy -> {
              throw new UserErrorException(
                  "topic %s must have cleanup.policy=compact, it has %s".formatted(topic, policy));
            });
    return description;
  }

  /**
   * Refuses compaction, which would keep one repeat of each key and refuse records without a key.
   */
  private void requireNotCompacted(String topic, Optional<Integer> partitions) {
    describeOrCreate(topic, partitions, TopicConfig.CLEANUP_POLICY_DELETE, Map.of());
    cleanupPolicy(topic)
        .filter(policy -> policy.contains(TopicConfig.CLEANUP_POLICY_COMPACT))
        .ifPresent(
            policy -> {
              throw new UserErrorException(
                  "topic %s must have cleanup.policy=delete, it has %s".formatted(topic, policy));
            });
  }

  private void requireTransactionTimeout(Duration timeout) {
    config(new ConfigResource(ConfigResource.Type.BROKER, anyBroker), "transaction.max.timeout.ms")
        .map(Long::parseLong)
        .filter(maxMillis -> timeout.toMillis() > maxMillis)
        .ifPresent(
            maxMillis -> {
              throw new UserErrorException(
                  "--transaction-timeout must be at most %s, which is what the brokers at %s allow, got %s"
                      .formatted(
                          OptionValues.write(Duration.ofMillis(maxMillis)),
                          servers,
                          OptionValues.write(timeout)));
            });
  }

  private TopicDescription describeOrCreate(
      String topic,
      Optional<Integer> partitions,
      String cleanupPolicy,
      Map<String, String> settings) {
    return describe(topic)
        .orElseGet(
            () -> {
              create(topic, partitions, cleanupPolicy, settings);
              return describe(topic)
                  .orElseThrow(
                      () ->
                          new UserErrorException(
                              "topic %s was made at %s but is not there"
                                  .formatted(topic, servers)));
            });
  }

  private void create(
      String topic,
      Optional<Integer> partitions,
      String cleanupPolicy,
      Map<String, String> settings) {
    NewTopic newTopic = new NewTopic(topic, partitions, Optional.empty());
    Map<String, String> all = new HashMap<>(settings);
    all.put(TopicConfig.CLEANUP_POLICY_CONFIG, cleanupPolicy);
    newTopic.configs(all);
    try {
      getOrThrow(admin.createTopics(List.of(newTopic)).all());
    } catch (TopicExistsException e) {
      return;
    } catch (AuthorizationException e) {
      throw new UserErrorException(
          "there is no topic %s at %s, and it may not be made: make it with cleanup.policy=%s"
              .formatted(topic, servers, cleanupPolicy));
    } catch (KafkaException e) {
      throw new UserErrorException(
          "cannot make topic %s at %s: %s".formatted(topic, servers, deepestMessage(e)));
    }
    awaitLeaders(topic);
  }

  /** Waits until a new topic accepts records: records sent earlier can be lost. */
  private void awaitLeaders(String topic) {
    long deadlineNanos = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      try {
        Map<TopicPartition, OffsetSpec> ends = new HashMap<>();
        TopicDescription description =
            getOrThrow(admin.describeTopics(List.of(topic)).topicNameValues().get(topic));
        description
            .partitions()
            .forEach(
                partition ->
                    ends.put(
                        new TopicPartition(topic, partition.partition()), OffsetSpec.latest()));
        getOrThrow(admin.listOffsets(ends).all());
        return;
      } catch (KafkaException e) {
        if (System.nanoTime() > deadlineNanos) {
          throw new UserErrorException(
              "topic %s was made at %s but takes no records: %s"
                  .formatted(topic, servers, deepestMessage(e)));
        }
      }
      pause();
    }
  }

  private static void pause() {
    try {
      Thread.sleep(50);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UserErrorException("interrupted while waiting for Kafka");
    }
  }

  private Optional<TopicDescription> describe(String topic) {
    try {
      return Optional.of(
          getOrThrow(admin.describeTopics(List.of(topic)).topicNameValues().get(topic)));
    } catch (UnknownTopicOrPartitionException e) {
      return Optional.empty();
    } catch (KafkaException e) {
      throw refusal(e);
    }
  }

  private Optional<String> cleanupPolicy(String topic) {
    return config(
        new ConfigResource(ConfigResource.Type.TOPIC, topic), TopicConfig.CLEANUP_POLICY_CONFIG);
  }

  /** A setting; empty if we are not authorised to read it. */
  private Optional<String> config(ConfigResource resource, String name) {
    try {
      Config config = getOrThrow(admin.describeConfigs(List.of(resource)).all()).get(resource);
      return Optional.ofNullable(config.get(name)).map(ConfigEntry::value);
    } catch (AuthorizationException e) {
      return Optional.empty();
    } catch (KafkaException e) {
      throw refusal(e);
    }
  }

  private <T> T get(KafkaFuture<T> future) {
    try {
      return getOrThrow(future);
    } catch (KafkaException e) {
      throw refusal(e);
    }
  }

  private UserErrorException refusal(KafkaException e) {
    return new UserErrorException(
        e instanceof TimeoutException
            ? "no Kafka broker answers at %s (waited %s)"
                .formatted(servers, OptionValues.write(PATIENCE))
            : "Kafka at %s refuses: %s".formatted(servers, deepestMessage(e)));
  }

  private static <T> T getOrThrow(KafkaFuture<T> future) {
    try {
      return future.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof KafkaException kafka ? kafka : new KafkaException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KafkaException("interrupted", e);
    }
  }

  private static String deepestMessage(Throwable e) {
    Throwable deepest = e;
    while (deepest.getCause() != null) {
      deepest = deepest.getCause();
    }
    return deepest.getMessage();
  }

  @Override
  public void close() {
    admin.close(Duration.ZERO);
  }
}
