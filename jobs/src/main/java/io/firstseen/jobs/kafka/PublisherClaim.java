package io.firstseen.jobs.kafka;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * Who publishes a set, as one job knows it. A job claims the set before its first manifest, under
 * its own id, and the newest claim on the topic counts: whoever sees another one ends.
 *
 * @param self the job that wrote this
 * @param before who had claimed the set when the job began; empty if nobody had, and once the topic
 *     holds this job's claim
 * @param sequence of the newest manifest that the job sent or began after; -1 if there is none
 */
record PublisherClaim(String self, String before, long sequence) {

  /** A job that has sent nothing, after what it met. */
  static PublisherClaim of(String self, Optional<String> met) {
    return new PublisherClaim(self, met.orElse(""), -1);
  }

  /** The same after another manifest. */
  PublisherClaim after(long newSequence) {
    return new PublisherClaim(self, before, newSequence);
  }

  /** The same when the topic holds its claim: what was before counts no longer. */
  PublisherClaim confirmed() {
    return new PublisherClaim(self, "", sequence);
  }

  /** The job that goes on from this one's state. */
  PublisherClaim succeededBy(String job) {
    return new PublisherClaim(job, self, sequence);
  }

  /** Whether a claim on the topic is this job's, or the one that its own replaces. */
  boolean covers(Optional<String> claim) {
    return claim.isEmpty() || claim.get().equals(self) || claim.get().equals(before);
  }

  /**
   * Why a job may not send its next manifest, if so: another job goes on from the same state, under
   * a claim that this one's replaces.
   *
   * @param next the sequence of that manifest
   * @param newest the sequence of the newest manifest on the topic
   */
  Optional<String> refusalToSend(long next, OptionalLong newest) {
    long published = newest.orElse(-1);
    return published > sequence || published >= next
        ? Optional.of(
            ("it has manifest %d meanwhile, which this job did not send: the job before it still"
                    + " ran (stop that one, and start this one from its newest state, or again with"
                    + " --take-over)")
                .formatted(published))
        : Optional.empty();
  }

  /**
   * Why a job may not begin, if so.
   *
   * @param restored what its state says; null if it has none
   * @param job the id of the job
   * @param claim who claimed the set last
   * @param newest the sequence of the newest manifest on the topic
   */
  static Optional<String> refusal(
      PublisherClaim restored, String job, Optional<String> claim, OptionalLong newest) {
    if (restored != null && restored.self.equals(job)) {
      // The job itself after a failure: its own claim may not be committed yet.
      return restored.covers(claim)
          ? Optional.empty()
          : Optional.of("job %s has taken it over".formatted(claim.get()));
    }
    if (newest.isEmpty() && claim.isEmpty()) {
      return Optional.empty();
    }
    String manifests =
        newest.isPresent()
            ? "manifests up to sequence %d".formatted(newest.getAsLong())
            : "a publisher without manifests";
    String publisher = claim.map("job "::concat).orElse("an unknown job");
    if (restored == null) {
      return Optional.of(
          "it has %s, of %s, and this job has no state of it".formatted(manifests, publisher));
    }
    if (!restored.covers(claim)) {
      return Optional.of(
          "it has %s, of %s, and this job's state is of job %s"
              .formatted(manifests, publisher, restored.self));
    }
    if (newest.orElse(-1) > restored.sequence) {
      return Optional.of(
          "it has %s, and this job's state is older: it is of sequence %d"
              .formatted(manifests, restored.sequence));
    }
    return Optional.empty();
  }
}
