package io.firstseen.jobs.kafka;

import java.time.Clock;
import java.time.Duration;

/**
 * The time through which a partition is read: all that was written before is read. It follows the
 * times at which records were written, and the clock while nothing comes.
 */
final class ReadThrough {
  /** A partition from which nothing comes for so long is read to its end. */
  static final Duration QUIET = Duration.ofMinutes(1);

  private final Clock clock;
  private long throughMillis;
  private long lastRecordMillis;

  ReadThrough(Clock clock, long throughMillis) {
    this.clock = clock;
    this.throughMillis = throughMillis;
    this.lastRecordMillis = clock.millis();
  }

  /** Takes note of a record that was written at a time. */
  void record(long writtenMillis) {
    lastRecordMillis = clock.millis();
    throughMillis = Math.max(throughMillis, Math.min(writtenMillis, lastRecordMillis));
  }

  /** Takes note of a record of which it is not known when it was written. */
  void recordOfUnknownTime() {
    lastRecordMillis = clock.millis();
    throughMillis = Math.max(throughMillis, lastRecordMillis);
  }

  /** Says that records may have waited until now. */
  void restartQuiet() {
    lastRecordMillis = clock.millis();
  }

  /** In milliseconds since the epoch. */
  long millis() {
    long quietSinceMillis = clock.millis() - QUIET.toMillis();
    return lastRecordMillis <= quietSinceMillis
        ? Math.max(throughMillis, quietSinceMillis)
        : throughMillis;
  }
}
