package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

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
  // Why the client's configuration does not allow to load it; null if it does.
  @Nullable String unusable;
  boolean waits;
  long waitsSinceMillis;
  // After a fetch in vain, and after a load that has thrown. In milliseconds.
  Retry fetch = Retry.NONE;
  Retry load = Retry.NONE;

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

  /** Takes over what is known of the blobs of an earlier record with the same content. */
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
