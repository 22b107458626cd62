package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.Manifest;
import java.util.OptionalLong;

/**
 * Which manifest may answer next. On one topic sequences go up; what goes back is refused, however
 * it came about. There are two exceptions: a topic that was created anew begins a new succession,
 * and while a sequence is pinned, that one and no other may answer.
 */
final class Succession {
  // The highest that answered since the topic was created; null if none did.
  private Manifest highest;
  private Manifest answering;
  private Long pinned;

  /** What is to become of a manifest. */
  enum Verdict {
    /** It may answer. */
    NEXT,
    /** It answers already. */
    SAME,
    /** It is not what is pinned. */
    NOT_PINNED,
    /** Its sequence is lower than one that answered. */
    BACK,
    /** It has the sequence of one that answered, and other content. */
    FORKED
  }

  Verdict judge(Manifest manifest) {
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
      return answering.sequence() == pinned ? Verdict.FORKED : Verdict.NEXT;
    }
    if (manifest.sequence() < highest.sequence()) {
      return Verdict.BACK;
    }
    return manifest.hasContentOf(highest) ? Verdict.NEXT : Verdict.FORKED;
  }

  /** A manifest answers from now on, or was found to be the one that does. */
  void answer(Manifest manifest) {
    answering = manifest;
    if (highest == null || manifest.sequence() > highest.sequence()) {
      highest = manifest;
    }
  }

  /** The topic was created anew: whatever sequence its manifests begin with. */
  void beginAnew() {
    highest = null;
  }

  void pin(OptionalLong sequence) {
    pinned = sequence.isPresent() ? sequence.getAsLong() : null;
  }

  OptionalLong pinned() {
    return pinned == null ? OptionalLong.empty() : OptionalLong.of(pinned);
  }

  /** Whether what answers is pinned, so that nothing else is wanted. */
  boolean isSettled() {
    return pinned != null && highest != null && answering != null && answering.sequence() == pinned;
  }

  /** The highest sequence that answered since the topic was created; empty if none did. */
  OptionalLong highestSequence() {
    return highest == null ? OptionalLong.empty() : OptionalLong.of(highest.sequence());
  }
}
