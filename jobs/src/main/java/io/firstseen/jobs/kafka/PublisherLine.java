package io.firstseen.jobs.kafka;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The succession of publishers of a set, as stored in the state of a job. Each start of a job
 * claims the set with a new id before its first manifest, and the newest claim on the topic is
 * valid. A line follows the state from start to start: a start that sent no manifest is not part of
 * it, and two starts from the same state are not in each other's line.
 *
 * @param claims the claims of the line, oldest first, starting with the newest claim that was read
 *     from the topic; later claims may not be committed yet, or may never be committed
 * @param sequence the sequence of the newest manifest that the line has sent or continues after; -1
 *     without a manifest
 */
record PublisherLine(List<String> claims, long sequence) implements Serializable {
  // Represents manifests without a claim.
  private static final String UNCLAIMED = "";

  /** The line of a job that has not published a manifest. */
  static final PublisherLine NEW = new PublisherLine(List.of(), -1);

  PublisherLine {
    claims = List.copyOf(claims);
  }

  /** The line of a topic's current records, for a job that takes the set over. */
  static PublisherLine of(Optional<String> claim, OptionalLong newest) {
    return new PublisherLine(List.of(claim.orElse(UNCLAIMED)), newest.orElse(-1));
  }

  /** The id with which a job claims a set; it differs at each start. */
  static String claim(String job, String start) {
    return job + "/" + start;
  }

  static String job(String claim) {
    return claim.equals(UNCLAIMED)
        ? "an unknown job"
        : "job " + claim.substring(0, Math.max(claim.indexOf('/'), 0));
  }

  /** This line, which was taken over, followed by another. */
  PublisherLine then(PublisherLine other) {
    List<String> both = new ArrayList<>(claims);
    both.removeAll(other.claims);
    both.addAll(other.claims);
    return new PublisherLine(both, Math.max(sequence, other.sequence));
  }

  PublisherLine claimedBy(String claim) {
    return then(new PublisherLine(List.of(claim), sequence));
  }

  PublisherLine after(long newSequence) {
    return new PublisherLine(claims, newSequence);
  }

  /** The line without the claims before the given one, which was read from the topic. */
  PublisherLine since(Optional<String> claim) {
    int index = claims.indexOf(claim.orElse(UNCLAIMED));
    return index > 0 ? new PublisherLine(claims.subList(index, claims.size()), sequence) : this;
  }

  /**
   * Returns the reason why a job may not start; empty if it may start.
   *
   * @param signedOnly whether the job only trusts signed manifests: claims, which are not signed,
   *     are then ignored
   * @param claim the newest claim on the topic
   * @param newest the sequence of the newest manifest on the topic
   */
  Optional<String> refusalToBegin(boolean signedOnly, Optional<String> claim, OptionalLong newest) {
    if ((signedOnly || isMine(claim, newest)) && newest.orElse(-1) <= sequence) {
      return Optional.empty();
    }
    String manifests =
        newest.isPresent()
            ? "manifests up to sequence %d".formatted(newest.getAsLong())
            : "a publisher without manifests";
    return Optional.of(
        "it has %s, and this job %s"
            .formatted(
                signedOnly
                    ? "signed " + manifests
                    : "%s, of %s".formatted(manifests, job(claim.orElse(UNCLAIMED))),
                position()));
  }

  private String position() {
    return claims.isEmpty()
        ? "has no state of it"
        : "continues after sequence %d, of %s"
            .formatted(sequence, job(claims.get(claims.size() - 1)));
  }

  /**
   * Returns the reason why a job may not send the manifest with the next sequence; empty if it may.
   * {@link #refusalToBegin} has the same parameters otherwise.
   */
  Optional<String> refusalToSend(
      long next, boolean signedOnly, Optional<String> claim, OptionalLong newest) {
    if (!signedOnly && !isMine(claim, newest)) {
      return Optional.of(job(claim.orElse(UNCLAIMED)) + " has taken it over");
    }
    long published = newest.orElse(-1);
    return published > sequence || published >= next
        ? Optional.of(
            "it has manifest %d, which this job did not send: the previous job was still running (stop that job, and start this job from the newest state of that job, or again with --take-over)"
                .formatted(published))
        : Optional.empty();
  }

  boolean holds(String claim) {
    return claims.contains(claim);
  }

  /** Whether this line owns the set; any job may publish a set without records on the topic. */
  private boolean isMine(Optional<String> claim, OptionalLong newest) {
    return (claim.isEmpty() && newest.isEmpty()) || holds(claim.orElse(UNCLAIMED));
  }
}
