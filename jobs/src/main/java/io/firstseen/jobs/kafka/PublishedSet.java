package io.firstseen.jobs.kafka;

import io.firstseen.filters.snapshot.Manifest;
import java.util.Optional;

/**
 * The published state of a set on a topic, from which a job continues that takes the set over.
 *
 * @param newest the newest manifest; for signed sets, the manifest with the highest sequence that a
 *     trusted key signed
 */
public record PublishedSet(PublisherLine line, Optional<Manifest> newest) {
  /** A set without manifests, or a set that is not taken over. */
  public static final PublishedSet NOTHING = new PublishedSet(PublisherLine.NEW, Optional.empty());
}
