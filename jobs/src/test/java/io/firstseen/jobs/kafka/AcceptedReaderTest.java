package io.firstseen.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.jobs.kafka.AcceptedReader.ReadThrough;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.SourceEvent;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplitSerializer;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class AcceptedReaderTest {
  private static final TopicPartition PARTITION = new TopicPartition("accepted", 3);
  private static final Duration RETENTION = Duration.ofHours(24);

  private final Time time = new Time();
  private final Connector connector = new Connector();
  private final Topics topics = new Topics();
  private final AcceptedReader reader = newReader();

  private AcceptedReader newReader() {
    return new AcceptedReader(connector, "accepted", RETENTION, topics, time);
  }

  private void restore(KafkaPartitionSplit split) {
    AcceptedReader next = newReader();
    next.addSplits(List.of(split));
  }

  @Test
  void stateOfAnotherTopicFailsTheJob() {
    assertThatThrownBy(
            () -> restore(new KafkaPartitionSplit(new TopicPartition("accepted-2", 3), 5)))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll(
            "of topic accepted-2", "--accepted-topic accepted-2", "--take-over", "--set");
  }

  /** Reads a record that was written so long before now. */
  private void read(Duration age) throws Exception {
    long writtenMillis = time.millis() - age.toMillis();
    connector.next = new ReadRecord(writtenMillis, writtenMillis - 7);
    reader.pollNext(null);
  }

  private TimedSplit checkpoint() {
    return (TimedSplit) reader.snapshotState(1).get(0);
  }

  @Test
  void stateIsRefusedOnceTheTopicMayHaveDroppedRemovalsSince() throws Exception {
    reader.addSplits(List.of(new KafkaPartitionSplit(PARTITION, 0)));
    time.pass(Duration.ofHours(1));
    read(Duration.ofSeconds(5));
    TimedSplit split = checkpoint();
    assertThat(split.getStartingOffset()).isEqualTo(1);
    topics.end = 3;
    time.pass(RETENTION.minusSeconds(5));
    assertThatCode(() -> restore(split)).doesNotThrowAnyException();
    time.pass(Duration.ofSeconds(1));
    assertThatThrownBy(() -> restore(split))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll(
            "partition 3 of topic accepted to offset 1",
            "2026-11-23T01:00:00Z",
            "1d",
            "--take-over");
  }

  @Test
  void oldStateIsGoodIfNothingWasWrittenSince() throws Exception {
    reader.addSplits(List.of(new KafkaPartitionSplit(PARTITION, 0)));
    read(Duration.ZERO);
    TimedSplit split = checkpoint();
    time.pass(Duration.ofDays(30));
    // The marker of the transaction.
    topics.end = 2;
    AcceptedReader next = newReader();
    next.addSplits(List.of(split));
    time.pass(Duration.ofSeconds(10));
    next.snapshotState(1);
    assertThatCode(() -> next.pollNext(null)).doesNotThrowAnyException();
    // Nothing was ever read, so there is nothing to miss.
    topics.end = 9;
    TimedSplit untouched =
        new TimedSplit(
            new KafkaPartitionSplit(PARTITION, KafkaPartitionSplit.EARLIEST_OFFSET),
            split.readThroughMillis(),
            Uuid.ZERO_UUID);
    assertThatCode(() -> restore(untouched)).doesNotThrowAnyException();
  }

  @Test
  void aQuietPartitionIsReadThroughTheLastMinute() throws Exception {
    reader.addSplits(List.of(new KafkaPartitionSplit(PARTITION, 0)));
    read(Duration.ZERO);
    connector.next = null;
    reader.pollNext(null);
    time.pass(Duration.ofDays(10));
    topics.end = 100;
    TimedSplit split = checkpoint();
    assertThat(split.readThroughMillis()).isEqualTo(time.millis() - ReadThrough.QUIET.toMillis());
    time.pass(Duration.ofHours(23));
    assertThatCode(() -> restore(split)).doesNotThrowAnyException();
  }

  /** As while a window closes: the records of the last minutes wait at the broker. */
  @Test
  void aReaderThatIsNotAskedIsNotQuiet() throws Exception {
    reader.addSplits(List.of(new KafkaPartitionSplit(PARTITION, 0)));
    read(Duration.ZERO);
    long readMillis = time.millis();
    time.pass(Duration.ofMinutes(5));
    assertThat(checkpoint().readThroughMillis()).isEqualTo(readMillis);
    read(Duration.ofMinutes(4));
    assertThat(checkpoint().readThroughMillis())
        .isEqualTo(time.millis() - Duration.ofMinutes(4).toMillis());
  }

  @Test
  void aReaderThatFallsBehindTheRetentionEndsTheJob() throws Exception {
    reader.addSplits(List.of(new KafkaPartitionSplit(PARTITION, 0)));
    // An old topic read from its beginning is as it is now.
    read(Duration.ofDays(300));
    checkpoint();
    read(Duration.ofDays(299));
    time.pass(RETENTION.plusSeconds(1));
    read(Duration.ofHours(25));
    assertThat(connector.offset).isEqualTo(3);
    checkpoint();
    assertThatThrownBy(() -> reader.pollNext(null))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContaining("some may have been deleted");
  }

  @Test
  void aRecordThatWasWrittenInTheMillisecondOfItsEventIsNoneOfOthers() throws Exception {
    reader.addSplits(List.of(new KafkaPartitionSplit(PARTITION, 0)));
    long startMillis = time.millis();
    time.pass(Duration.ofHours(20));
    for (int i = 0; i < 100; i++) {
      long writtenMillis = startMillis + i;
      // The first ones of a backlog, and any later one.
      boolean isAlike = i < ReadThrough.ALIKE || i % 2 == 1;
      connector.next = new ReadRecord(writtenMillis, writtenMillis - (isAlike ? 0 : 7));
      reader.pollNext(null);
      assertThat(checkpoint().readThroughMillis()).isEqualTo(writtenMillis);
    }
  }

  @Test
  void recordsOfOthersWhoseTimestampsAreOfEventsTellNothing() throws Exception {
    reader.addSplits(List.of(new KafkaPartitionSplit(PARTITION, 0)));
    for (int i = 0; i < 30; i++) {
      time.pass(Duration.ofHours(1));
      connector.next = new ReadRecord(i, i);
      reader.pollNext(null);
    }
    checkpoint();
    read(Duration.ZERO);
    assertThat(connector.offset).isEqualTo(31);
  }

  @Test
  void stateOfTheConnectorAloneIsRead() throws Exception {
    KafkaPartitionSplitSerializer connectors = new KafkaPartitionSplitSerializer();
    TimedSplit.Serializer serializer = new TimedSplit.Serializer(connectors);
    KafkaPartitionSplit plain = new KafkaPartitionSplit(PARTITION, 17, 40);
    assertThat(serializer.deserialize(connectors.getVersion(), connectors.serialize(plain)))
        .isEqualTo(plain)
        .isNotInstanceOf(TimedSplit.class);
    assertThat(serializer.deserialize(serializer.getVersion(), serializer.serialize(plain)))
        .isEqualTo(plain)
        .isNotInstanceOf(TimedSplit.class);
    for (TimedSplit timed :
        List.of(
            new TimedSplit(plain, 1_234, Uuid.ZERO_UUID),
            new TimedSplit(plain, 1_234, Uuid.randomUuid()),
            new TimedSplit(plain, TimedSplit.NO_TIME, Uuid.randomUuid()))) {
      assertThat(serializer.deserialize(serializer.getVersion(), serializer.serialize(timed)))
          .usingRecursiveComparison()
          .isEqualTo(timed);
    }
    byte[] before =
        ByteBuffer.allocate(100).putLong(1_234).put(connectors.serialize(plain)).array();
    assertThat(serializer.deserialize(100 + connectors.getVersion(), before))
        .usingRecursiveComparison()
        .isEqualTo(new TimedSplit(plain, 1_234, Uuid.ZERO_UUID));
    assertThatCode(() -> restore(plain)).doesNotThrowAnyException();
  }

  private static final class Time extends Clock {
    private Instant now = Instant.parse("2026-11-23T00:00:05Z");

    void pass(Duration duration) {
      now = now.plus(duration);
    }

    @Override
    public Instant instant() {
      return now;
    }

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }
  }

  private static final class Topics extends InputTopics {
    private long end;

    Topics() {
      super(new Settings(new Properties(), false, false), new SimpleCounter());
    }

    @Override
    List<KafkaPartitionSplit> check(List<KafkaPartitionSplit> splits) {
      return splits;
    }

    @Override
    void requireUnchanged() {}

    @Override
    long end(TopicPartition partition) {
      return end;
    }
  }

  private record ReadRecord(long writtenMillis, long eventMillis) {}

  /** Reads one partition. */
  private final class Connector implements SourceReader<SourceEvent, KafkaPartitionSplit> {
    // Null if nothing is available.
    private @Nullable ReadRecord next;
    private long offset;

    @Override
    public InputStatus pollNext(ReaderOutput<SourceEvent> to) {
      if (next == null) {
        return InputStatus.NOTHING_AVAILABLE;
      }
      reader.read(PARTITION.partition(), next.writtenMillis, next.eventMillis);
      offset++;
      return InputStatus.MORE_AVAILABLE;
    }

    @Override
    public List<KafkaPartitionSplit> snapshotState(long checkpointId) {
      return new ArrayList<>(List.of(new KafkaPartitionSplit(PARTITION, offset)));
    }

    @Override
    public void start() {}

    @Override
    public CompletableFuture<Void> isAvailable() {
      return next == null ? new CompletableFuture<>() : CompletableFuture.completedFuture(null);
    }

    @Override
    public void addSplits(List<KafkaPartitionSplit> splits) {}

    @Override
    public void notifyNoMoreSplits() {}

    @Override
    public void close() {}
  }
}
