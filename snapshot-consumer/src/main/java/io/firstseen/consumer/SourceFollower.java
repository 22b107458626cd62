package io.firstseen.consumer;

import io.firstseen.consumer.internal.ActiveSnapshot;
import io.firstseen.consumer.internal.Decision;
import io.firstseen.consumer.internal.ManifestOrder;
import io.firstseen.consumer.internal.ManifestReader;
import io.firstseen.consumer.internal.Retry;
import io.firstseen.consumer.internal.SnapshotSource;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.HashKeyMismatchException;
import io.firstseen.filters.snapshot.MalformedSnapshotException;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.UnsupportedSnapshotException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows a set in a {@link SnapshotSource}: the highest usable sequence becomes active. Reports to
 * a {@link FollowedState}. Does not manage threads; {@link #look} is called at each poll.
 */
final class SourceFollower {
  private static final Logger LOG = LoggerFactory.getLogger(SourceFollower.class);
  private static final int MAX_EARLIER = 60;
  // In polls. A manifest that failed is skipped for 1, 3, 7, … polls, at most for 60.
  private static final int FIRST_RETRY = 2;
  private static final int MAX_RETRY = 61;

  private final SnapshotSource source;
  private final ManifestReader reader;
  private final LongSupplier wallClockMillis;
  private final FollowedState shown;
  private final ManifestOrder order = new ManifestOrder();
  private final Map<Long, Failure> failures = new HashMap<>();
  private volatile List<Manifest> earlier = List.of();
  private long looks;
  private boolean loading;
  private boolean reachable = true;
  private boolean hasFailed;
  // The problem of the newest manifest that cannot be used.
  private @Nullable String failing;
  // Why the last manifest of this poll was rejected.
  private @Nullable String lastReason;
  private Judged judged = Judged.NOTHING;

  /** The newest manifest that was judged, and its version in the source. */
  private record Judged(long sequence, Object version) {
    static final Judged NOTHING = new Judged(-1, "none");
  }

  /**
   * The problem of a manifest.
   *
   * @param isLasting whether this reader can never use the manifest
   * @param retry the poll at which it is verified again
   */
  private record Failure(String refusal, boolean isLasting, Retry retry) {}

  SourceFollower(
      SnapshotSource source,
      ManifestReader reader,
      Optional<Duration> staleAfter,
      SnapshotListener listener,
      LongSupplier wallClockMillis) {
    this.source = source;
    this.reader = reader;
    this.wallClockMillis = wallClockMillis;
    this.shown =
        new FollowedState(
            reader.setName(),
            "directory " + source.place(),
            staleAfter,
            listener,
            wallClockMillis,
            () -> loading,
            new CurrentSnapshot(OptionalLong.empty()));
  }

  FollowedState shown() {
    return shown;
  }

  List<Manifest> earlier() {
    return earlier;
  }

  /** Processes new manifests of the source and reports problems. Never throws. */
  void look() {
    try {
      looks++;
      take();
      shown.tick();
    } catch (RuntimeException | Error e) {
      // Memory may have been exhausted while a failure was reported.
      LOG.debug("looking at {} failed", source.place(), e);
      hasFailed = true;
    }
  }

  private void take() {
    try {
      List<Long> newestFirst = new ArrayList<>(source.sequences());
      if (!reachable) {
        reachable = true;
        shown.reachable();
      }
      Collections.reverse(newestFirst);
      loading = !newestFirst.isEmpty();
      shown.tick();
      lastReason = null;
      if (!loadNewest(newestFirst) && shown.active() != null) {
        evaluateOld(newestFirst);
      }
      endLook(newestFirst);
    } catch (SnapshotException e) {
      if (reachable) {
        reachable = false;
        shown.unreachable(e.getMessage());
      }
    } catch (RuntimeException | Error e) {
      // Keep running after any exception: if the follower ended, its set would grow old unnoticed.
      LOG.warn("looking at {} failed", source.place(), e);
      hasFailed = true;
      shown.setOutage("looking at %s failed: %s".formatted(source.place(), e));
    }
  }

  private boolean loadNewest(List<Long> newestFirst) {
    for (long sequence : newestFirst) {
      if (sequence <= activeSequence()) {
        return false;
      }
      Failure before = failures.get(sequence);
      if ((before == null || before.retry().isDue(looks)) && load(sequence, newestFirst)) {
        return true;
      }
    }
    return false;
  }

  /** Returns the sequence of the active snapshot; -1 if there is none. */
  private long activeSequence() {
    ActiveSnapshot active = shown.active();
    return active == null ? -1 : active.manifest().sequence();
  }

  private void endLook(List<Long> sequences) {
    if (hasFailed) {
      hasFailed = false;
      shown.setOutage(null);
    }
    // A problem of the newest manifest remains even if an older manifest has become active since.
    failures.keySet().retainAll(sequences);
    String before = failing;
    failing =
        failures.entrySet().stream()
            .filter(failure -> failure.getKey() > activeSequence())
            .max(Map.Entry.comparingByKey())
            .map(failure -> failure.getValue().refusal())
            .orElse(null);
    boolean isUnusable =
        shown.active() == null && failures.values().stream().allMatch(Failure::isLasting);
    shown.setUnusable(isUnusable ? failing : null);
    if (failing != null) {
      shown.setRefusal(failing);
    } else if (before != null) {
      shown.endRefusal(before);
    }
  }

  /** Makes a snapshot active, or reports why it cannot. Returns whether it is active. */
  private boolean load(long sequence, List<Long> newestFirst) {
    long startNanos = System.nanoTime();
    try {
      Object version = source.version(sequence);
      Manifest manifest = read(sequence);
      reader.requireReadable(manifest);
      ActiveSnapshot active = shown.active();
      CatchUp loaded =
          CatchUp.to(
              manifest, active == null ? List.of() : List.of(active.set()), source.blobs(manifest));
      if (loaded.refusal() != null) {
        shown.refuse(reader.detour(sequence, loaded.refusal()));
      }
      if (active == null) {
        earlier = readEarlier(sequence, newestFirst);
      }
      order.answer(manifest);
      judged = new Judged(sequence, version);
      failures.keySet().removeIf(failed -> failed <= sequence);
      shown.answer(
          new Decision.Activate(
              ActiveSnapshot.of(loaded.set(), wallClockMillis.getAsLong()),
              loaded.way(),
              loaded.bytes(),
              loaded.changes()),
          startNanos);
      return true;
    } catch (HashKeyMismatchException | UnsupportedSnapshotException e) {
      fail(sequence, e.getMessage(), true);
    } catch (IOException e) {
      fail(sequence, e.getMessage() == null ? e.toString() : e.getMessage(), false);
    } catch (RuntimeException | Error e) {
      // After an OutOfMemoryError an older set may still fit.
      LOG.warn("loading sequence {} of {} failed", sequence, source.place(), e);
      fail(sequence, e.toString(), false);
    }
    return false;
  }

  private void fail(long sequence, String reason, boolean isLasting) {
    String refusal = reader.refusal(sequence, reason);
    Failure before = failures.get(sequence);
    // A problem, such as a different hash key, may affect hundreds of manifests.
    if (before == null && !reason.equals(lastReason)) {
      shown.refuse(refusal);
    }
    lastReason = reason;
    Retry retry = before == null ? Retry.NONE : before.retry();
    failures.put(
        sequence, new Failure(refusal, isLasting, retry.next(looks, FIRST_RETRY, MAX_RETRY)));
  }

  /** Reads a manifest. Its snapshots may be built with a different hash key. */
  private Manifest read(long sequence) throws IOException {
    Manifest manifest = reader.read(source.manifest(sequence));
    if (manifest.sequence() != sequence) {
      throw new MalformedSnapshotException("it is of sequence " + manifest.sequence());
    }
    return manifest;
  }

  private List<Manifest> readEarlier(long before, List<Long> newestFirst) {
    List<Manifest> manifests = new ArrayList<>();
    for (long sequence : newestFirst) {
      if (sequence < before && manifests.size() < MAX_EARLIER) {
        try {
          manifests.add(0, read(sequence));
        } catch (IOException e) {
          // Earlier manifests only feed the chart.
          LOG.debug("manifest {} cannot be read", sequence, e);
        }
      }
    }
    return List.copyOf(manifests);
  }

  /** Reports once per change that the source no longer contains the active manifest. */
  private void evaluateOld(List<Long> newestFirst) {
    if (newestFirst.isEmpty()) {
      reportOnce(Judged.NOTHING, "there is no manifest in " + source.place());
    } else if (newestFirst.get(0) <= activeSequence()) {
      evaluateAgain(newestFirst.get(0), newestFirst);
    }
  }

  private void evaluateAgain(long newest, List<Long> newestFirst) {
    try {
      Judged now = new Judged(newest, source.version(newest));
      if (now.equals(judged)) {
        return;
      }
      Manifest manifest;
      try {
        manifest = read(newest);
        reader.requireReadable(manifest);
      } catch (SnapshotException e) {
        reportOnce(now, reader.refusal(newest, e.getMessage()));
        return;
      }
      ManifestOrder.Verdict verdict = order.check(manifest);
      if (verdict == ManifestOrder.Verdict.SAME) {
        // A repeated run has written it again, usually later.
        judged = now;
        shown.setRefusal(null);
        if (manifest.publishedMillis() > shown.active().manifest().publishedMillis()) {
          load(newest, newestFirst);
        }
      } else {
        reportOnce(now, order.reason(manifest, verdict));
      }
    } catch (IOException e) {
      LOG.debug("manifest {} cannot be read", newest, e);
    }
  }

  private void reportOnce(Judged about, String reason) {
    if (!about.equals(judged)) {
      judged = about;
      shown.refuse(reason);
    }
  }
}
