package io.firstseen.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
  private final List<Point> points = new ArrayList<>();
  private volatile long committed;

  private record Point(long nanos, long committed) {}

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
    synchronized (points) {
      if (points.isEmpty() || sum != committed) {
        points.add(new Point(System.nanoTime(), sum));
      }
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
    synchronized (points) {
      if (points.isEmpty()) {
        return 0;
      }
      Point before = points.get(0);
      for (Point point : points) {
        if (point.nanos - nanos > 0) {
          double part = (double) (nanos - before.nanos) / Math.max(1, point.nanos - before.nanos);
          return before.committed + Math.max(0, part) * (point.committed - before.committed);
        }
        before = point;
      }
      return before.committed;
    }
  }

  @Override
  public void close() {
    super.close();
    admin.close();
  }
}
