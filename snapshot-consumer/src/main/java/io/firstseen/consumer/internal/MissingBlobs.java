package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.BlobReference;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Since when blobs of the topic are missing, and when the topic is read again for them. It is
 * counted for each blob and not for each manifest, because windows may be shorter than the wait.
 * Where each manifest lacks another blob, {@link #isNothingComplete} tells.
 *
 * <p>A blob is waited for once, then the topic is read again, then it is waited for once more. If
 * that was in vain, it is given up: the topic is read again after ten times the wait, and then each
 * time after twice as long, up to an hour.
 */
final class MissingBlobs {
  // Records of one window may become visible one after another.
  private static final long EARLY_MILLIS = 2_000;
  private static final int FIRST_PAUSE_WAITS = 10;
  private static final long MAX_PAUSE_MILLIS = 3_600_000;
  private static final int MAX_REMEMBERED = 1 << 17;
  private static final long UNSET = Long.MIN_VALUE;

  private final long waitMillis;
  // How long manifests have waited at the end of the topic since one was complete.
  private long nothingCompleteMillis;
  private long addedAtMillis = UNSET;
  private long readAgainEarlyAtMillis = UNSET;
  private final Map<String, Missing> byDigest =
      new LinkedHashMap<>(16, 0.75f, /* accessOrder= */ true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Missing> eldest) {
          return size() > MAX_REMEMBERED;
        }
      };

  private static final class Missing {
    // Of the current stage; UNSET while the topic is read again.
    private long sinceMillis = UNSET;
    private boolean isReadAgainEarly;
    private boolean isReadAgain;
    private boolean isGivenUp;
    private long pauseMillis;
  }

  /** What to do about missing blobs. */
  enum Advice {
    /** Nothing yet. */
    WAIT,
    /** Report them, and read the topic again. */
    READ_AGAIN,
    /** Report them, and read on: the topic was read again in vain. */
    GIVE_UP
  }

  /**
   * @param waitMillis how long to wait for a blob before it is reported
   */
  MissingBlobs(long waitMillis) {
    this.waitMillis = waitMillis;
  }

  /** Counts blobs as missing from now on, unless they are already. */
  void add(Collection<BlobReference> blobs, long nowMillis) {
    nothingCompleteMillis += addedAtMillis == UNSET ? 0 : nowMillis - addedAtMillis;
    addedAtMillis = nowMillis;
    for (BlobReference blob : blobs) {
      Missing missing = byDigest.computeIfAbsent(blob.digest(), digest -> new Missing());
      if (missing.sinceMillis == UNSET) {
        missing.sinceMillis = nowMillis;
      }
    }
  }

  /** Forgets blobs that have come. */
  void remove(Collection<String> digests) {
    byDigest.keySet().removeAll(digests);
  }

  /** Must be called when the topic is about to be read again: waits begin at its end. */
  void rewind() {
    addedAtMillis = UNSET;
    for (Missing missing : byDigest.values()) {
      if (!missing.isGivenUp) {
        missing.sinceMillis = UNSET;
      }
    }
  }

  /** Must be called when no manifest waits. */
  void clear() {
    byDigest.clear();
    completed();
    readAgainEarlyAtMillis = UNSET;
  }

  /** Must be called when a manifest has become complete. */
  void completed() {
    nothingCompleteMillis = 0;
    addedAtMillis = UNSET;
  }

  /** Whether manifests have been waiting all the time of a wait, and none has become complete. */
  boolean isNothingComplete() {
    return nothingCompleteMillis >= waitMillis;
  }

  /**
   * Whether the topic must be read again because only packs were kept: once for each blob, and at
   * most once in the time of a wait.
   *
   * @param blobs of {@link #add}
   */
  boolean takeEarly(Collection<BlobReference> blobs, long nowMillis) {
    if (readAgainEarlyAtMillis != UNSET && nowMillis - readAgainEarlyAtMillis < waitMillis) {
      return false;
    }
    boolean any = false;
    for (BlobReference blob : blobs) {
      Missing missing = byDigest.get(blob.digest());
      any |=
          !missing.isReadAgainEarly
              && (isNothingComplete()
                  || nowMillis - missing.sinceMillis >= Math.min(EARLY_MILLIS, waitMillis));
    }
    if (any) {
      readAgainEarlyAtMillis = nowMillis;
      blobs.forEach(blob -> byDigest.get(blob.digest()).isReadAgainEarly = true);
    }
    return any;
  }

  /**
   * Takes what to do about the missing blobs of a manifest.
   *
   * @param blobs of {@link #add}
   */
  Advice take(Collection<BlobReference> blobs, long nowMillis) {
    boolean isDue = false;
    boolean isGivenUp = false;
    for (BlobReference blob : blobs) {
      Missing missing = byDigest.get(blob.digest());
      boolean isOver = nowMillis - missing.sinceMillis >= waitMillis;
      if (missing.isReadAgain && isOver && !missing.isGivenUp) {
        missing.isGivenUp = true;
        missing.sinceMillis = nowMillis;
        missing.pauseMillis =
            missing.pauseMillis == 0
                ? FIRST_PAUSE_WAITS * Math.max(1, waitMillis)
                : Math.max(
                    missing.pauseMillis, Math.min(2 * missing.pauseMillis, MAX_PAUSE_MILLIS));
      }
      isGivenUp |= missing.isGivenUp;
      isDue |=
          missing.isGivenUp
              ? nowMillis - missing.sinceMillis >= missing.pauseMillis
              : !missing.isReadAgain && isOver;
    }
    if (isDue) {
      for (BlobReference blob : blobs) {
        Missing missing = byDigest.get(blob.digest());
        missing.isReadAgainEarly = true;
        missing.isReadAgain = true;
        missing.isGivenUp = false;
        missing.sinceMillis = nowMillis;
      }
      return Advice.READ_AGAIN;
    }
    return isGivenUp ? Advice.GIVE_UP : Advice.WAIT;
  }

  /**
   * Ends the pause of a manifest of which some blobs came after they were given up: others may have
   * come where nobody reads any more.
   *
   * @param before what was missing of it
   * @param after what is missing now
   */
  void someCame(Collection<BlobReference> before, Collection<BlobReference> after, long nowMillis) {
    long pauseMillis = 0;
    for (BlobReference blob : before) {
      Missing missing =
          after.contains(blob) ? byDigest.get(blob.digest()) : byDigest.remove(blob.digest());
      if (missing != null && missing.isGivenUp) {
        pauseMillis = Math.max(pauseMillis, missing.pauseMillis);
      }
    }
    if (pauseMillis > 0) {
      for (BlobReference blob : after) {
        Missing missing = byDigest.computeIfAbsent(blob.digest(), digest -> new Missing());
        missing.isReadAgainEarly = true;
        missing.isGivenUp = true;
        missing.pauseMillis = Math.max(pauseMillis, missing.pauseMillis);
        missing.sinceMillis = nowMillis - missing.pauseMillis;
      }
    }
  }
}
