package io.firstseen.jobs.kafka;

import java.time.Clock;
import java.time.Duration;

/**
 * The time through which a partition is read: all records that were written before this time are
 * read. The time follows the timestamps at which records were written, and the system clock while
 * no records arrive.
 */
final class ReadThrough {
  /** A partition without new records for this long counts as read to its end. */
  static final Duration QUIET = Duration.ofMinutes(1);

  /**
   * This many consecutive records with timestamps equal to their event times come from another
   * program, which does not write the event time to a header. Single records of our jobs may have
   * equal times by chance.
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
   * @param writtenMillis the record's timestamp, which is the time of its write unless another
   *     program wrote it
   * @param isOfEvent whether the event has the same timestamp
   */
  void record(long writtenMillis, boolean isOfEvent) {
    if (!isOfEvent) {
      isOurs = true;
    } else if (!isOurs && alike++ >= ALIKE) {
      alike = ALIKE;
      // The time of the write is unknown.
      lastRecordMillis = clock.millis();
      throughMillis = Math.max(throughMillis, lastRecordMillis);
      return;
    }
    lastRecordMillis = clock.millis();
    throughMillis = Math.max(throughMillis, Math.min(writtenMillis, lastRecordMillis));
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
