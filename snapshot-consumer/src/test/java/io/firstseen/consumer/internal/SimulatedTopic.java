package io.firstseen.consumer.internal;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * A topic, its broker and the time, all simulated. The time passes only while a follower waits; all
 * runs on the thread of the test.
 */
public final class SimulatedTopic implements FollowerTime, TopicFollower.Connections {
  private static final String NAME = "topic";

  private final PriorityQueue<Happening> happenings =
      new PriorityQueue<>(Comparator.comparing(Happening::millis).thenComparing(Happening::number));
  private final long fetchMillis;
  // Null where the log was compacted.
  private final List<List<Record>> partitions = new ArrayList<>();
  private Throwable failure;
  private int scheduled;
  private long nanos;
  boolean isUp = true;
  boolean isKnown = true;
  String topicId = "first";
  int consumers;

  /** The events of the simulation by their times. */
  private record Happening(long millis, int number, Runnable what) {}

  /** A record of the topic. */
  @SuppressWarnings("ArrayRecordComponent")
  private record Record(String key, byte[] value) {}

  /**
   * A topic without records.
   *
   * @param fetchMillis how long it takes to fetch a record
   */
  public SimulatedTopic(int partitions, long fetchMillis) {
    this.fetchMillis = fetchMillis;
    resize(partitions);
  }

  /** Adds partitions. */
  void resize(int count) {
    while (partitions.size() < count) {
      partitions.add(new ArrayList<>());
    }
  }

  int lastPartition() {
    return partitions.size() - 1;
  }

  /** Appends a record. */
  public void append(int partition, String key, byte[] value) {
    partitions.get(partition).add(new Record(key, value));
  }

  int length(int partition) {
    return partitions.get(partition).size();
  }

  /** Makes a partition so long: cuts it, or appends records with a key and no value. */
  void setLength(int partition, int length, String key) {
    List<Record> records = partitions.get(partition);
    while (records.size() > length) {
      records.remove(records.size() - 1);
    }
    while (records.size() < length) {
      append(partition, key, new byte[0]);
    }
  }

  /** Removes all records that a later one of the same key replaces, except the last of each log. */
  public void compact() {
    for (List<Record> records : partitions) {
      Set<String> later = new HashSet<>();
      for (int offset = records.size() - 1; offset >= 0; offset--) {
        Record record = records.get(offset);
        if (record != null && !later.add(record.key)) {
          records.set(offset, null);
        }
      }
    }
  }

  /** Deletes and recreates the topic. */
  public void createAnew() {
    partitions.forEach(List::clear);
    topicId += "+";
  }

  /** Takes the broker away, or brings it back. */
  public void setUp(boolean isUpNow) {
    isUp = isUpNow;
  }

  /** The time in milliseconds. */
  public long millis() {
    return TimeUnit.NANOSECONDS.toMillis(nanos);
  }

  /** Schedules something; what it throws is thrown by {@link #follow}. */
  public void atMillis(long millis, Runnable what) {
    happenings.add(new Happening(millis, scheduled++, what));
  }

  void at(long seconds, Runnable what) {
    atMillis(seconds * 1_000, what);
  }

  /** Lets a reader follow the topic for some time. */
  public void follow(TopicFollower.Reader reader, long millis) {
    TopicFollower follower =
        new TopicFollower(NAME, Map.of("bootstrap.servers", "localhost:9092"), reader, this, this);
    atMillis(millis() + millis, follower::close);
    follower.run();
    if (failure != null) {
      throw new AssertionError("at " + millis() + " ms", failure);
    }
  }

  /** Lets time pass. */
  public void pass(Duration time) {
    nanos += time.toNanos();
    while (!happenings.isEmpty() && happenings.peek().millis <= millis()) {
      try {
        happenings.remove().what.run();
      } catch (RuntimeException | AssertionError e) {
        failure = failure == null ? e : failure;
      }
    }
  }

  @Override
  public long nanoTime() {
    return nanos;
  }

  @Override
  public boolean await(CountDownLatch latch, long millis) {
    pass(Duration.ofMillis(millis));
    return latch.getCount() == 0;
  }

  @Override
  public Consumer<byte[], byte[]> consumer(Map<String, Object> properties) {
    consumers++;
    if (!isKnown) {
      throw new KafkaException("no such host");
    }
    return new SimulatedConsumer();
  }

  @Override
  public TopicIdentity identity(String topic, Map<String, Object> properties) {
    return new TopicIdentity() {
      @Override
      public Optional<String> read() {
        return isUp ? Optional.ofNullable(topicId) : Optional.empty();
      }

      @Override
      public void close() {}
    };
  }

  private final class SimulatedConsumer extends MockConsumer<byte[], byte[]> {
    private final Map<TopicPartition, Long> positions = new HashMap<>();

    SimulatedConsumer() {
      super("none");
    }

    private void requireAnswer(Duration timeout) {
      if (!isUp) {
        pass(timeout);
        throw new TimeoutException();
      }
    }

    private long end(TopicPartition partition) {
      return partitions.get(partition.partition()).size();
    }

    @Override
    public List<PartitionInfo> partitionsFor(String topic, Duration timeout) {
      requireAnswer(timeout);
      return IntStream.range(0, partitions.size())
          .mapToObj(number -> new PartitionInfo(topic, number, null, null, null))
          .toList();
    }

    @Override
    public synchronized void assign(Collection<TopicPartition> assigned) {
      super.assign(assigned);
      positions.keySet().retainAll(assigned);
    }

    @Override
    public Map<TopicPartition, Long> beginningOffsets(
        Collection<TopicPartition> of, Duration timeout) {
      requireAnswer(timeout);
      return of.stream().collect(Collectors.toMap(each -> each, each -> 0L));
    }

    @Override
    public Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> of, Duration timeout) {
      requireAnswer(timeout);
      return of.stream().collect(Collectors.toMap(each -> each, this::end));
    }

    @Override
    public synchronized void seekToBeginning(Collection<TopicPartition> of) {
      of.forEach(partition -> positions.put(partition, 0L));
    }

    @Override
    public synchronized void seek(TopicPartition partition, long offset) {
      positions.put(partition, offset);
    }

    @Override
    public synchronized long position(TopicPartition partition, Duration timeout) {
      return positions.get(partition);
    }

    @Override
    public OptionalLong currentLag(TopicPartition partition) {
      return OptionalLong.of(isUp ? end(partition) - positions.get(partition) : 0);
    }

    @Override
    public synchronized ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
      for (TopicPartition partition : assignment()) {
        long position = positions.get(partition);
        while (isUp && position < end(partition)) {
          Record next = partitions.get(partition.partition()).get((int) position);
          positions.put(partition, position + 1);
          if (next != null) {
            pass(Duration.ofMillis(fetchMillis));
            return records(partition, position, next);
          }
          position++;
        }
      }
      pass(timeout);
      return ConsumerRecords.empty();
    }

    private ConsumerRecords<byte[], byte[]> records(
        TopicPartition partition, long offset, Record next) {
      byte[] key = next.key.getBytes(StandardCharsets.UTF_8);
      return new ConsumerRecords<>(
          Map.of(
              partition,
              List.of(new ConsumerRecord<>(NAME, partition.partition(), offset, key, next.value))),
          Map.of());
    }
  }
}
