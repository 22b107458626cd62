package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A manifest that may become active, and the state of its blobs. */
final class Candidate {
  final Manifest manifest;
  final long offset;
  final long readMillis;
  // Digests of the blobs on the topic that its loads have requested so far.
  final Set<String> asked = new HashSet<>();
  // The blobs that the last load was missing; empty before the first load, and if a different
  // snapshot became active since.
  List<BlobReference> lacking = List.of();
  // Whether the whole topic was read again for its blobs without success.
  boolean isGivenUp;
  // Why the client's configuration does not allow loading it; null if it does.
  @Nullable String unusable;
  boolean waits;
  long waitsSinceMillis;
  // The retry after an unsuccessful fetch or a load that threw an exception, in milliseconds.
  Retry fetch = Retry.NONE;
  Retry load = Retry.NONE;

  /**
   * Creates a candidate.
   *
   * @param offset its offset in the topic
   * @param readMillis when it was read, in milliseconds since the epoch
   */
  Candidate(Manifest manifest, long offset, long readMillis) {
    this.manifest = manifest;
    this.offset = offset;
    this.readMillis = readMillis;
  }

  /** Copies the state of the blobs from an earlier record with the same content. */
  void goOnFrom(Candidate earlier) {
    asked.addAll(earlier.asked);
    lacking = earlier.lacking;
    isGivenUp = earlier.isGivenUp;
    waits = earlier.waits;
    waitsSinceMillis = earlier.waitsSinceMillis;
    fetch = earlier.fetch;
    load = earlier.load;
  }

  long sequence() {
    return manifest.sequence();
  }
}
