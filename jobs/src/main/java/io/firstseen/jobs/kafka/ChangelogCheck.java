package io.firstseen.jobs.kafka;

import io.firstseen.jobs.options.JobIdentity;
import io.firstseen.operators.UserErrorException;
import java.io.Serializable;
import java.util.Properties;
import java.util.Set;

/**
 * Compares a job that reads a changelog with the options of the dedup that writes it, as far as the
 * dedup has recorded them on its claims topic.
 *
 * @param identity the options of the job that reads
 * @param acceptedChanges the options that may differ
 */
record ChangelogCheck(
    Properties clientProperties,
    String claimsTopic,
    String changelog,
    JobIdentity identity,
    Set<String> acceptedChanges)
    implements Serializable {
  private static final long serialVersionUID = 1;

  ClaimsTail tail() {
    return new ClaimsTail(clientProperties, claimsTopic, changelog);
  }

  /**
   * Reads what is on the claims topic by now, and compares it.
   *
   * @throws UserErrorException if an option differs and may not
   */
  void require(ClaimsTail tail) {
    if (tail.exists()) {
      tail.readToEnd();
      tail.identity()
          .flatMap(dedup -> identity.difference(dedup.ofChangelog(), acceptedChanges))
          .ifPresent(
              difference -> {
                throw refusal(changelog, difference);
              });
    }
  }

  static UserErrorException refusal(String changelog, String difference) {
    return new UserErrorException(
        "the options differ from the options of the dedup that writes topic %s, so the set would not hold the keys of the topic: %s"
            .formatted(changelog, difference));
  }
}
