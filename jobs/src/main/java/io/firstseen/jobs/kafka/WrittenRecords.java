package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

/**
 * The committed progress records of a sink on a claims topic.
 *
 * @param offsets the offsets of all records
 * @param keys their record keys
 */
record WrittenRecords(WrittenOffsets offsets, Set<String> keys) {

  /**
   * Reads the records.
   *
   * @param shards the number of shards of this dedup
   * @param isOfAnyShards whether the records may belong to a dedup with more shards
   * @param since the minimum offset to read to, because earlier transactions may still be open; 0
   *     for no minimum
   * @throws org.apache.kafka.common.KafkaException if the topic cannot be read
   * @throws io.firstseen.operators.UserErrorException if a record does not belong to this dedup
   */
  static WrittenRecords read(OutputClaim claims, int shards, boolean isOfAnyShards, long since) {
    List<TopicPartition> partition = List.of(new TopicPartition(claims.topic(), 0));
    Map<String, String> values = new HashMap<>();
    try (TailReader reader =
        new TailReader(claims.clientProperties(), IsolationLevel.READ_COMMITTED, claims.topic())) {
      reader.startAt(partition);
      Map<TopicPartition, Long> ends = new HashMap<>(reader.ends(partition));
      ends.replaceAll((only, end) -> Math.max(end, since));
      reader.readTo(ends, record -> take(record, claims.writtenPrefix(), values));
    }
    WrittenOffsets offsets = new WrittenOffsets(shards);
    values.forEach(
        (key, value) -> {
          try {
            offsets.addLines(value.lines().toList(), isOfAnyShards);
          } catch (IllegalArgumentException e) {
            throw claims.notOwned(
                "record %s of topic %s does not belong to this dedup: %s"
                    .formatted(key, claims.topic(), e.getMessage()));
          }
        });
    return new WrittenRecords(offsets, values.keySet());
  }

  private static void take(
      ConsumerRecord<byte[], byte[]> record, String prefix, Map<String, String> values) {
    String key = record.key() == null ? "" : new String(record.key(), UTF_8);
    if (!key.startsWith(prefix)) {
      return;
    }
    if (record.value() == null) {
      values.remove(key);
    } else {
      values.put(key, new String(record.value(), UTF_8));
    }
  }
}
