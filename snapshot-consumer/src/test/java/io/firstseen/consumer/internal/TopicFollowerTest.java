package io.firstseen.consumer.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
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
import org.junit.jupiter.api.Test;

/**
 * The follower with a broker and a time that are simulated; with a real broker it is tested beside
 * the embedded one. All runs on the thread of the test.
 */
class TopicFollowerTest {
  private static final String NO_ANSWER =
      "unreachable: no answer about topic 'topic' from localhost:9092 within 5 s";

  private final Simulation simulation = new Simulation();
  private final List<String> events = new ArrayList<>();
  private final List<Long> tickMillis = new ArrayList<>();
  private Runnable atStart = () -> {};
  private OptionalLong resumeAt = OptionalLong.empty();
  private boolean needsBases;
  private boolean wantsReread;
  private int rewinds;

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
    private int partitions = 1;
    // In the last partition, if there is more than one.
    private long bases;
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
          return isUp ? Optional.ofNullable(topicId) : Optional.empty();
        }

        @Override
        public void close() {}
      };
    }
  }

  private final class SimulatedConsumer extends MockConsumer<byte[], byte[]> {
    private final Map<TopicPartition, Long> positions = new HashMap<>();

    SimulatedConsumer() {
      super("none");
    }

    private void requireAnswer(Duration timeout) {
      if (!simulation.isUp) {
        simulation.pass(timeout);
        throw new TimeoutException();
      }
    }

    private long end(TopicPartition partition) {
      if (partition.partition() == 0) {
        return simulation.records;
      }
      return partition.partition() == simulation.partitions - 1 ? simulation.bases : 0;
    }

    @Override
    public List<PartitionInfo> partitionsFor(String topic, Duration timeout) {
      requireAnswer(timeout);
      return IntStream.range(0, simulation.partitions)
          .mapToObj(number -> new PartitionInfo(topic, number, null, null, null))
          .toList();
    }

    @Override
    public synchronized void assign(Collection<TopicPartition> partitions) {
      super.assign(partitions);
      positions.keySet().retainAll(partitions);
    }

    @Override
    public Map<TopicPartition, Long> beginningOffsets(
        Collection<TopicPartition> partitions, Duration timeout) {
      requireAnswer(timeout);
      return partitions.stream().collect(Collectors.toMap(each -> each, each -> 0L));
    }

    @Override
    public Map<TopicPartition, Long> endOffsets(
        Collection<TopicPartition> partitions, Duration timeout) {
      requireAnswer(timeout);
      return partitions.stream().collect(Collectors.toMap(each -> each, this::end));
    }

    @Override
    public synchronized void seekToBeginning(Collection<TopicPartition> partitions) {
      partitions.forEach(partition -> positions.put(partition, 0L));
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
      return OptionalLong.of(simulation.isUp ? end(partition) - positions.get(partition) : 0);
    }

    @Override
    public synchronized ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
      for (TopicPartition partition : assignment()) {
        long position = positions.get(partition);
        if (simulation.isUp && position < end(partition)) {
          positions.put(partition, position + 1);
          String key = partition.partition() == 0 ? "key" : "base " + position;
          ConsumerRecord<byte[], byte[]> record =
              new ConsumerRecord<>(
                  "topic",
                  partition.partition(),
                  position,
                  key.getBytes(StandardCharsets.UTF_8),
                  new byte[0]);
          return new ConsumerRecords<>(Map.of(partition, List.of(record)), Map.of());
        }
      }
      simulation.pass(timeout);
      return ConsumerRecords.empty();
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
      return resumeAt;
    }

    @Override
    public void rewind() {
      rewinds++;
    }

    @Override
    public void accept(long offset, String key, byte[] value) {
      events.add(offset == OTHER_PARTITION ? key : "record " + offset);
    }

    @Override
    public void progress(long recordsLeft) {}

    @Override
    public boolean settle() {
      boolean reread = wantsReread;
      wantsReread = false;
      return reread;
    }

    @Override
    public boolean needsBases() {
      return needsBases;
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
  void anIdThatWasNotToldIsAskedForAgain() {
    simulation.topicId = null;
    simulation.at(25, () -> simulation.topicId = "first");
    simulation.at(90, () -> events.add("a minute later"));
    followFor(200);
    assertThat(events).containsExactly("start", "open null", "open first", "a minute later", "end");
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

  @Test
  void afterTheStartNothingOfTheBasesIsReadUntilAReread() {
    simulation.partitions = 2;
    simulation.records = 2;
    simulation.bases = 2;
    simulation.at(
        5,
        () -> {
          simulation.records = 4;
          simulation.bases = 4;
        });
    simulation.at(15, () -> wantsReread = true);
    simulation.at(25, () -> simulation.bases = 5);
    followFor(30);
    assertThat(events)
        .filteredOn(event -> event.startsWith("record") || event.startsWith("base"))
        .containsSubsequence("record 0", "record 1", "record 2", "record 3", "record 0", "record 3")
        .containsSubsequence("base 0", "base 1", "base 0", "base 1", "base 2", "base 3")
        .doesNotContain("base 4")
        .hasSize(14);
    assertThat(events.indexOf("base 2")).isGreaterThan(events.indexOf("record 3"));
    assertThat(rewinds).isEqualTo(2);
  }

  @Test
  void basesAreReadAsLongAsTheReaderNeedsThem() {
    simulation.partitions = 2;
    needsBases = true;
    simulation.at(5, () -> simulation.bases = 1);
    simulation.at(10, () -> needsBases = false);
    simulation.at(15, () -> simulation.bases = 2);
    followFor(20);
    assertThat(events).contains("base 0").doesNotContain("base 1");
    assertThat(rewinds).isEqualTo(1);
  }

  @Test
  void goesOnFromAnOffsetOfTheFirstPartitionOnly() {
    simulation.partitions = 2;
    simulation.records = 3;
    simulation.bases = 3;
    resumeAt = OptionalLong.of(2);
    followFor(5);
    assertThat(events).containsExactly("start", "open first", "record 2", "end");
    assertThat(rewinds).isZero();
  }

  @Test
  void anOffsetBehindTheEndMakesAllBeReadFromTheBeginning() {
    simulation.partitions = 2;
    simulation.records = 1;
    simulation.bases = 1;
    resumeAt = OptionalLong.of(2);
    followFor(5);
    assertThat(events).contains("record 0", "base 0").hasSize(5);
    assertThat(rewinds).isEqualTo(1);
  }

  @Test
  void aTopicThatGetsAPartitionLaterIsFollowedAndItsBasesAreFound() {
    simulation.records = 1;
    simulation.at(
        5,
        () -> {
          simulation.partitions = 2;
          simulation.bases = 1;
          simulation.records = 2;
        });
    simulation.at(10, () -> wantsReread = true);
    followFor(15);
    assertThat(events)
        .filteredOn(event -> event.startsWith("record") || event.startsWith("base"))
        .startsWith("record 0", "record 1")
        .containsSubsequence("record 1", "base 0")
        .hasSize(5);
  }
}
