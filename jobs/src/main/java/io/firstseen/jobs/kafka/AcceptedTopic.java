package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.operators.UserErrorException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/** Rejects topics that are not the accepted topic of a dedup, by their records. */
final class AcceptedTopic {

  private AcceptedTopic() {}

  /**
   * Rejects records that only other topics of the jobs have. Records of other writers may be
   * without headers.
   */
  static void requireNoOther(ConsumerRecord<byte[], byte[]> record) {
    String found = other(record);
    if (found != null) {
      throw refusal(record, found);
    }
  }

  /** Rejects records that no dedup writes to its accepted topic. */
  static void requireAccepted(ConsumerRecord<byte[], byte[]> record) {
    requireNoOther(record);
    if (record.headers().lastHeader(RecordHeaders.TIMESTAMP) == null) {
      throw refusal(record, "has a record without the header " + RecordHeaders.TIMESTAMP);
    }
  }

  private static @Nullable String other(ConsumerRecord<byte[], byte[]> record) {
    Headers headers = record.headers();
    if (headers.lastHeader(RecordHeaders.OUTCOME) != null) {
      return "is a topic of duplicates";
    }
    if (headers.lastHeader(RecordHeaders.REASON) != null) {
      return "is a topic of dead letters";
    }
    if (headers.lastHeader(RecordHeaders.TIMESTAMP) != null || record.key() == null) {
      return null;
    }
    String key = new String(record.key(), UTF_8);
    if (headers.lastHeader(ClaimsTail.AFTER) != null && OutputClaim.isClaimKey(key)) {
      return "is a topic of claims";
    }
    return SnapshotTopicFormat.parseChunkKey(key).isPresent() ? "is a topic of snapshots" : null;
  }

  private static UserErrorException refusal(ConsumerRecord<byte[], byte[]> record, String found) {
    return new UserErrorException(
        "topic %s is not the accepted topic of a dedup job: it %s (%s-%d@%d)"
            .formatted(record.topic(), found, record.topic(), record.partition(), record.offset()));
  }
}
