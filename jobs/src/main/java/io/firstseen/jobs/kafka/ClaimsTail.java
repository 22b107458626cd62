package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.jobs.options.JobIdentity;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;

/**
 * The claims of an output on a topic. Each read continues where the previous read ended. Claims are
 * written outside of transactions, so that readers see them immediately.
 */
final class ClaimsTail implements AutoCloseable {
  /**
   * The header with the claim that was the newest when a claim was written; empty for the first
   * claim. If several claims name the same predecessor, only the first is valid. Claims of earlier
   * releases have no header and are always valid.
   */
  static final String AFTER = "after";

  private final String key;
  private final String identityKey;
  private final TailReader reader;
  private final String topicsPrefix;
  // The latest lines of OutputTopics, by record key.
  final Map<String, List<String>> topics = new HashMap<>();
  final Set<String> all = new LinkedHashSet<>();
  // The latest identity; empty if no job of this release has written the output.
  Optional<JobIdentity> identity = Optional.empty();
  // The newest claim, and the offset of its first record.
  Optional<String> newest = Optional.empty();
  long newestSince;

  ClaimsTail(Properties clientProperties, String topic, String output) {
    this.key = OutputClaim.claimKey(output);
    this.identityKey = OutputClaim.identityKey(output);
    this.topicsPrefix = OutputClaim.topicsPrefix(output);
    this.reader = new TailReader(clientProperties, IsolationLevel.READ_UNCOMMITTED, topic);
    reader.startAt(List.of(new TopicPartition(topic, 0)));
  }

  /** Reads the topic outside of a running job; returns a closed tail, empty without the topic. */
  static ClaimsTail read(Properties clientProperties, String topic, String output) {
    return TailReader.outsideOfJob(
        clientProperties,
        topic,
        () -> {
          try (ClaimsTail tail = new ClaimsTail(clientProperties, topic, output)) {
            if (tail.exists()) {
              tail.readToEnd();
            }
            return tail;
          }
        });
  }

  boolean exists() {
    return !reader.partitions().isEmpty();
  }

  void readToEnd() {
    reader.readToEnd(this::take);
  }

  private void take(ConsumerRecord<byte[], byte[]> record) {
    if (record.key() == null || record.value() == null) {
      return;
    }
    String recordKey = new String(record.key(), UTF_8);
    if (recordKey.equals(identityKey)) {
      identity = Optional.of(JobIdentity.parse(record.value()));
    }
    if (recordKey.startsWith(topicsPrefix)) {
      topics.put(recordKey, new String(record.value(), UTF_8).lines().toList());
    }
    if (!recordKey.equals(key) || isLate(record)) {
      return;
    }
    String claim = new String(record.value(), UTF_8);
    all.add(claim);
    if (!newest.equals(Optional.of(claim))) {
      newest = Optional.of(claim);
      newestSince = record.offset();
    }
  }

  /** Whether an earlier claim names the same predecessor. */
  private boolean isLate(ConsumerRecord<byte[], byte[]> record) {
    Header after = record.headers().lastHeader(AFTER);
    // The first record after compaction may refer to a deleted claim.
    return newest.isPresent()
        && after != null
        && !new String(after.value(), UTF_8).equals(newest.get());
  }

  PublisherLine line() {
    return newest.map(claim -> new PublisherLine(List.of(claim), -1)).orElse(PublisherLine.NEW);
  }

  @Override
  public void close() {
    reader.close();
  }
}
