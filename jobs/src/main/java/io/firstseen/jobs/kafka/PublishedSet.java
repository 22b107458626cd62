package io.firstseen.jobs.kafka;

import io.firstseen.filters.snapshot.Manifest;
import java.util.Optional;

/**
 * What a topic has of a set, and a job continues that takes the set over.
 *
 * @param newest the newest manifest; of signed sets, the one with the highest sequence among those
 *     that a trusted key signed
 */
public record PublishedSet(PublisherLine line, Optional<Manifest> newest) {
  /** A set that nothing is published of, or that is not taken over. */
  public static final PublishedSet NOTHING = new PublishedSet(PublisherLine.NEW, Optional.empty());
}
