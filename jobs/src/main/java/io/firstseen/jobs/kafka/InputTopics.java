package io.firstseen.jobs.kafka;

import io.firstseen.operators.UserErrorException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.metrics.Counter;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the partitions that a reader is assigned with the topics at the brokers: each partition
 * must belong to the topic for which the state was written, and must still have the records from
 * its offset on.
 */
class InputTopics implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(InputTopics.class);

  private final Settings settings;
  private final Counter skippedOffsets;
  private final Brokers brokers;
  private final Map<String, Uuid> ids = new HashMap<>();

  /** The changes that a job accepts: recreated or deleted topics, and deleted records. */
  record Settings(
      Properties clientProperties, boolean acceptsNewTopic, boolean allowsSkippedOffsets)
      implements Serializable {}

  InputTopics(Settings settings, Counter skippedOffsets) {
    this.settings = settings;
    this.skippedOffsets = skippedOffsets;
    this.brokers = new Brokers(settings.clientProperties);
  }

  /** Returns the partitions to read, if the job accepts what has changed. */
  List<KafkaPartitionSplit> check(List<KafkaPartitionSplit> splits) {
    Map<String, TopicDescription> topics =
        brokers.describe(
            splits.stream().map(KafkaPartitionSplit::getTopic).collect(Collectors.toSet()));
    topics.forEach((name, topic) -> ids.put(name, topic.topicId()));
    List<KafkaPartitionSplit> ofTopics = new ArrayList<>();
    for (KafkaPartitionSplit split : splits) {
      TopicDescription topic = topics.get(split.getTopic());
      Uuid was = TimedSplit.topicId(split);
      boolean isNew = isNew(was, topic);
      if (isNew && !settings.acceptsNewTopic) {
        throw changed(split.getTopic(), was, topic);
      }
      if (topic != null && split.getPartition() < topic.partitions().size()) {
        ofTopics.add(isNew ? fromBeginning(split) : split);
      } else if (settings.acceptsNewTopic) {
        LOG.warn("partition {} no longer exists and is not read", split.splitId());
      } else {
        throw changed(split.getTopic(), was, topic);
      }
    }
    return withinLog(ofTopics);
  }

  private List<KafkaPartitionSplit> withinLog(List<KafkaPartitionSplit> splits) {
    Set<TopicPartition> partitions =
        splits.stream()
            .filter(split -> split.getStartingOffset() >= 0)
            .map(KafkaPartitionSplit::getTopicPartition)
            .collect(Collectors.toSet());
    Map<TopicPartition, Long> begins = brokers.offsets(partitions, OffsetSpec.earliest());
    Map<TopicPartition, Long> ends = brokers.offsets(partitions, OffsetSpec.latest());
    splits.replaceAll(
        split -> {
          TopicPartition each = split.getTopicPartition();
          return partitions.contains(each)
              ? withinLog(split, begins.get(each), ends.get(each))
              : split;
        });
    return splits;
  }

  private KafkaPartitionSplit withinLog(KafkaPartitionSplit split, long begin, long end) {
    long wanted = split.getStartingOffset();
    if (wanted >= begin && wanted <= end) {
      return split;
    }
    String range = range(split.getTopicPartition(), wanted, begin, end);
    if (!isLoss(wanted, begin, end)) {
      LOG.warn("{}: offset {} is skipped, often the marker of a transaction", range, wanted);
      return fromBeginning(split);
    }
    String loss =
        wanted < begin
            ? "%d offsets were deleted before they were read".formatted(begin - wanted)
            : "the topic has lost records, or was deleted and recreated";
    if (!settings.allowsSkippedOffsets) {
      throw new UserErrorException(
          "%s: %s (start from state whose offsets the topic still has, or start with --allow-skipped-offsets to read from offset %d; keep records for longer than the job may be down or behind)"
              .formatted(range, loss, begin));
    }
    LOG.warn("{}: {}; the job continues at offset {}", range, loss, begin);
    skippedOffsets.inc(Math.max(0, begin - wanted));
    return fromBeginning(split);
  }

  /**
   * Whether a job that resumes at an offset misses records. A job stops before the marker of the
   * last transaction that it has read, so a single offset may be missing.
   */
  static boolean isLoss(long wanted, long begin, long end) {
    return wanted + 1 < begin || wanted > end;
  }

  /** Describes the offset at which a job resumes, and the offsets of the topic. */
  static String range(TopicPartition partition, long wanted, long begin, long end) {
    return "the job resumes partition %d of topic %s at offset %d, and the topic has the offsets from %d to %d"
        .formatted(partition.partition(), partition.topic(), wanted, begin, end);
  }

  private static KafkaPartitionSplit fromBeginning(KafkaPartitionSplit split) {
    return new KafkaPartitionSplit(
        split.getTopicPartition(),
        KafkaPartitionSplit.EARLIEST_OFFSET,
        split.getStoppingOffset().orElse(KafkaPartitionSplit.NO_STOPPING_OFFSET));
  }

  /** Requires that the topics have not changed since the start, if the brokers respond. */
  void requireUnchanged() {
    Map<String, TopicDescription> topics = brokers.describe(ids.keySet());
    ids.forEach(
        (name, id) -> {
          if (topics.get(name) == null || isNew(id, topics.get(name))) {
            throw changed(name, id, topics.get(name));
          }
        });
  }

  Uuid id(String topic) {
    return ids.getOrDefault(topic, Uuid.ZERO_UUID);
  }

  long end(TopicPartition partition) {
    return brokers.offsets(Set.of(partition), OffsetSpec.latest()).get(partition);
  }

  private static boolean isNew(Uuid was, TopicDescription topic) {
    return topic != null
        && !was.equals(Uuid.ZERO_UUID)
        && !topic.topicId().equals(Uuid.ZERO_UUID)
        && !topic.topicId().equals(was);
  }

  private static UserErrorException changed(String name, Uuid was, TopicDescription topic) {
    String reads =
        was.equals(Uuid.ZERO_UUID)
            ? "topic " + name
            : "topic %s with the id %s".formatted(name, was);
    return new UserErrorException(
        "the job reads %s, and %s: start the job with --accept-new-topic to read %s; unread records of the old topic are lost"
            .formatted(
                reads,
                topic == null
                    ? "it no longer exists"
                    : isNew(was, topic)
                        ? "the topic of this name now has the id %s, because it was deleted and recreated"
                            .formatted(topic.topicId())
                        : "it now has only %d partitions".formatted(topic.partitions().size()),
                topic == null ? "the other topics" : "the new topic from its beginning"));
  }

  @Override
  public void close() {
    brokers.close();
  }
}
