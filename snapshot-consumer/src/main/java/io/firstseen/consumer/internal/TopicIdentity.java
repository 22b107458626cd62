package io.firstseen.consumer.internal;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InterruptException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Requests the current id of a topic. A topic that is deleted and recreated has a different id. */
interface TopicIdentity extends AutoCloseable {

  /** Returns the id; empty if it cannot be read for any reason. */
  Optional<String> read();

  @Override
  void close();

  final class OfBrokers implements TopicIdentity {
    private static final Logger LOG = LoggerFactory.getLogger(TopicIdentity.class);

    private final String topic;
    private final Duration timeout;
    private final Admin admin;

    OfBrokers(String topic, Map<String, Object> properties, Duration timeout) {
      this.topic = topic;
      this.timeout = timeout;
      Map<String, Object> known = new HashMap<>(properties);
      known.keySet().retainAll(AdminClientConfig.configNames());
      this.admin = Admin.create(known);
    }

    @Override
    public Optional<String> read() {
      try {
        Uuid id =
            admin
                .describeTopics(List.of(topic))
                .topicNameValues()
                .get(topic)
                .get(timeout.toMillis(), TimeUnit.MILLISECONDS)
                .topicId();
        return id.equals(Uuid.ZERO_UUID) ? Optional.empty() : Optional.of(id.toString());
      } catch (ExecutionException | TimeoutException e) {
        LOG.debug("the id of topic {} is not known", topic, e);
        return Optional.empty();
      } catch (InterruptedException e) {
        throw new InterruptException(e);
      }
    }

    @Override
    public void close() {
      admin.close(Duration.ZERO);
    }
  }
}
