package io.firstseen.consumer;

import io.firstseen.consumer.internal.ManifestOrder;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestCheck;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.TrustedKey;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Selects manifests of a set with {@link ManifestOrder#keep}, from all records of a topic. */
final class PublishedManifests {
  private final String setName;
  private final Set<TrustedKey> trustedKeys;
  private final List<Manifest> kept = new ArrayList<>();
  private long unusable;
  private String lastReason = "";
  // The problem of the newest record; null if the record can be used.
  private @Nullable SnapshotException problem;

  /**
   * Creates an object that has not read any records.
   *
   * @param trustedKeys one of these keys must have signed a manifest; empty if signatures are not
   *     checked
   */
  PublishedManifests(String setName, Set<TrustedKey> trustedKeys) {
    this.setName = setName;
    this.trustedKeys = trustedKeys;
  }

  /** Adds the next record of the set; null if its manifest was deleted. */
  void accept(byte @Nullable [] value) {
    if (value == null) {
      // A tombstone has no signature: with trusted keys it does not remove a manifest.
      if (trustedKeys.isEmpty()) {
        kept.clear();
        problem = null;
      }
      return;
    }
    try {
      Manifest manifest = ManifestCheck.read(value, setName, trustedKeys);
      ManifestOrder.keep(kept, manifest, Manifest::sequence);
      problem = null;
    } catch (SnapshotException e) {
      unusable++;
      lastReason = e.getMessage();
      problem = e;
    }
  }

  /**
   * Returns the manifests to try, the highest sequence first; empty if there are no manifests.
   *
   * @throws SnapshotException if the newest record cannot be used and there are no trusted keys, or
   *     if no record can be used
   */
  List<Manifest> highestFirst() throws SnapshotException {
    if (problem != null && (trustedKeys.isEmpty() || kept.isEmpty())) {
      throw problem;
    }
    return kept.stream().sorted(Comparator.comparingLong(Manifest::sequence).reversed()).toList();
  }

  /** Returns a message about ignored records; empty if no record was ignored. */
  Optional<String> passedOver() {
    return trustedKeys.isEmpty() || unusable == 0
        ? Optional.empty()
        : Optional.of(
            "%d manifests of set '%s' on the topic do not count, the last because %s"
                .formatted(unusable, setName, lastReason));
  }
}
