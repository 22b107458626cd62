package io.firstseen.jobs.kafka;

import java.util.Optional;
import org.apache.flink.api.common.JobID;
import org.jspecify.annotations.Nullable;

/**
 * Refuses to commit where another job has claimed the output. It is asked when all records of a
 * transaction are at the broker: so a job that claims the output later sees that transaction, and
 * can abort it.
 */
final class CommitCheck implements AutoCloseable {
  private final OutputClaim output;
  private final String claim;
  // Null until it is needed.
  private @Nullable ClaimsTail tail;

  CommitCheck(OutputClaim output, JobID job) {
    this.output = output;
    this.claim = output.of(job);
  }

  /**
   * Requires that the newest claim is this job's.
   *
   * @param mayBeUnclaimed whether there may be no claim, as there is nothing to commit yet
   * @throws io.firstseen.operators.UserErrorException if it is another job's
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
      throw output.refused(
          newest
              .map(other -> PublisherLine.job(other) + " has taken it over")
              .orElse("its claim is gone from topic " + output.topic()));
    }
  }

  @Override
  public void close() {
    if (tail != null) {
      tail.close();
    }
  }
}
