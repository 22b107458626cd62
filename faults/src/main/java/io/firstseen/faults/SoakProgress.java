package io.firstseen.faults;

import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;

/** How many events the dedup has committed, by the offsets of its consumer group. */
final class SoakProgress extends Worker {
  private static final String GROUP = "firstseen." + Pipeline.ACCEPTED;
  private static final int POLL_MILLIS = 100;

  private final Admin admin;

  /** How many were committed, by times of {@link System#nanoTime}. */
  private final NavigableMap<Long, Long> points = new ConcurrentSkipListMap<>();

  private volatile long committed;

  SoakProgress(String brokers) {
    super("progress");
    this.admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, brokers));
    start();
  }

  long committed() {
    return committed;
  }

  @Override
  void step() throws ExecutionException, InterruptedException {
    long sum =
        admin
            .listConsumerGroupOffsets(GROUP)
            .partitionsToOffsetAndMetadata()
            .get()
            .values()
            .stream()
            .mapToLong(OffsetAndMetadata::offset)
            .sum();
    if (points.isEmpty() || sum != committed) {
      points.put(System.nanoTime(), sum);
    }
    committed = sum;
    TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
  }

  /**
   * Events a second between two times of {@link System#nanoTime}. A checkpoint commits what has
   * been done since the previous sample, which is spread evenly over that time.
   */
  double rate(long fromNanos, long toNanos) {
    return (committedAt(toNanos) - committedAt(fromNanos)) * 1e9 / (toNanos - fromNanos);
  }

  /** How many were committed at a time of {@link System#nanoTime}. */
  double committedAt(long nanos) {
    Map.Entry<Long, Long> before = points.floorEntry(nanos);
    Map.Entry<Long, Long> after = points.higherEntry(nanos);
    if (before == null || after == null) {
      return before != null ? before.getValue() : after != null ? after.getValue() : 0;
    }
    double part = (double) (nanos - before.getKey()) / (after.getKey() - before.getKey());
    return before.getValue() + part * (after.getValue() - before.getValue());
  }

  @Override
  public void close() {
    super.close();
    admin.close();
  }
}
