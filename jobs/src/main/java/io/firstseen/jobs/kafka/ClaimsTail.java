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
import org.jspecify.annotations.Nullable;

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
  private final Map<String, List<String>> topics = new HashMap<>();
  private final Set<String> all = new LinkedHashSet<>();
  private String newest;
  private @Nullable JobIdentity identity;
  private long newestSince;

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
      identity = JobIdentity.parse(record.value());
    }
    if (recordKey.startsWith(topicsPrefix)) {
      topics.put(recordKey, new String(record.value(), UTF_8).lines().toList());
    }
    if (!recordKey.equals(key) || isLate(record)) {
      return;
    }
    String claim = new String(record.value(), UTF_8);
    all.add(claim);
    if (!claim.equals(newest)) {
      newest = claim;
      newestSince = record.offset();
    }
  }

  /** Whether an earlier claim names the same predecessor. */
  private boolean isLate(ConsumerRecord<byte[], byte[]> record) {
    Header after = record.headers().lastHeader(AFTER);
    // The first record after compaction may refer to a deleted claim.
    return newest != null && after != null && !new String(after.value(), UTF_8).equals(newest);
  }

  PublisherLine line() {
    return newest().map(claim -> new PublisherLine(List.of(claim), -1)).orElse(PublisherLine.NEW);
  }

  Optional<String> newest() {
    return Optional.ofNullable(newest);
  }

  /** The latest identity; empty if no job of this release has written the output. */
  Optional<JobIdentity> identity() {
    return Optional.ofNullable(identity);
  }

  /** The latest lines of {@link OutputTopics}, by record key. */
  Map<String, List<String>> topics() {
    return topics;
  }

  Set<String> all() {
    return all;
  }

  long newestSince() {
    return newestSince;
  }

  @Override
  public void close() {
    reader.close();
  }
}
