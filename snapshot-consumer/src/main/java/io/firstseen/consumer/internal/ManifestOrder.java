package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.Sha256;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Decides which manifest may become active next. On one topic sequences increase; a lower sequence
 * is rejected, regardless of its cause. There are two exceptions: a recreated topic may begin with
 * any sequence, and while a sequence is pinned, only the pinned sequence may become active.
 *
 * <p>Of several manifests that were read together, the highest sequence comes first, regardless of
 * its position in the topic: see {@link #keep}.
 */
public final class ManifestOrder {
  private static final int HIGHEST_KEPT = 2;
  private static final int NEWEST_KEPT = 2;

  // Null if no manifest was active since the topic was created.
  private @Nullable Highest highest;
  private Manifest answering;
  private Long pinned;

  /**
   * The highest manifest that was active since the topic was created.
   *
   * @param contentDigest the SHA-256 of its {@link Manifest#content}
   */
  record Highest(long sequence, String contentDigest) {
    static Highest of(Manifest manifest) {
      return new Highest(manifest.sequence(), Sha256.hex(manifest.content().toBytes()));
    }
  }

  /** The verdict on a manifest. */
  public enum Verdict {
    /** The manifest may become active. */
    NEXT,
    /** The manifest is already active. */
    SAME,
    /** The manifest does not have the pinned sequence. */
    NOT_PINNED,
    /** Its sequence is lower than the sequence of a manifest that was active. */
    BACK,
    /** It has the sequence of a manifest that was active, but different content. */
    FORKED
  }

  /**
   * Adds a manifest to the candidates and replaces a candidate with the same sequence. Two groups
   * are kept: the two manifests with the highest sequences, so that an old manifest that is
   * published again does not replace them, and the two newest in the topic, so that later manifests
   * can become active while the blobs of the highest are missing.
   *
   * @param kept the candidates in the order of the topic; at most four are kept
   */
  public static <T> void keep(List<T> kept, T added, ToLongFunction<T> sequence) {
    long replaced = sequence.applyAsLong(added);
    kept.removeIf(each -> sequence.applyAsLong(each) == replaced);
    kept.add(added);
    long lowest =
        kept.stream()
            .mapToLong(sequence)
            .sorted()
            .skip(Math.max(0, kept.size() - HIGHEST_KEPT))
            .min()
            .orElseThrow();
    int older = Math.max(0, kept.size() - NEWEST_KEPT);
    kept.subList(0, older).removeIf(each -> sequence.applyAsLong(each) < lowest);
  }

  /** Checks a manifest. */
  public Verdict check(Manifest manifest) {
    if (pinned != null && manifest.sequence() != pinned) {
      return Verdict.NOT_PINNED;
    }
    if (answering != null && manifest.hasContentOf(answering)) {
      return Verdict.SAME;
    }
    if (highest == null || manifest.sequence() > highest.sequence()) {
      return Verdict.NEXT;
    }
    if (pinned != null) {
      return isSettled() ? Verdict.FORKED : Verdict.NEXT;
    }
    if (manifest.sequence() < highest.sequence()) {
      return Verdict.BACK;
    }
    return Highest.of(manifest).equals(highest) ? Verdict.NEXT : Verdict.FORKED;
  }

  /** Returns why a manifest that is {@code BACK} or {@code FORKED} may not become active. */
  public String reason(Manifest manifest, Verdict verdict) {
    return verdict == Verdict.FORKED
        ? "sequence %d of set '%s' was published again with different content; the first stays active"
            .formatted(manifest.sequence(), manifest.setName())
        : "set '%s' went back to sequence %d; %s"
            .formatted(manifest.setName(), manifest.sequence(), whatAnswers());
  }

  String whatAnswers() {
    return answering == null
        ? "no snapshot is active"
        : "sequence %d stays active".formatted(answering.sequence());
  }

  /** Records that a manifest has become active, or was found to be the active manifest. */
  public void answer(Manifest manifest) {
    answering = manifest;
    if (highest == null || manifest.sequence() > highest.sequence()) {
      highest = Highest.of(manifest);
    }
  }

  /**
   * Restores the highest manifest of the last run, which may be higher than the active manifest.
   */
  void restore(Highest kept) {
    highest = kept;
  }

  /** Returns the highest manifest that was active; null if there was none. */
  @Nullable Highest highest() {
    return highest;
  }

  /**
   * Must be called when the topic was recreated, because its manifests may begin with any sequence.
   */
  void topicRecreated() {
    highest = null;
  }

  void pin(OptionalLong sequence) {
    pinned = sequence.isPresent() ? sequence.getAsLong() : null;
  }

  OptionalLong pinned() {
    return pinned == null ? OptionalLong.empty() : OptionalLong.of(pinned);
  }

  /** Returns whether the pinned sequence is already active, so that no other is needed. */
  boolean isSettled() {
    return pinned != null && highest != null && answering != null && answering.sequence() == pinned;
  }
}
