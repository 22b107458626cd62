package io.firstseen.jobs.kafka;

import java.util.Optional;
import org.apache.flink.api.common.JobID;
import org.jspecify.annotations.Nullable;

/**
 * Fails the commit if another job has claimed the output. The check runs when all records of a
 * transaction are at the broker, so that a job that claims the output later sees the transaction
 * and can abort it.
 */
final class CommitCheck implements AutoCloseable {
  private final OutputClaim output;
  private final String claim;
  // Null until the first check.
  private @Nullable ClaimsTail tail;

  CommitCheck(OutputClaim output, JobID job) {
    this.output = output;
    this.claim = output.of(job);
  }

  /**
   * Requires that this job owns the newest claim.
   *
   * @param mayBeUnclaimed whether the claim may be missing because there is nothing to commit yet
   * @throws io.firstseen.operators.UserErrorException if another job owns the newest claim
   */
  void requireMine(boolean mayBeUnclaimed) {
    if (tail == null) {
      tail = new ClaimsTail(output.clientProperties(), output.topic(), output.output());
    }
    tail.readToEnd();
    Optional<String> newest = tail.newest();
    if (newest.isEmpty() && mayBeUnclaimed) {
      return;
    }
    if (!newest.equals(Optional.of(claim))) {
      throw output.notOwned(
          newest
              .map(other -> PublisherLine.job(other) + " has taken it over")
              .orElse("its claim was deleted from topic " + output.topic()));
    }
  }

  @Override
  public void close() {
    if (tail != null) {
      tail.close();
    }
  }
}
