package io.firstseen.consumer.internal;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a topic from its beginning, or from its reader's offset, and then follows its end across
 * broker outages. Reads committed records without a consumer group: first all partitions from the
 * beginning, and then only the first partition while its reader does not need bases. Runs on the
 * thread that calls {@link #run}, and calls its {@link Reader} on this thread.
 */
public final class TopicFollower implements Runnable, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TopicFollower.class);

  // The maximum time between two calls of Reader.settle at the end of the topic.
  private static final Duration POLL = Duration.ofMillis(200);
  // A consumer does not report that its broker is unreachable, so it is probed when no records
  // arrive.
  private static final Duration PROBE_AFTER_SILENCE = Duration.ofSeconds(2);
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(5);
  // Offsets do not reveal a recreated topic that has grown to the length of the old topic.
  private static final Duration IDENTITY_CHECK = Duration.ofSeconds(10);
  // Brokers that did not return the topic id may keep the follower waiting again.
  private static final Duration UNKNOWN_IDENTITY_CHECK = Duration.ofMinutes(1);
  private static final long MIN_RETRY_MILLIS = 1_000;
  private static final long MAX_RETRY_MILLIS = 30_000;

  private final String topic;
  private final Map<String, Object> consumerProperties;
  private final Reader reader;
  private final FollowerTime time;
  private final Connections connections;
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile Consumer<byte[], byte[]> consumer;
  private boolean started;
  private boolean reachable = true;
  private Retry retry = Retry.NONE;

  /** Receives the records. */
  public interface Reader {

    /** Called once, before all other methods. */
    void start();

    /** Called once, after all other methods. */
    void end();

    /**
     * Called before the topic is read.
     *
     * @param topicId differs if the topic was deleted and recreated; null if unknown
     * @return the offset to resume from in the first partition only; empty to read all partitions
     *     from the beginning
     */
    OptionalLong open(@Nullable String topicId);

    /** Called before all partitions are read from their beginning. */
    void rewind();

    /** Used as the offset of a record that is not in the first partition. */
    long OTHER_PARTITION = Long.MAX_VALUE;

    /**
     * Receives the next record.
     *
     * @param offset its offset in the first partition, or {@link #OTHER_PARTITION}
     * @param value null for a tombstone
     */
    void accept(long offset, String key, byte @Nullable [] value);

    /**
     * Called when some records have been read and about {@code recordsLeft} remain; not called at
     * the end.
     */
    void progress(long recordsLeft);

    /**
     * Called when all records so far have been read, repeatedly while there are no new records.
     *
     * @return whether to read all partitions again from their beginning
     */
    boolean settle();

    /**
     * Returns whether partitions other than the first must still be read, after {@link #settle}.
     */
    boolean needsBases();

    /** Called at least every few seconds, also while the topic cannot be read. */
    void tick();

    /** Called once per outage in which the topic cannot be read. */
    void unreachable(String reason);

    /** Called when the topic can be read again. */
    void reachable();
  }

  interface Connections {

    Connections KAFKA =
        new Connections() {
          @Override
          public Consumer<byte[], byte[]> consumer(Map<String, Object> properties) {
            return new KafkaConsumer<>(
                properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
          }

          @Override
          public TopicIdentity identity(String topic, Map<String, Object> properties) {
            return new TopicIdentity.OfBrokers(topic, properties, ANSWER_TIMEOUT);
          }
        };

    Consumer<byte[], byte[]> consumer(Map<String, Object> properties);

    TopicIdentity identity(String topic, Map<String, Object> properties);
  }

  /**
   * Creates a follower; {@link #run} starts it.
   *
   * @param topic the topic to read
   * @param consumerProperties settings of the Kafka consumer besides {@link #followerProperties}
   */
  public TopicFollower(
      String topic, Map<String, Object> consumerProperties, Reader reader, FollowerTime time) {
    this(topic, consumerProperties, reader, time, Connections.KAFKA);
  }

  TopicFollower(
      String topic,
      Map<String, Object> consumerProperties,
      Reader reader,
      FollowerTime time,
      Connections connections) {
    this.topic = topic;
    this.consumerProperties = Map.copyOf(consumerProperties);
    this.reader = reader;
    this.time = time;
    this.connections = connections;
  }

  /** Returns the consumer settings that are required to read exactly the committed records. */
  static Map<String, Object> followerProperties() {
    return Map.of(
        "isolation.level", "read_committed",
        "auto.offset.reset", "none",
        "enable.auto.commit", false,
        "allow.auto.create.topics", false,
        "enable.metrics.push", false);
  }

  /** Follows until {@link #close}. */
  @Override
  public void run() {
    try {
      while (isOpen()) {
        try {
          followUntilTrouble();
        } catch (WakeupException | InterruptException e) {
          throw e;
        } catch (RuntimeException | Error e) {
          // Memory may have been exhausted while a failure was reported.
          LOG.debug("reporting a failure failed", e);
          pause(Math.max(MIN_RETRY_MILLIS, retry.pause()));
        }
      }
    } catch (WakeupException | InterruptException e) {
      LOG.debug("no longer following topic {}", topic);
    } finally {
      reader.end();
    }
  }

  private void followUntilTrouble() {
    try {
      if (!started) {
        started = true;
        reader.start();
      }
      follow();
    } catch (WakeupException | InterruptException e) {
      throw e;
    } catch (RuntimeException | Error e) {
      // Keep running after any exception: if the follower ended, its set would grow old unnoticed.
      LOG.debug("following topic {} failed", topic, e);
      reportUnreachable("topic '%s' cannot be read: %s".formatted(topic, reason(e)));
      reader.tick();
      retry = retry.next(0, MIN_RETRY_MILLIS, MAX_RETRY_MILLIS);
      pause(retry.pause());
    }
  }

  /** Makes {@link #run} return soon. May be called by any thread, also before {@link #run}. */
  @Override
  public void close() {
    closed.countDown();
    Consumer<byte[], byte[]> current = consumer;
    if (current != null) {
      current.wakeup();
    }
  }

  private boolean isOpen() {
    return closed.getCount() > 0;
  }

  private void pause(long millis) {
    try {
      if (time.await(closed, millis)) {
        throw new WakeupException();
      }
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    }
  }

  private void follow() {
    Map<String, Object> properties = new HashMap<>(consumerProperties);
    properties.putAll(followerProperties());
    Consumer<byte[], byte[]> opened = connections.consumer(properties);
    consumer = opened;
    try {
      awaitPartitions(opened);
      try (TopicIdentity identity = connections.identity(topic, properties)) {
        String topicId = identity.read().orElse(null);
        begin(opened, reader.open(topicId));
        readOn(opened, identity, topicId);
      }
    } finally {
      consumer = null;
      // Without this, closing would wait for the response to a fetch that is no longer needed.
      opened.close(CloseOptions.timeout(Duration.ZERO));
    }
  }

  private List<TopicPartition> awaitPartitions(Consumer<byte[], byte[]> from) {
    while (isOpen()) {
      try {
        List<PartitionInfo> partitions = from.partitionsFor(topic, ANSWER_TIMEOUT);
        if (partitions != null && !partitions.isEmpty()) {
          return partitions.stream().map(p -> new TopicPartition(topic, p.partition())).toList();
        }
        reportUnreachable("there is no topic '%s' yet".formatted(topic));
      } catch (TimeoutException e) {
        reportNoAnswer();
      }
      reader.tick();
      pause(MIN_RETRY_MILLIS);
    }
    throw new WakeupException();
  }

  private void begin(Consumer<byte[], byte[]> on, OptionalLong offset) {
    if (offset.isPresent()) {
      List<TopicPartition> partition = List.of(first());
      long first = on.beginningOffsets(partition, ANSWER_TIMEOUT).get(first());
      long end = on.endOffsets(partition, ANSWER_TIMEOUT).get(first());
      if (offset.getAsLong() >= first && offset.getAsLong() <= end) {
        on.assign(partition);
        on.seek(first(), offset.getAsLong());
        return;
      }
    }
    rewind(on);
  }

  private TopicPartition first() {
    return new TopicPartition(topic, 0);
  }

  private void rewind(Consumer<byte[], byte[]> on) {
    // Partitions may have been added to the topic in the meantime.
    List<TopicPartition> partitions = awaitPartitions(on);
    on.assign(partitions);
    on.seekToBeginning(partitions);
    reader.rewind();
  }

  /**
   * Returns the key of a record, empty if it has no key. Only records of other programs have no
   * key.
   */
  static String keyOf(ConsumerRecord<byte[], byte[]> record) {
    return record.key() == null ? "" : new String(record.key(), StandardCharsets.UTF_8);
  }

  /** Reads until the follower is closed or the topic is recreated. */
  private void readOn(Consumer<byte[], byte[]> from, TopicIdentity identity, String topicId) {
    long heardNanos = time.nanoTime();
    long identifiedNanos = heardNanos;
    boolean reachedEnd = false;
    while (isOpen()) {
      ConsumerRecords<byte[], byte[]> records = poll(from);
      for (ConsumerRecord<byte[], byte[]> each : records) {
        reader.accept(
            each.partition() == 0 ? each.offset() : Reader.OTHER_PARTITION,
            keyOf(each),
            each.value());
      }
      if (!records.isEmpty()) {
        heardNanos = time.nanoTime();
        reportReachable();
      } else if (time.nanoTime() - heardNanos >= PROBE_AFTER_SILENCE.toNanos()) {
        probe(from);
        heardNanos = time.nanoTime();
      }
      if (isAtEnd(from)) {
        if (!reachedEnd) {
          reachedEnd = true;
          retry = Retry.NONE;
          reportReachable();
        }
        if (reader.settle()) {
          rewind(from);
        } else if (from.assignment().size() > 1 && !reader.needsBases()) {
          from.assign(List.of(first()));
        }
      } else if (!records.isEmpty()) {
        reader.progress(recordsLeft(from));
      }
      reader.tick();
      Duration check = topicId == null ? UNKNOWN_IDENTITY_CHECK : IDENTITY_CHECK;
      if (time.nanoTime() - identifiedNanos >= check.toNanos()) {
        if (identity.read().filter(id -> !id.equals(topicId)).isPresent()) {
          return;
        }
        identifiedNanos = time.nanoTime();
      }
    }
  }

  private static ConsumerRecords<byte[], byte[]> poll(Consumer<byte[], byte[]> from) {
    try {
      return from.poll(POLL);
    } catch (OffsetOutOfRangeException e) {
      throw shorterThanItWas();
    }
  }

  private static KafkaException shorterThanItWas() {
    return new KafkaException("the last records that were read no longer exist");
  }

  private static long recordsLeft(Consumer<byte[], byte[]> of) {
    return of.assignment().stream().mapToLong(each -> of.currentLag(each).orElse(0)).sum();
  }

  private static boolean isAtEnd(Consumer<byte[], byte[]> of) {
    return of.assignment().stream().allMatch(partition -> of.currentLag(partition).orElse(1) == 0);
  }

  private void probe(Consumer<byte[], byte[]> with) {
    try {
      Collection<TopicPartition> partitions = with.assignment();
      Map<TopicPartition, Long> ends = with.endOffsets(partitions, ANSWER_TIMEOUT);
      for (TopicPartition partition : partitions) {
        if (with.position(partition, ANSWER_TIMEOUT) > ends.get(partition)) {
          throw shorterThanItWas();
        }
      }
      reportReachable();
    } catch (TimeoutException e) {
      reportNoAnswer();
    }
  }

  private static String reason(Throwable e) {
    if (!(e instanceof KafkaException)) {
      return e.toString();
    }
    return e.getCause() == null ? e.getMessage() : e.getMessage() + ": " + reason(e.getCause());
  }

  private void reportNoAnswer() {
    reportUnreachable(
        "no answer about topic '%s' from %s within %d s"
            .formatted(
                topic, consumerProperties.get("bootstrap.servers"), ANSWER_TIMEOUT.toSeconds()));
  }

  private void reportUnreachable(String reason) {
    if (reachable) {
      reader.unreachable(reason);
      reachable = false;
    }
  }

  private void reportReachable() {
    if (!reachable) {
      reachable = true;
      reader.reachable();
    }
  }
}
