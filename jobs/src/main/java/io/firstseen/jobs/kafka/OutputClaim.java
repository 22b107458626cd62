package io.firstseen.jobs.kafka;

import io.firstseen.jobs.options.JobIdentity;
import io.firstseen.operators.UserErrorException;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.flink.api.common.JobID;

/**
 * The settings with which a sink of a dedup job claims its output.
 *
 * @param topic the topic of claims
 * @param output the output topic after which the job is named; a claim covers this topic and the
 *     other output topics
 * @param ids the prefix of the transactional ids of all sinks of the job
 * @param takenOver the claim that this job may replace in addition to the claims of its state
 * @param identity the options that must be the same in later starts and in readers of the output
 * @param acceptedChanges the options that may differ from the recorded options
 * @param inputs the topics of events, which are recorded for {@code doctor}; empty for a second
 *     sink
 */
record OutputClaim(
    Properties clientProperties,
    String topic,
    String output,
    String sink,
    String ids,
    boolean isTakeOver,
    PublisherLine takenOver,
    JobIdentity identity,
    Set<String> acceptedChanges,
    OutputTopics topics,
    OutputTopics inputs)
    implements Serializable {
  private static final String CLAIM = "/claim";

  static String claimKey(String output) {
    return output + CLAIM;
  }

  static boolean isClaimKey(String recordKey) {
    return recordKey.endsWith(CLAIM);
  }

  /** The record key of the {@link JobIdentity} of the job that writes the output. */
  static String identityKey(String output) {
    return output + "/identity";
  }

  /** The lines of {@link OutputTopics} to record, by record key. */
  Map<String, List<String>> topicLines(List<String> written, Brokers brokers) {
    String prefix = topicsPrefix(output);
    return inputs.names().isEmpty()
        ? Map.of(prefix + sink, written)
        : Map.of(prefix + sink, written, prefix + "events", inputs.now(brokers));
  }

  static String topicsPrefix(String output) {
    return output + "/topics/";
  }

  String writtenKey(int task, int tasks) {
    return "%s%d-of-%d".formatted(writtenPrefix(), task, tasks);
  }

  String writtenPrefix() {
    return output + "/written/" + sink + "/";
  }

  String of(JobID job) {
    return PublisherLine.claim(job.toHexString(), ids);
  }

  ClaimsTail tail() {
    return new ClaimsTail(clientProperties, topic, output);
  }

  /** Requires the options of the job that this job continues, unless the change is accepted. */
  void requireSameOptions(JobIdentity before) {
    identity
        .ofState()
        .difference(before, acceptedChanges)
        .ifPresent(
            difference -> {
              throw new UserErrorException(
                  ("the options differ from the options recorded for the output on topic %s, so "
                          + "equal events would have a different key, operation or time: %s")
                      .formatted(output, difference));
            });
  }

  UserErrorException notOwned(String reason) {
    return new UserErrorException(
        "the output on topic %s is not this job's: %s".formatted(output, reason));
  }
}
