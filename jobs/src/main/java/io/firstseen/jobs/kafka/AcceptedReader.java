package io.firstseen.jobs.kafka;

import io.firstseen.jobs.options.OptionValues;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.SourceEvent;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.core.io.InputStatus;
import org.jspecify.annotations.Nullable;

/** The reader of the accepted topic, see {@link CheckedSource}. */
// The connector's close may be interrupted.
@SuppressWarnings("try")
final class AcceptedReader extends CheckedReader {
  /**
   * The time through which a partition is read: all records that were written before this time are
   * read. The time follows the timestamps at which records were written, and the system clock while
   * no records arrive.
   */
  static final class ReadThrough {
    /** A partition without new records for this long counts as read to its end. */
    static final Duration QUIET = Duration.ofMinutes(1);

    /**
     * This many consecutive records with timestamps equal to their event times come from another
     * program, which does not write the event time to a header. Single records of our jobs may have
     * equal times by chance.
     */
    static final int ALIKE = 16;

    private final Clock clock;
    private long throughMillis;
    private long lastRecordMillis;
    private boolean isOurs;
    private int alike;

    ReadThrough(Clock clock, long throughMillis) {
      this.clock = clock;
      this.throughMillis = throughMillis;
      this.lastRecordMillis = clock.millis();
    }

    /** Counts a record; {@code isOfEvent} if the event has the timestamp of the record. */
    void record(long writtenMillis, boolean isOfEvent) {
      if (!isOfEvent) {
        isOurs = true;
      } else if (!isOurs && alike++ >= ALIKE) {
        alike = ALIKE;
        // The time of the write is unknown.
        lastRecordMillis = clock.millis();
        throughMillis = Math.max(throughMillis, lastRecordMillis);
        return;
      }
      lastRecordMillis = clock.millis();
      throughMillis = Math.max(throughMillis, Math.min(writtenMillis, lastRecordMillis));
    }

    /** Restarts the quiet time, because records may have been waiting until now. */
    void restartQuiet() {
      lastRecordMillis = clock.millis();
    }

    long millis() {
      long quietSinceMillis = clock.millis() - QUIET.toMillis();
      return lastRecordMillis <= quietSinceMillis
          ? Math.max(throughMillis, quietSinceMillis)
          : throughMillis;
    }
  }

  // The maximum time between two polls of a task that is not blocked.
  private static final long MAX_POLL_MILLIS = 1_000;

  private final String topic;
  private final Duration retention;
  private final Clock clock;
  private final Map<Integer, ReadThrough> partitions = new HashMap<>();
  // The next poll throws this exception, because an exception at a checkpoint only fails the
  // checkpoint.
  private @Nullable UserErrorException behind;
  private InputStatus polled = InputStatus.NOTHING_AVAILABLE;
  private long polledMillis;

  AcceptedReader(
      SourceReader<SourceEvent, KafkaPartitionSplit> connector,
      String topic,
      Duration retention,
      InputTopics topics,
      Clock clock) {
    super(connector, topics);
    this.topic = topic;
    this.retention = retention;
    this.clock = clock;
  }

  @Override
  void addChecked(List<KafkaPartitionSplit> splits) {
    for (KafkaPartitionSplit split : splits) {
      if (!split.getTopic().equals(topic)) {
        throw new UserErrorException(
            ("--accepted-topic is %s, but the state is of topic %s, so the set would contain the "
                    + "keys of both topics (start with --accepted-topic %2$s, or start without state "
                    + "and with --take-over or another --set)")
                .formatted(topic, split.getTopic()));
      }
      long throughMillis = clock.millis();
      if (split instanceof TimedSplit timed && timed.readThroughMillis() >= 0) {
        throughMillis = timed.readThroughMillis();
        if (isTooOld(throughMillis)) {
          if (hasUnread(split)) {
            throw tooOld(split, throughMillis);
          }
          throughMillis = clock.millis();
        }
      }
      partitions.put(split.getPartition(), new ReadThrough(clock, throughMillis));
    }
    super.addChecked(splits);
  }

  private boolean isTooOld(long throughMillis) {
    return clock.millis() - throughMillis > retention.toMillis();
  }

  /**
   * Whether there are unread records, apart from the marker of the last transaction. A partition
   * from which nothing was read cannot miss a tombstone.
   */
  private boolean hasUnread(KafkaPartitionSplit split) {
    long next = split.getStartingOffset();
    return next != KafkaPartitionSplit.EARLIEST_OFFSET
        && (next < 0 || topics.end(split.getTopicPartition()) > next + 1);
  }

  private UserErrorException tooOld(KafkaPartitionSplit split, long throughMillis) {
    return new UserErrorException(
        ("the job has read partition %d of topic %s to offset %d, as of %s; the topic keeps "
                + "unread tombstones for %s (delete.retention.ms, or retention.ms if it deletes by "
                + "age), so some may have been deleted (start the job without state and with "
                + "--take-over, so that it reads the whole topic)")
            .formatted(
                split.getPartition(),
                split.getTopic(),
                split.getStartingOffset(),
                Instant.ofEpochMilli(throughMillis).truncatedTo(ChronoUnit.SECONDS),
                OptionValues.write(retention)));
  }

  @Override
  public List<KafkaPartitionSplit> snapshotState(long checkpointId) {
    noticeBlocking();
    return super.snapshotState(checkpointId).stream().map(this::timed).toList();
  }

  private KafkaPartitionSplit timed(KafkaPartitionSplit split) {
    ReadThrough partition = partitions.get(split.getPartition());
    if (partition == null) {
      return split;
    }
    long throughMillis = partition.millis();
    if (isTooOld(throughMillis)) {
      behind = tooOld(split, throughMillis);
    }
    return new TimedSplit(split, throughMillis, TimedSplit.topicId(split));
  }

  @Override
  public InputStatus pollNext(ReaderOutput<SourceEvent> output) throws Exception {
    if (behind != null) {
      throw behind;
    }
    polledMillis = noticeBlocking();
    polled = super.pollNext(output);
    return polled;
  }

  /**
   * Restarts the quiet time of all partitions if the task did not poll: records may be waiting
   * while downstream operators are backpressured. Returns the current time.
   */
  private long noticeBlocking() {
    long nowMillis = clock.millis();
    boolean recordsWait =
        polled != InputStatus.NOTHING_AVAILABLE || connector.isAvailable().isDone();
    if (recordsWait && nowMillis - polledMillis > MAX_POLL_MILLIS) {
      partitions.values().forEach(ReadThrough::restartQuiet);
    }
    return nowMillis;
  }

  /** Remembers when a record was written that {@link #pollNext} emits. */
  void read(int partition, long writtenMillis, long eventMillis) {
    partitions.get(partition).record(writtenMillis, writtenMillis == eventMillis);
  }
}
