package io.firstseen.consumer.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;

/**
 * The follower with a broker and a time that are simulated; with a real broker it is tested beside
 * the embedded one. All runs on the thread of the test.
 */
class TopicFollowerTest {
  private static final TopicPartition PARTITION = new TopicPartition("topic", 0);
  private static final String NO_ANSWER =
      "unreachable: no answer about topic 'topic' from localhost:9092 within 5 s";

  private final Simulation simulation = new Simulation();
  private final List<String> events = new ArrayList<>();
  private final List<Long> tickMillis = new ArrayList<>();
  private Runnable atStart = () -> {};

  private final TopicFollower follower =
      new TopicFollower(
          "topic",
          Map.of("bootstrap.servers", "localhost:9092"),
          new Remembering(),
          simulation,
          simulation);

  /** What happens at which moment. */
  private record Happening(long millis, Runnable what) {}

  /** The time, which passes only while the follower waits, and the broker. */
  private final class Simulation implements FollowerTime, TopicFollower.Connections {
    private final List<Happening> happenings = new ArrayList<>();
    private long nanos;
    private boolean isUp = true;
    private boolean isKnown = true;
    private String topicId = "first";
    private long records;
    private int consumers;

    private long millis() {
      return TimeUnit.NANOSECONDS.toMillis(nanos);
    }

    void at(long seconds, Runnable what) {
      happenings.add(new Happening(seconds * 1_000, what));
    }

    private void pass(Duration time) {
      nanos += time.toNanos();
      while (!happenings.isEmpty() && happenings.get(0).millis <= millis()) {
        happenings.remove(0).what.run();
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
          return isUp ? Optional.of(topicId) : Optional.empty();
        }

        @Override
        public void close() {}
      };
    }
  }

  private final class SimulatedConsumer extends MockConsumer<byte[], byte[]> {
    private long position;

    SimulatedConsumer() {
      super("none");
    }

    private void requireAnswer(Duration timeout) {
      if (!simulation.isUp) {
        simulation.pass(timeout);
        throw new TimeoutException();
      }
    }

    @Override
    public List<PartitionInfo> partitionsFor(String topic, Duration timeout) {
      requireAnswer(timeout);
      return List.of(new PartitionInfo(topic, 0, null, null, null));
    }

    @Override
    public Map<TopicPartition, Long> endOffsets(
        Collection<TopicPartition> partitions, Duration timeout) {
      requireAnswer(timeout);
      return Map.of(PARTITION, simulation.records);
    }

    @Override
    public synchronized void seekToBeginning(Collection<TopicPartition> partitions) {
      position = 0;
    }

    @Override
    public synchronized long position(TopicPartition partition, Duration timeout) {
      return position;
    }

    @Override
    public OptionalLong currentLag(TopicPartition partition) {
      return OptionalLong.of(simulation.isUp ? simulation.records - position : 0);
    }

    @Override
    public synchronized ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
      if (!simulation.isUp || position >= simulation.records) {
        simulation.pass(timeout);
        return ConsumerRecords.empty();
      }
      byte[] key = "key".getBytes(StandardCharsets.UTF_8);
      ConsumerRecord<byte[], byte[]> record =
          new ConsumerRecord<>("topic", 0, position++, key, new byte[0]);
      return new ConsumerRecords<>(Map.of(PARTITION, List.of(record)), Map.of());
    }
  }

  private final class Remembering implements TopicFollower.Reader {
    @Override
    public void start() {
      events.add("start");
      atStart.run();
    }

    @Override
    public void end() {
      events.add("end");
    }

    @Override
    public OptionalLong open(String topicId) {
      events.add("open " + topicId);
      return OptionalLong.empty();
    }

    @Override
    public void rewind() {}

    @Override
    public void accept(long offset, String key, byte[] value) {
      events.add("record " + offset);
    }

    @Override
    public void progress(long recordsLeft) {}

    @Override
    public boolean settle() {
      return false;
    }

    @Override
    public void tick() {
      tickMillis.add(simulation.millis());
    }

    @Override
    public void unreachable(String reason) {
      events.add("unreachable: " + reason);
    }

    @Override
    public void reachable() {
      events.add("reachable");
    }
  }

  private void followFor(long seconds) {
    simulation.at(seconds, follower::close);
    follower.run();
  }

  @Test
  void aReaderThatFailsAtItsStartIsReportedAndFollowedAllTheSame() {
    atStart =
        () -> {
          throw new StackOverflowError("on purpose");
        };
    followFor(5);
    assertThat(events)
        .containsExactly(
            "start",
            "unreachable: topic 'topic' cannot be read: java.lang.StackOverflowError: on purpose",
            "open first",
            "reachable",
            "end");
  }

  @Test
  void anOutageOfAMinuteIsToldOnceAndItsEndToo() {
    simulation.records = 1;
    simulation.at(5, () -> simulation.isUp = false);
    simulation.at(
        65,
        () -> {
          simulation.isUp = true;
          simulation.records = 2;
        });
    followFor(75);
    assertThat(events)
        .containsExactly(
            "start", "open first", "record 0", NO_ANSWER, "record 1", "reachable", "end");
    assertThat(simulation.consumers).as("of one connection").isEqualTo(1);
    ticksComeEvery(8);
  }

  @Test
  void aBrokerThatIsNotThereForAMinuteIsToldOnce() {
    simulation.isUp = false;
    simulation.at(60, () -> simulation.isUp = true);
    followFor(70);
    assertThat(events).containsExactly("start", NO_ANSWER, "open first", "reachable", "end");
    ticksComeEvery(8);
  }

  private void ticksComeEvery(long seconds) {
    for (int i = 1; i < tickMillis.size(); i++) {
      assertThat(tickMillis.get(i) - tickMillis.get(i - 1)).isLessThanOrEqualTo(seconds * 1_000);
    }
  }

  @Test
  void whatFailsAtOnceIsTriedAgainEveryHalfMinuteInTheEnd() {
    simulation.isKnown = false;
    followFor(600);
    assertThat(events)
        .containsExactly("start", "unreachable: topic 'topic' cannot be read: no such host", "end");
    // After 1, 3, 7, 15, 31, 61, 91, ... seconds.
    assertThat(simulation.consumers).isEqualTo(24);
  }

  @Test
  void aTopicThatWasCreatedAnewIsFoundOutWithinTenSeconds() {
    simulation.at(25, () -> simulation.topicId = "second");
    simulation.at(35, () -> events.add("10 s later"));
    followFor(60);
    assertThat(events).containsExactly("start", "open first", "open second", "10 s later", "end");
  }

  @Test
  void aTopicThatIsShorterThanItWasIsReadAgain() {
    simulation.records = 3;
    simulation.at(5, () -> simulation.records = 1);
    followFor(20);
    assertThat(events)
        .containsExactly(
            "start",
            "open first",
            "record 0",
            "record 1",
            "record 2",
            "unreachable: topic 'topic' cannot be read: the last records that were read are gone",
            "open first",
            "record 0",
            "reachable",
            "end");
  }
}
