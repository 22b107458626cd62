package io.firstseen.jobs.kafka;

import io.firstseen.jobs.options.OptionValues;
import io.firstseen.operators.UserErrorException;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.FinalizedVersionRange;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.TransactionalIdNotFoundException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads topics, settings and permissions from the brokers. Before a job starts, methods throw a
 * {@link UserErrorException} for every error, within 30 seconds. In a task, {@link #describe} and
 * {@link #offsets} throw a {@link KafkaException} if the brokers do not respond.
 */
final class Brokers implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Brokers.class);
  private static final Duration TIMEOUT = Duration.ofSeconds(12);
  // A new topic becomes known to the brokers at different times.
  // Not final: tests with one broker set a shorter time.
  static Duration propagationTime = Duration.ofSeconds(5);

  private final Properties clientProperties = new Properties();
  private final String servers;
  // The settings that were read; empty if the user is not authorised to read them.
  private final Map<ConfigResource, Optional<Config>> configs = new HashMap<>();
  private Admin admin;
  private Collection<Node> nodes = List.of();

  Brokers(Properties clientProperties) {
    this.clientProperties.putAll(clientProperties);
    this.servers = clientProperties.getProperty(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG);
    String timeoutMillis = Long.toString(TIMEOUT.toMillis());
    this.clientProperties.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, timeoutMillis);
    this.clientProperties.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, timeoutMillis);
  }

  /** Connects before a job starts. */
  static Brokers connect(Properties clientProperties) {
    Brokers brokers = new Brokers(clientProperties);
    try {
      brokers.admin();
    } catch (KafkaException e) {
      throw new UserErrorException(
          "cannot connect to Kafka at %s: %s".formatted(brokers.servers, deepestMessage(e)));
    }
    try {
      brokers.nodes = brokers.answer(brokers.admin().describeCluster().nodes());
      return brokers;
    } catch (RuntimeException e) {
      brokers.close();
      throw e;
    }
  }

  Admin admin() {
    if (admin == null) {
      admin = Admin.create(clientProperties);
    }
    return admin;
  }

  /** The topics that exist, by name. A topic is missing if it is unknown for a few seconds. */
  Map<String, TopicDescription> describe(Collection<String> names) {
    long deadlineNanos = System.nanoTime() + propagationTime.toNanos();
    while (true) {
      Map<String, TopicDescription> found = new HashMap<>();
      admin()
          .describeTopics(names)
          .topicNameValues()
          .forEach(
              (name, answer) -> {
                try {
                  found.put(name, get(answer));
                } catch (UnknownTopicOrPartitionException e) {
                  // This broker does not know the topic.
                }
              });
      if (found.keySet().containsAll(names) || System.nanoTime() > deadlineNanos) {
        return found;
      }
      pause();
    }
  }

  private static void pause() {
    try {
      Thread.sleep(100);
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    }
  }

  /** The offset of the first or after the last record of each partition. */
  Map<TopicPartition, Long> offsets(Collection<TopicPartition> partitions, OffsetSpec which) {
    Map<TopicPartition, OffsetSpec> specs = new HashMap<>();
    partitions.forEach(partition -> specs.put(partition, which));
    Map<TopicPartition, Long> offsets = new HashMap<>();
    get(admin().listOffsets(specs).all())
        .forEach((partition, result) -> offsets.put(partition, result.offset()));
    return offsets;
  }

  static <T> T get(KafkaFuture<T> future) {
    try {
      return future.get();
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof KafkaException kafka ? kafka : new KafkaException(e.getCause());
    }
  }

  int count() {
    return nodes.size();
  }

  /** The level of the feature {@code metadata.version}; empty if the brokers do not report it. */
  OptionalInt metadataLevel() {
    try {
      FinalizedVersionRange range =
          get(admin().describeFeatures().featureMetadata())
              .finalizedFeatures()
              .get("metadata.version");
      return range == null ? OptionalInt.empty() : OptionalInt.of(range.maxVersionLevel());
    } catch (KafkaException e) {
      LOG.debug("the broker does not report its features", e);
      return OptionalInt.empty();
    }
  }

  Set<String> topics() {
    return answer(admin().listTopics().names());
  }

  /** The topic, on which the job's user needs permissions; empty if the topic does not exist. */
  Optional<TopicDescription> topic(String name, Set<AclOperation> rights) {
    return Optional.ofNullable(topics(List.of(name), rights).get(name));
  }

  /** The existing topics, on which the job's user needs permissions, in this order. */
  Map<String, TopicDescription> topics(List<String> names, Set<AclOperation> rights) {
    DescribeTopicsOptions withRights =
        new DescribeTopicsOptions().includeAuthorizedOperations(true);
    var answers = admin().describeTopics(names, withRights).topicNameValues();
    Map<String, TopicDescription> topics = new LinkedHashMap<>();
    for (String name : names) {
      try {
        TopicDescription topic = get(answers.get(name));
        requireRights(topic, rights);
        topics.put(name, topic);
      } catch (UnknownTopicOrPartitionException e) {
        LOG.debug("there is no topic {}", name, e);
      } catch (TopicAuthorizationException e) {
        throw mayNot(name, rights);
      } catch (KafkaException e) {
        throw refusal(e);
      }
    }
    return topics;
  }

  private void requireRights(TopicDescription topic, Set<AclOperation> rights) {
    Set<AclOperation> held = topic.authorizedOperations();
    // Null or empty if the brokers do not report permissions.
    if (held != null && !held.isEmpty() && !held.containsAll(rights)) {
      Set<AclOperation> missing = EnumSet.copyOf(rights);
      missing.removeAll(held);
      throw mayNot(topic.name(), missing);
    }
  }

  private UserErrorException mayNot(String topic, Set<AclOperation> rights) {
    List<String> names =
        rights.stream()
            .sorted()
            .map(right -> right == AclOperation.READ ? "Read" : "Write")
            .toList();
    return new UserErrorException(
        "the job's user may not %s topic %s at %s: allow it with kafka-acls.sh --operation %s --topic %s"
            .formatted(
                String.join(" and ", names).toLowerCase(Locale.ROOT),
                topic,
                servers,
                String.join(" --operation ", names),
                topic));
  }

  /** Requires Write on transactional ids: describes one, which Write implies. */
  void requireIds(String prefix) {
    // The job's id follows.
    String id = prefix + ".0";
    requireRight(
        admin().describeTransactions(List.of(id)).description(id),
        "the job's user may not write with transactional ids that start with %s. at %s: allow it with kafka-acls.sh --operation Write --transactional-id %s. --resource-pattern-type prefixed"
            .formatted(prefix, servers, prefix));
  }

  /** Requires the permission Read on a consumer group, like {@link #requireIds}. */
  void requireGroup(String name) {
    requireRight(
        admin().listConsumerGroupOffsets(name).partitionsToOffsetAndMetadata(),
        "the job's user may not read in consumer group %s at %s: allow it with kafka-acls.sh --operation Read --group %s"
            .formatted(name, servers, name));
  }

  private void requireRight(KafkaFuture<?> answer, String refusal) {
    try {
      get(answer);
    } catch (AuthorizationException e) {
      throw new UserErrorException(refusal);
    } catch (TransactionalIdNotFoundException
        | GroupIdNotFoundException
        | UnsupportedVersionException e) {
      LOG.debug("the id or group does not exist yet, or the broker does not report it", e);
    } catch (TimeoutException e) {
      throw new UserErrorException(
          "the brokers at %s did not describe transactions or groups within %s: try again if they have just started; otherwise make sure that transaction.state.log.replication.factor and offsets.topic.replication.factor are at most the number of brokers, %d"
              .formatted(servers, OptionValues.write(TIMEOUT), count()));
    } catch (KafkaException e) {
      throw refusal(e);
    }
  }

  /** The committed offsets of a group; empty if it is unknown, or not authorised. */
  Map<TopicPartition, Long> committed(String group) {
    Map<TopicPartition, Long> committed = new HashMap<>();
    try {
      get(admin().listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata())
          .forEach(
              (partition, offset) -> {
                if (offset != null) {
                  committed.put(partition, offset.offset());
                }
              });
    } catch (GroupIdNotFoundException | AuthorizationException e) {
      LOG.debug("no committed offsets are known", e);
    } catch (KafkaException e) {
      throw refusal(e);
    }
    return committed;
  }

  /** A setting of any broker; empty if the user is not authorised to read it. */
  Optional<String> setting(String name) {
    return setting(
        new ConfigResource(ConfigResource.Type.BROKER, nodes.iterator().next().idString()), name);
  }

  /** A setting of a topic; empty if the user is not authorised to read it. */
  Optional<String> setting(String topic, String name) {
    return setting(new ConfigResource(ConfigResource.Type.TOPIC, topic), name);
  }

  /** Reads the settings of all topics in one request. */
  void readSettings(Collection<String> topics) {
    read(topics.stream().map(each -> new ConfigResource(ConfigResource.Type.TOPIC, each)).toList());
  }

  private Optional<String> setting(ConfigResource resource, String name) {
    if (!configs.containsKey(resource)) {
      read(List.of(resource));
    }
    return configs.get(resource).map(config -> config.get(name)).map(ConfigEntry::value);
  }

  private void read(List<ConfigResource> resources) {
    admin()
        .describeConfigs(resources)
        .values()
        .forEach((resource, answer) -> configs.put(resource, config(resource, answer)));
  }

  private Optional<Config> config(ConfigResource resource, KafkaFuture<Config> answer) {
    try {
      try {
        return Optional.of(get(answer));
      } catch (UnknownTopicOrPartitionException e) {
        // Another broker knows the topic.
        return Optional.of(
            await(
                UnknownTopicOrPartitionException.class,
                () -> get(admin().describeConfigs(List.of(resource)).values().get(resource))));
      }
    } catch (AuthorizationException e) {
      return Optional.empty();
    } catch (KafkaException e) {
      throw refusal(e);
    }
  }

  /** Creates a topic, and waits until it accepts records; earlier records can be lost. */
  TopicDescription create(NewTopic topic, Set<AclOperation> rights) {
    String name = topic.name();
    try {
      get(admin().createTopics(List.of(topic)).all());
    } catch (TopicExistsException e) {
      LOG.debug("another process created the topic, or the broker did not know it yet", e);
    } catch (AuthorizationException e) {
      throw new UserErrorException(
          "topic %s does not exist at %s, and the job's user may not create it: create it with cleanup.policy=%s"
              .formatted(name, servers, topic.configs().get(TopicConfig.CLEANUP_POLICY_CONFIG)));
    } catch (InvalidReplicationFactorException e) {
      throw new UserErrorException(
          "topic %s cannot have %s replicas at %s, the number of brokers is %d: start more of them, or set --topic-replication-factor to at most %d"
              .formatted(
                  name,
                  topic.replicationFactor() < 0
                      ? "default.replication.factor"
                      : topic.replicationFactor(),
                  servers,
                  count(),
                  count()));
    } catch (KafkaException e) {
      throw new UserErrorException(
          "cannot create topic %s at %s: %s".formatted(name, servers, deepestMessage(e)));
    }
    try {
      await(KafkaException.class, () -> ends(name));
      return await(
          UnknownTopicOrPartitionException.class,
          () -> topic(name, rights).orElseThrow(UnknownTopicOrPartitionException::new));
    } catch (KafkaException e) {
      throw new UserErrorException(
          "topic %s was created at %s but does not accept records: %s"
              .formatted(name, servers, deepestMessage(e)));
    }
  }

  private Map<TopicPartition, Long> ends(String topic) {
    List<TopicPartition> partitions =
        get(admin().describeTopics(List.of(topic)).topicNameValues().get(topic))
            .partitions()
            .stream()
            .map(each -> new TopicPartition(topic, each.partition()))
            .toList();
    return offsets(partitions, OffsetSpec.latest());
  }

  /** Repeats a request while it fails with this kind of error, until a timeout. */
  private static <T> T await(Class<? extends KafkaException> passing, Supplier<T> question) {
    long deadlineNanos = System.nanoTime() + TIMEOUT.toNanos();
    while (true) {
      try {
        return question.get();
      } catch (KafkaException e) {
        if (!passing.isInstance(e) || System.nanoTime() > deadlineNanos) {
          throw e;
        }
      }
      pause();
    }
  }

  private <T> T answer(KafkaFuture<T> future) {
    try {
      return get(future);
    } catch (KafkaException e) {
      throw refusal(e);
    }
  }

  UserErrorException refusal(KafkaException e) {
    if (e instanceof InterruptException) {
      return new UserErrorException("interrupted while waiting for Kafka");
    }
    return new UserErrorException(
        e instanceof TimeoutException
            ? "no Kafka broker responds at %s (waited %s)"
                .formatted(servers, OptionValues.write(TIMEOUT))
            : "Kafka at %s rejects the request: %s".formatted(servers, deepestMessage(e)));
  }

  static String deepestMessage(Throwable e) {
    return UserErrorException.lastCause(e).getMessage();
  }

  @Override
  public void close() {
    if (admin != null) {
      admin.close(Duration.ZERO);
    }
  }
}
