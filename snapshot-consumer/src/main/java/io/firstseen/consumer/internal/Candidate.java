package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** A manifest that may become active, and what is known of its blobs. */
final class Candidate {
  final Manifest manifest;
  final long offset;
  final long readMillis;
  // Digests of the blobs on the topic that its loads have asked for so far.
  final Set<String> asked = new HashSet<>();
  // What the last load lacked; empty before the first, and if another snapshot answers since then.
  List<BlobReference> lacking = List.of();
  // Whether all of the topic was read again for its blobs, in vain.
  boolean isGivenUp;
  boolean waits;
  long waitsSinceMillis;
  long fetchesAgainMillis = Long.MIN_VALUE;

  /**
   * Makes a candidate.
   *
   * @param offset its place in the topic
   * @param readMillis when it was read, in milliseconds since the epoch
   */
  Candidate(Manifest manifest, long offset, long readMillis) {
    this.manifest = manifest;
    this.offset = offset;
    this.readMillis = readMillis;
  }

  long sequence() {
    return manifest.sequence();
  }
}
