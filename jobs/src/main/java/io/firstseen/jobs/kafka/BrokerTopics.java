package io.firstseen.jobs.kafka;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** Reads topics from the brokers in a task; a {@link KafkaException} means no response. */
class BrokerTopics implements AutoCloseable {
  static final Duration TIMEOUT = Duration.ofSeconds(12);
  // A new topic becomes known to the brokers at different times.
  // Not final: tests with one broker set a shorter time.
  static Duration propagationTime = Duration.ofSeconds(5);

  private final Properties clientProperties = new Properties();
  private Admin admin;

  BrokerTopics(Properties clientProperties) {
    this.clientProperties.putAll(clientProperties);
    String timeoutMillis = Long.toString(TIMEOUT.toMillis());
    this.clientProperties.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, timeoutMillis);
    this.clientProperties.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, timeoutMillis);
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
      try {
        Thread.sleep(100);
      } catch (InterruptedException e) {
        throw new InterruptException(e);
      }
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

  @Override
  public void close() {
    if (admin != null) {
      admin.close(Duration.ZERO);
    }
  }
}
