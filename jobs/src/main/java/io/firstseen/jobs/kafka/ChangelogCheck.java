package io.firstseen.jobs.kafka;

import io.firstseen.jobs.options.JobIdentity;
import io.firstseen.operators.UserErrorException;
import java.io.Serializable;
import java.util.Properties;
import java.util.Set;

/**
 * Compares the options of a job that reads a changelog with the options that the dedup job recorded
 * on its claims topic.
 *
 * @param identity the options of the reading job
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

  /** Reads the current records of the claims topic, and requires the same options. */
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
        "the options differ from the options of the dedup job that writes topic %s, so the set would not contain the keys of the topic: %s"
            .formatted(changelog, difference));
  }
}
