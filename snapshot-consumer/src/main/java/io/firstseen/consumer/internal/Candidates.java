package io.firstseen.consumer.internal;

import io.firstseen.consumer.internal.ManifestOrder.Verdict;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.UnsupportedSnapshotException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The manifests of a set on a topic that may become active; {@link ManifestOrder#keep} selects them
 * from all manifests that were read.
 */
final class Candidates {
  private final AssemblerSettings settings;
  private final ManifestReader reader;
  private final ManifestOrder order;
  // In the order of the topic.
  private final List<Candidate> kept = new ArrayList<>();
  private Newest newest = Newest.USABLE;
  private boolean hasSeenManifests;

  /**
   * The newest manifest on the topic.
   *
   * @param problem its problem; null if there is none
   * @param unreadable why this client can never read it or its blobs; null if it can
   */
  private record Newest(@Nullable String problem, @Nullable String unreadable) {
    static final Newest USABLE = new Newest(null, null);
  }

  Candidates(AssemblerSettings settings, ManifestReader reader, ManifestOrder order) {
    this.settings = settings;
    this.reader = reader;
    this.order = order;
  }

  /**
   * Adds the next manifest of the topic.
   *
   * @param value null if the manifest was deleted
   * @return the manifest, if it is not needed because the pinned sequence is active
   */
  Optional<Manifest> accept(long offset, byte @Nullable [] value, LongSupplier clockMillis) {
    if (value == null) {
      newest =
          new Newest(
              "the manifest of set '%s' was deleted from the topic".formatted(settings.setName()),
              null);
      // A tombstone has no signature. If a client forgot its manifest, an old manifest could
      // follow.
      if (settings.trustedKeys().isEmpty()) {
        kept.clear();
      }
      return Optional.empty();
    }
    hasSeenManifests = true;
    Manifest manifest;
    try {
      manifest = reader.read(value);
    } catch (SnapshotException e) {
      String problem =
          "a manifest of set '%s' cannot be read: %s".formatted(settings.setName(), e.getMessage());
      newest = new Newest(problem, e instanceof UnsupportedSnapshotException ? problem : null);
      return Optional.empty();
    }
    String problem = whyUnreadable(manifest);
    newest = new Newest(problem, problem);
    if (problem == null && order.check(manifest) != Verdict.NOT_PINNED) {
      add(new Candidate(manifest, offset, clockMillis.getAsLong()));
      return Optional.empty();
    }
    return order.isSettled() ? Optional.of(manifest) : Optional.empty();
  }

  private void add(Candidate candidate) {
    Manifest manifest = candidate.manifest;
    kept.stream()
        .filter(earlier -> earlier.manifest.hasContentOf(manifest))
        .findFirst()
        .ifPresent(candidate::goOnFrom);
    String unreachable = settings.blobs().whyUnreachable(manifest);
    if (unreachable != null) {
      candidate.unusable =
          "the blobs of sequence %d of set '%s' cannot be fetched: %s"
              .formatted(manifest.sequence(), settings.setName(), unreachable);
    }
    ManifestOrder.keep(kept, candidate, Candidate::sequence);
  }

  /** Returns why a manifest can never become active, or null. */
  @Nullable String whyUnreadable(Manifest manifest) {
    try {
      reader.requireReadable(manifest);
      return null;
    } catch (SnapshotException e) {
      return reader.refusal(manifest.sequence(), e.getMessage());
    }
  }

  /** Called when a snapshot was restored from a cache, so that manifests exist. */
  void restored() {
    hasSeenManifests = true;
  }

  /** Returns whether a manifest was seen, even if it was not kept. */
  boolean hasSeenManifests() {
    return hasSeenManifests;
  }

  /** Returns the problem of the newest manifest on the topic; null if there is none. */
  @Nullable String problem() {
    return newest.problem();
  }

  /**
   * Returns why no manifest can become active with the settings of this client; empty if a manifest
   * may become active.
   */
  Optional<String> unusable() {
    if (kept.isEmpty()) {
      return Optional.ofNullable(newest.unreadable());
    }
    return kept.stream().allMatch(candidate -> candidate.unusable != null)
        ? Optional.of(kept.get(kept.size() - 1).unusable)
        : Optional.empty();
  }

  /** Returns the candidates in the order of the topic. */
  List<Candidate> all() {
    return Collections.unmodifiableList(kept);
  }

  List<Candidate> highestFirst() {
    return kept.stream().sorted(Comparator.comparingLong(Candidate::sequence).reversed()).toList();
  }

  Set<String> asked() {
    return kept.stream().flatMap(each -> each.asked.stream()).collect(Collectors.toSet());
  }

  void pin(OptionalLong sequence) {
    kept.removeIf(each -> sequence.isPresent() && each.sequence() != sequence.getAsLong());
  }

  void remove(Candidate candidate) {
    kept.remove(candidate);
  }

  /** Removes a candidate whose blobs contradict its manifest, and returns the report on it. */
  String refuse(Candidate candidate, SnapshotException why) {
    remove(candidate);
    String refusal = reader.refusal(candidate.sequence(), why.getMessage());
    if (why instanceof UnsupportedSnapshotException) {
      newest = new Newest(newest.problem(), refusal);
    }
    return refusal;
  }

  /** Removes the candidate that became active, and older ones that precede it in the topic. */
  void supersede(Candidate answering) {
    int at = kept.indexOf(answering);
    kept.remove(at);
    // A lower sequence after it in the topic is kept, so that the client reports that the set went
    // back.
    kept.subList(0, at).removeIf(other -> other.sequence() < answering.sequence());
  }

  /** Forgets all candidates, because the whole topic is about to be read from its beginning. */
  void rewind() {
    kept.clear();
    newest = Newest.USABLE;
  }
}
