package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.Sha256;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Decides which manifest may answer next. On one topic sequences increase; a lower one is refused,
 * whatever its cause. There are two exceptions: a topic that was created anew may begin with any
 * sequence, and while a sequence is pinned, only that one may answer.
 *
 * <p>Of several manifests that were read at once the highest sequence comes first, wherever it
 * stands in the topic: see {@link #keep}.
 */
public final class ManifestOrder {
  private static final int HIGHEST_KEPT = 2;
  private static final int NEWEST_KEPT = 2;

  // Null if none answered since the topic was created.
  private @Nullable Highest highest;
  private Manifest answering;
  private Long pinned;

  /**
   * The highest manifest that answered since the topic was created.
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
    /** It may answer. */
    NEXT,
    /** It answers already. */
    SAME,
    /** It is not the pinned one. */
    NOT_PINNED,
    /** Its sequence is lower than that of one that answered. */
    BACK,
    /** It has the sequence of one that answered, but other content. */
    FORKED
  }

  /**
   * Adds a manifest to those that may answer. It replaces one of the same sequence. Two groups are
   * kept: the two manifests with the highest sequences, so that an old manifest that is published
   * again does not replace them, and the two newest in the topic, so that later ones can answer
   * while the blobs of the highest are missing.
   *
   * @param kept in the order of the topic; at most four stay
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

  /** Why a manifest that is {@code BACK} or {@code FORKED} may not answer, in one sentence. */
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

  /** Records that a manifest answers from now on, or was found to be the active one. */
  public void answer(Manifest manifest) {
    answering = manifest;
    if (highest == null || manifest.sequence() > highest.sequence()) {
      highest = Highest.of(manifest);
    }
  }

  /** Restores the highest manifest of the last run, which may be above the active one. */
  void restore(Highest kept) {
    highest = kept;
  }

  /** The highest that answered; null if none did. */
  @Nullable Highest highest() {
    return highest;
  }

  /** Must be called when the topic was created anew: its manifests may begin with any sequence. */
  void beginAnew() {
    highest = null;
  }

  void pin(OptionalLong sequence) {
    pinned = sequence.isPresent() ? sequence.getAsLong() : null;
  }

  OptionalLong pinned() {
    return pinned == null ? OptionalLong.empty() : OptionalLong.of(pinned);
  }

  /** Whether the pinned sequence answers already, so that no other is wanted. */
  boolean isSettled() {
    return pinned != null && highest != null && answering != null && answering.sequence() == pinned;
  }
}
