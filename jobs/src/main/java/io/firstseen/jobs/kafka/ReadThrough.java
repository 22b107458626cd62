package io.firstseen.jobs.kafka;

import java.time.Clock;
import java.time.Duration;

/**
 * The time through which a partition is read: everything that was written before it is read. It
 * follows the times at which records were written, and the clock while no records come.
 */
final class ReadThrough {
  /** A partition from which no record has come for this long counts as read to its end. */
  static final Duration QUIET = Duration.ofMinutes(1);

  /**
   * So many records in a row whose timestamps are those of their events are of another program,
   * which has no event time in a header. One of ours may have equal times by chance.
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

  /**
   * Counts a record.
   *
   * @param writtenMillis its timestamp: when it was written, unless it is of another program
   * @param isOfEvent whether the event has the same timestamp
   */
  void record(long writtenMillis, boolean isOfEvent) {
    if (!isOfEvent) {
      isOurs = true;
    } else if (!isOurs && alike++ >= ALIKE) {
      alike = ALIKE;
      recordOfUnknownTime();
      return;
    }
    lastRecordMillis = clock.millis();
    throughMillis = Math.max(throughMillis, Math.min(writtenMillis, lastRecordMillis));
  }

  /** Counts a record that was written at an unknown time. */
  void recordOfUnknownTime() {
    lastRecordMillis = clock.millis();
    throughMillis = Math.max(throughMillis, lastRecordMillis);
  }

  /** Restarts the quiet time, because records may have been waiting until now. */
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
