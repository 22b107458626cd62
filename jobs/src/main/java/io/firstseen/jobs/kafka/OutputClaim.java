package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.jobs.options.JobIdentity;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.Outcome;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.Operation;
import java.io.Serializable;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import org.apache.flink.api.common.JobID;

/**
 * What a sink of a dedup needs to be the only one that writes its output.
 *
 * @param clientProperties of the Kafka clients
 * @param topic the topic of claims
 * @param output the topic that the job is named after: a claim is for it and those beside it
 * @param sink the sink of the job, such as {@code outcomes}
 * @param ids what the transactional ids of the job begin with, whichever sink they are of
 * @param idsOfSink what those of this sink begin with
 * @param isTakeOver whether output that the state does not know of may be continued after
 * @param takenOver the claim that this job may replace besides those of its state
 * @param identity the options that later starts and readers of the output must share
 * @param acceptedChanges the options that may differ from the recorded ones
 * @param topics what the sink writes
 * @param inputs the topics of events, which are recorded for {@code doctor}; none for a second sink
 */
record OutputClaim(
    Properties clientProperties,
    String topic,
    String output,
    String sink,
    String ids,
    String idsOfSink,
    boolean isTakeOver,
    PublisherLine takenOver,
    JobIdentity identity,
    Set<String> acceptedChanges,
    OutputTopics topics,
    OutputTopics inputs)
    implements Serializable {
  private static final long serialVersionUID = 1;
  private static final String CLAIM = "/claim";

  /** The record key of claims. */
  static String claimKey(String output) {
    return output + CLAIM;
  }

  /** Whether this is the record key of claims for some output. */
  static boolean isClaimKey(String recordKey) {
    return recordKey.endsWith(CLAIM);
  }

  /** The record key of the {@link JobIdentity} of the job that writes the output. */
  static String identityKey(String output) {
    return output + "/identity";
  }

  /** The record key of the lines of {@link OutputTopics} of the sink. */
  String topicsKey() {
    return topicsPrefix(output) + sink;
  }

  /** The record key of the lines of the topics of events. */
  String inputsKey() {
    return topicsPrefix(output) + "events";
  }

  /** What those keys begin with. */
  static String topicsPrefix(String output) {
    return output + "/topics/";
  }

  /** The record key of what a task of the sink has written. */
  String writtenKey(int task, int tasks) {
    return "%s%d-of-%d".formatted(writtenPrefix(), task, tasks);
  }

  /** What all those keys begin with. */
  String writtenPrefix() {
    return output + "/written/" + sink + "/";
  }

  /** The claim of a job. */
  String of(JobID job) {
    return PublisherLine.claim(job.toHexString(), ids);
  }

  /** The element that becomes the record of what a task has written. */
  static Outcome written(String key, List<String> lines) {
    byte[] value = String.join("\n", lines).getBytes(UTF_8);
    return Outcome.of(
        Outcome.Kind.WRITTEN,
        key.getBytes(UTF_8),
        SourceEvent.of(Operation.ADD, null, new byte[0], value, 0, Place.of("")));
  }

  /**
   * Compares this job with the options of the job that it continues.
   *
   * @throws UserErrorException if they differ and no option accepts it
   */
  void requireSameOptions(JobIdentity before) {
    identity
        .ofState()
        .difference(before, acceptedChanges)
        .ifPresent(
            difference -> {
              throw new UserErrorException(
                  ("the options differ from the options recorded for the output on topic %s, so equal"
                          + " events would have another key, operation or time: %s")
                      .formatted(output, difference));
            });
  }

  /** Why this is not the job's output. */
  UserErrorException refused(String reason) {
    return new UserErrorException(
        "the output on topic %s is not this job's: %s".formatted(output, reason));
  }
}
