package io.firstseen.jobs.kafka;

import java.time.Duration;

/**
 * The position from which a job continues, as read from the brokers.
 *
 * @param retention the time for which the accepted topic keeps records that a snapshot job has not
 *     read
 * @param claims the claims of the output that a dedup takes over
 * @param set the set that a publisher takes over
 */
public record Continued(Duration retention, PublisherLine claims, PublishedSet set) {
  /** A job that does not take over an output or a set. */
  public static final Continued NOTHING =
      new Continued(Duration.ZERO, PublisherLine.NEW, PublishedSet.NOTHING);
}
