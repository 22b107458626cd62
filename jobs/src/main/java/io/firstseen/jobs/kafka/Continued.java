package io.firstseen.jobs.kafka;

import java.time.Duration;

/**
 * What a job continues from, as its brokers tell.
 *
 * @param retention for how long the accepted topic keeps what a job with snapshots has not read
 * @param claims the claims of the output that a dedup takes over
 * @param set the set that a publisher takes over
 */
public record Continued(Duration retention, PublisherLine claims, PublishedSet set) {
  /** Of a job that takes nothing over. */
  public static final Continued NOTHING =
      new Continued(Duration.ZERO, PublisherLine.NEW, PublishedSet.NOTHING);
}
