package io.firstseen.benchmarks.kafka;

import io.firstseen.embedded.TopicReader;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * What a job has written, as readers of committed records see it.
 *
 * @param accepted the records of the accepted topic
 * @param duplicates the records of the duplicates topic
 * @param recordsAtMillis how many records were handed to a producer, by the millisecond
 */
record CommittedOutput(
    long accepted, long duplicates, NavigableMap<Long, Integer> recordsAtMillis) {
  /**
   * Reads both topics to their ends. Transactions that are open there are waited for.
   *
   * @param duplicates null if the job writes none
   * @throws TimeoutException if one stays open
   */
  static CommittedOutput read(String bootstrapServers, String accepted, @Nullable String duplicates)
      throws TimeoutException {
    NavigableMap<Long, Integer> recordsAtMillis = new TreeMap<>();
    TopicReader<byte[], byte[]> reader =
        new TopicReader<>(
            bootstrapServers, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    return new CommittedOutput(
        count(reader, accepted, recordsAtMillis),
        duplicates == null ? 0 : count(reader, duplicates, recordsAtMillis),
        recordsAtMillis);
  }

  private static long count(
      TopicReader<byte[], byte[]> reader, String topic, NavigableMap<Long, Integer> recordsAtMillis)
      throws TimeoutException {
    AtomicLong records = new AtomicLong();
    reader.read(
        topic,
        record -> {
          records.incrementAndGet();
          recordsAtMillis.merge(record.timestamp(), 1, Integer::sum);
        });
    return records.get();
  }

  /**
   * The steady part of a run: what it wrote after its first half.
   *
   * @param fromMillis when it began
   * @param toMillis when the last record was handed to a producer
   * @param share of all records
   */
  record Steady(long fromMillis, long toMillis, double share) {}

  Steady steady() {
    long all = accepted + duplicates;
    long before = 0;
    for (Map.Entry<Long, Integer> atMillis : recordsAtMillis.entrySet()) {
      before += atMillis.getValue();
      if (2 * before >= all) {
        return new Steady(
            atMillis.getKey(), recordsAtMillis.lastKey(), (double) (all - before) / all);
      }
    }
    throw new IllegalStateException("the job has written nothing");
  }
}
