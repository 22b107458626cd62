package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether to wait for, report, or read the whole topic again for blobs of manifests that
 * are missing on the topic.
 */
final class BlobWaits {
  // Records of one window may become visible one after another.
  private static final long REREAD_AFTER_MILLIS = 2_000;

  // The first pause before the topic is read again for a manifest that keeps waiting, in chunk
  // waits, and the maximum pause.
  private static final int FIRST_RETRY_WAITS = 10;
  private static final long MAX_RETRY_MILLIS = 3_600_000;

  // A pack, the list of bases and the bases may be found missing one after another.
  private static final int MAX_DEFERRALS = 3;

  private final String setName;
  private final long chunkWaitMillis;
  private final long maxBlobBytes;
  private final ChunkStore chunks;
  private final ChunkSelection selection;
  private final Reports reports;
  private boolean isRereadRequested;
  // How often the first snapshot has waited until the topic was read again.
  private int deferrals;
  // When the end of the topic was first reached since reading of the whole topic began; null
  // before.
  private @Nullable Long needsBasesSinceMillis;
  // When the whole topic is read again, by the sequences of manifests that keep waiting.
  private final Map<Long, Retry> retries = new HashMap<>();
  // When a manifest began to wait, after the last complete manifest and after reading of the whole
  // topic began; null if no manifest waits. If windows are short, each manifest may only wait for a
  // short time.
  private @Nullable Long incompleteSinceMillis;
  // Whether this was reported, and whether the topic was read again for it.
  private boolean isReported;
  private boolean isRead;

  BlobWaits(
      AssemblerSettings settings,
      long maxBlobBytes,
      ChunkStore chunks,
      ChunkSelection selection,
      Reports reports) {
    this.setName = settings.setName();
    this.chunkWaitMillis = settings.chunkWaitMillis();
    this.maxBlobBytes = maxBlobBytes;
    this.chunks = chunks;
    this.selection = selection;
    this.reports = reports;
  }

  void answered() {
    end();
    isReported = false;
    isRead = false;
  }

  void end() {
    incompleteSinceMillis = null;
  }

  /** Called when the whole topic is about to be read from its beginning. */
  void rewind() {
    end();
    needsBasesSinceMillis = null;
  }

  void requestReread(boolean isRequested) {
    isRereadRequested = isRequested;
  }

  /** Returns whether the whole topic must be read again, and resets this request. */
  boolean takeReread() {
    boolean taken = isRereadRequested;
    isRereadRequested = false;
    return taken;
  }

  void retain(Collection<Candidate> candidates) {
    retries
        .keySet()
        .retainAll(candidates.stream().map(Candidate::sequence).collect(Collectors.toSet()));
  }

  /**
   * Drops bases if they are no longer needed.
   *
   * @param hasActive whether a snapshot is active
   * @param mayBeNeeded whether a manifest waits that may need them
   */
  void dropBases(long nowMillis, boolean hasActive, boolean mayBeNeeded) {
    if (needsBasesSinceMillis == null) {
      needsBasesSinceMillis = nowMillis;
    }
    boolean mayAnswerSoon = !hasActive && nowMillis - needsBasesSinceMillis < chunkWaitMillis;
    if (selection.keepsBases() && !mayAnswerSoon && !mayBeNeeded) {
      selection.dropBases();
    }
  }

  /**
   * Some blobs of a candidate arrived late, so others may be in parts of the topic that are no
   * longer read.
   */
  void tryAgain(Candidate candidate, long nowMillis) {
    retries.computeIfPresent(
        candidate.sequence(), (sequence, retry) -> new Retry(nowMillis, retry.pause()));
  }

  /**
   * Lets a candidate wait for blobs of the topic.
   *
   * @param asked the digests of the blobs that all candidates are known to need
   * @param hasActive whether a snapshot is active
   * @return whether lower sequences must wait until the topic was read again: they would become
   *     active first only because their blobs arrived later
   */
  boolean await(
      Candidate candidate,
      Set<String> asked,
      boolean hasActive,
      long nowMillis,
      Consumer<Decision> decisions) {
    long lackingBytes = candidate.lacking.stream().mapToLong(BlobReference::bytes).sum();
    if (lackingBytes > maxBlobBytes) {
      // Waiting for them would take memory from the other sets of a consumer.
      candidate.isGivenUp = true;
      candidate.unusable =
          "sequence %d of set '%s' needs %d more bytes of blobs, and only %d may be in memory: give it a cache directory or more heap"
              .formatted(candidate.sequence(), setName, lackingBytes, maxBlobBytes);
      if (reports.isFirst(candidate.unusable)) {
        decisions.accept(new Decision.Refuse(candidate.unusable));
      }
      return false;
    }
    boolean defers = false;
    long waitedMillis = nowMillis - candidate.waitsSinceMillis;
    if (!selection.keepsBases()) {
      boolean isLate = waitedMillis >= Math.min(REREAD_AFTER_MILLIS, chunkWaitMillis);
      // Only once, so that a repeatedly published manifest has no further cost.
      if (isLate && reports.isFirst("reread for " + candidate.sequence())) {
        rereadFor(candidate.asked);
      } else if (waitedMillis >= chunkWaitMillis) {
        reportWaiting(candidate, nowMillis, decisions);
      }
    } else if (selection.takeDropped(candidate.lacking)) {
      // All together, because a limit that only fits one of them would drop each blob for the
      // others.
      rereadFor(asked);
      defers = !hasActive && deferrals++ < MAX_DEFERRALS;
    } else if (waitedMillis >= chunkWaitMillis) {
      reportWaiting(candidate, nowMillis, decisions);
    }
    awaitAny(candidate, nowMillis, decisions);
    return defers;
  }

  private void rereadFor(Set<String> digests) {
    isRereadRequested = true;
    selection.await(digests);
  }

  /**
   * Reports that manifests are continuously waiting, although each is replaced before its wait
   * ends.
   */
  private void awaitAny(Candidate candidate, long nowMillis, Consumer<Decision> decisions) {
    if (reports.has("waiting for " + candidate.sequence())) {
      return;
    }
    if (incompleteSinceMillis == null) {
      incompleteSinceMillis = nowMillis;
    }
    if (isReported || nowMillis - incompleteSinceMillis < chunkWaitMillis) {
      return;
    }
    if (!selection.keepsBases() && !isRead) {
      isRead = true;
      rereadFor(candidate.asked);
      return;
    }
    List<BlobReference> missing = missing(candidate);
    if (!missing.isEmpty()) {
      isReported = true;
      decisions.accept(
          new Decision.Refuse(
              "no manifest of set '%s' has become complete for %d ms: of sequence %d, %s"
                  .formatted(setName, chunkWaitMillis, candidate.sequence(), describe(missing))));
    }
  }

  /**
   * Returns a description of a candidate's missing blobs, except damaged blobs, which were already
   * reported.
   */
  private List<BlobReference> missing(Candidate candidate) {
    return candidate.lacking.stream().filter(blob -> !chunks.isDamaged(blob)).toList();
  }

  private String describe(List<BlobReference> missing) {
    BlobReference first = missing.get(0);
    return "%d of its blobs are missing; the first is %s, which lacks %d of %d chunks"
        .formatted(
            missing.size(),
            first.digest(),
            chunks.missing(first),
            SnapshotTopicFormat.chunkCount(first.bytes()));
  }

  private void reportWaiting(Candidate candidate, long nowMillis, Consumer<Decision> decisions) {
    List<BlobReference> missing = missing(candidate);
    boolean tells = !missing.isEmpty() && reports.isFirst("incomplete " + candidate.sequence());
    boolean isFirst = reports.isFirst("waiting for " + candidate.sequence());
    if (tells) {
      isReported = true;
      decisions.accept(
          new Decision.Refuse(
              "sequence %d of set '%s' is incomplete after %d ms: %s"
                  .formatted(candidate.sequence(), setName, chunkWaitMillis, describe(missing))));
    }
    Retry retry = retries.getOrDefault(candidate.sequence(), Retry.NONE);
    if (tells || isFirst || (candidate.isGivenUp && retry.isDue(nowMillis))) {
      selection.await(candidate.asked);
      decisions.accept(new Decision.Reread());
    } else if (!candidate.isGivenUp) {
      candidate.isGivenUp = true;
      if (retry.isDue(nowMillis)) {
        long first = FIRST_RETRY_WAITS * Math.max(1, chunkWaitMillis);
        retries.put(candidate.sequence(), retry.next(nowMillis, first, MAX_RETRY_MILLIS));
      }
    }
  }
}
