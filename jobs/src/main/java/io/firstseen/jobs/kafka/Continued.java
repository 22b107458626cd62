package io.firstseen.jobs.kafka;

import io.firstseen.filters.snapshot.Manifest;
import java.time.Duration;
import java.util.Optional;

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

  /**
   * The published state of a set on a topic, from which a job continues that takes the set over.
   *
   * @param newest the newest manifest; for signed sets, the manifest with the highest sequence that
   *     a trusted key signed
   */
  public record PublishedSet(PublisherLine line, Optional<Manifest> newest) {
    /** A set without manifests, or a set that is not taken over. */
    static final PublishedSet NOTHING = new PublishedSet(PublisherLine.NEW, Optional.empty());
  }
}
