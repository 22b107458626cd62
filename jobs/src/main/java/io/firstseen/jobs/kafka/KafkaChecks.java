package io.firstseen.jobs.kafka;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.jobs.options.JobIdentity;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.jobs.shared.Duplicates;
import io.firstseen.jobs.shared.Finding;
import io.firstseen.operators.UserErrorException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.TopicConfig;

/**
 * The checks of {@link Topics} one by one, for a person: each gives a finding, and the next one
 * follows whatever it is. Makes no topic.
 */
public final class KafkaChecks {
  private static final long CLOCK_MILLIS = 60_000;

  /** Whose needs are checked. */
  public enum Job {
    /** {@code DedupJob}. */
    DEDUP,
    /** {@code SnapshotJob}. */
    SNAPSHOTS,
    /** {@code PipelineJob}. */
    PIPELINE,
    /** Somebody who only reads snapshots. */
    NONE;

    private boolean dedups() {
      return this == DEDUP || this == PIPELINE;
    }

    private boolean publishes() {
      return this == SNAPSHOTS || this == PIPELINE;
    }
  }

  private final KafkaOptions options;
  private final Topics topics;
  private final Job job;
  private final boolean hasTtl;
  private final Consumer<Finding> found;

  private KafkaChecks(
      KafkaOptions options, Topics topics, Job job, boolean hasTtl, Consumer<Finding> found) {
    this.options = options;
    this.topics = topics;
    this.job = job;
    this.hasTtl = hasTtl;
    this.found = found;
  }

  /**
   * Checks all. Without brokers there is one finding, after 12 seconds.
   *
   * @param ttl for how long keys live; empty if they may live for any time
   * @param identity the options to compare with the claims topic; empty without a job
   * @param setName the set whose newest manifest is looked at
   * @param trusted the keys, one of which must have signed it; empty for any manifest
   * @param release the name of a {@code metadata.version}
   * @param found gets each finding at once
   */
  public static void check(
      KafkaOptions options,
      Job job,
      Optional<Duration> ttl,
      Optional<JobIdentity> identity,
      String setName,
      List<TrustedKey> trusted,
      IntFunction<String> release,
      Consumer<Finding> found) {
    // A job with a ttl may have a topic with both policies.
    try (Topics topics = new Topics(options, ttl.orElse(Duration.ZERO), false)) {
      KafkaChecks checks = new KafkaChecks(options, topics, job, ttl.isPresent(), found);
      found.accept(checks.brokers(release));
      if (job != Job.NONE) {
        checks.transactions();
      }
      if (job.dedups()) {
        checks.dedupTopics();
      }
      if (job == Job.SNAPSHOTS) {
        checks.topic(
            options.acceptedTopic(),
            Set.of(AclOperation.READ),
            () -> {
              topics.requireAcceptedTopic(AclOperation.READ, Optional.empty());
              topics.requireRetention();
            });
        checks.offsets(options.snapshotsTopic(), List.of(options.acceptedTopic()));
      }
      identity.ifPresent(checks::options);
      if (job.publishes() || job == Job.NONE) {
        checks.snapshots(setName, trusted);
      }
    } catch (UserErrorException e) {
      // Only the connection is outside of all other checks.
      found.accept(Finding.failed("brokers", e.getMessage()));
    }
  }

  /** Compares the options with the options that a dedup has recorded, if there are any. */
  private void options(JobIdentity identity) {
    String check = "options of topic " + options.outputTopic();
    attempt(
        check,
        () ->
            ClaimsTail.identity(options)
                .map(recorded -> job == Job.SNAPSHOTS ? recorded.ofChangelog() : recorded)
                .map(
                    recorded ->
                        identity
                            .difference(recorded, options.acceptedChanges())
                            .map(difference -> Finding.failed(check, difference))
                            .orElseGet(() -> Finding.ok(check, "the same as of its dedup")))
                .orElseGet(() -> Finding.ok(check, "not recorded yet by a dedup")));
  }

  private Finding brokers(IntFunction<String> release) {
    String version =
        topics.metadataLevel().stream()
            .mapToObj(release)
            .findFirst()
            .map(name -> ", version " + name)
            .orElse("");
    int count = topics.brokerCount();
    return Finding.ok(
        "brokers",
        "%d %s at %s%s"
            .formatted(
                count, count == 1 ? "broker" : "brokers", options.bootstrapServers(), version));
  }

  private void transactions() {
    String check = "transaction timeout";
    attempt(
        check,
        () ->
            topics
                .requireTransactionTimeout(options.transactionTimeout())
                .map(
                    longest ->
                        Finding.ok(
                            check,
                            "--transaction-timeout is %s, the brokers allow %s"
                                .formatted(
                                    OptionValues.write(options.transactionTimeout()),
                                    OptionValues.write(longest))))
                .orElseGet(
                    () ->
                        Finding.warning(
                            check,
                            "the brokers do not tell transaction.max.timeout.ms: allow this user DescribeConfigs on the cluster, or make sure that it is at least "
                                + OptionValues.write(options.transactionTimeout()))));
    if (job.dedups()) {
      rights(true, options.outputTopic());
    }
    if (job.publishes()) {
      rights(job == Job.SNAPSHOTS, options.snapshotsTopic());
    }
  }

  private void rights(boolean reads, String output) {
    String check = "rights for " + output;
    attempt(
        check,
        () -> {
          topics.requireGroupAndIds(reads, output);
          String name = options.transactionalIdPrefix(output);
          return Finding.ok(
              check,
              "nothing forbids transactional ids %s.*%s"
                  .formatted(name, reads ? " and consumer group " + name : ""));
        });
  }

  private void dedupTopics() {
    List<TopicDescription> events = new ArrayList<>();
    boolean areKnown = events(events);
    offsets(options.outputTopic(), events.stream().map(TopicDescription::name).toList());
    Set<AclOperation> write = Set.of(AclOperation.WRITE);
    if (options.output().hasChangelog()) {
      topic(
          options.acceptedTopic(),
          write,
          () -> topics.requireAcceptedTopic(AclOperation.WRITE, Optional.empty()));
    }
    if (options.output().hasRecords() && areKnown) {
      topic(options.recordsTopic(), write, () -> topics.requireRecordsTopic(events));
    }
    if (options.duplicates() != Duplicates.NONE) {
      notCompacted(options.duplicatesTopic());
    }
    notCompacted(options.deadLettersTopic());
    topic(
        options.claimsTopic(),
        EnumSet.of(AclOperation.READ, AclOperation.WRITE),
        topics::requireClaimsTopic);
    writtenTopics();
  }

  /** Whether all are there. */
  private boolean events(List<TopicDescription> there) {
    if (options.eventsTopicPattern().isPresent()) {
      String check = "topics of events";
      attempt(
          check,
          () -> {
            there.addAll(topics.eventsTopics());
            return Finding.ok(
                check, String.join(", ", there.stream().map(TopicDescription::name).toList()));
          });
      return !there.isEmpty();
    }
    List<String> names = options.eventsTopics();
    for (String name : names) {
      String check = "topic " + name;
      attempt(
          check,
          () ->
              topics
                  .describe(name, Set.of(AclOperation.READ))
                  .map(
                      topic -> {
                        there.add(topic);
                        return Finding.ok(check, settings(topic));
                      })
                  .orElseGet(
                      () ->
                          Finding.failed(
                              check,
                              "there is no such topic to read events from: make it by kafka-topics.sh --bootstrap-server %s --create --topic %s, or name yours with --events-topic"
                                  .formatted(options.bootstrapServers(), name))));
    }
    return there.size() == names.size();
  }

  /** Reports the offsets that the newest checkpoint needs and the topics no longer have. */
  private void offsets(String output, List<String> inputs) {
    String check = "offsets of " + String.join(", ", inputs);
    try {
      for (String lost : topics.lostOffsets(output, inputs)) {
        found.accept(
            Finding.warning(
                check,
                lost
                    + ": a start from state fails without --allow-skipped-offsets, unless the state is newer"));
      }
    } catch (UserErrorException e) {
      found.accept(Finding.failed(check, e.getMessage()));
    }
  }

  /** Reports a topic that is not the one that the last job has written. */
  private void writtenTopics() {
    String check = "topics of the last job";
    try (BrokerTopics brokers = new BrokerTopics(options.clientProperties())) {
      Map<String, List<String>> before = ClaimsTail.read(options).topics();
      if (!before.isEmpty() && !options.acceptNewTopic()) {
        List<String> all = before.values().stream().flatMap(List::stream).toList();
        OutputTopics.requireSame(all, OutputTopics.ofOutcomes(options).now(brokers));
        OutputTopics.requireSame(all, OutputTopics.ofDeadLetters(options).now(brokers));
      }
    } catch (UserErrorException e) {
      found.accept(Finding.failed(check, e.getMessage()));
    } catch (KafkaException e) {
      found.accept(Finding.warning(check, "not compared: " + e.getMessage()));
    }
  }

  private void notCompacted(String name) {
    topic(
        name, Set.of(AclOperation.WRITE), () -> topics.requireNotCompacted(name, Optional.empty()));
  }

  private void snapshots(String setName, List<TrustedKey> trusted) {
    Set<AclOperation> rights =
        job == Job.NONE
            ? Set.of(AclOperation.READ)
            : EnumSet.of(AclOperation.READ, AclOperation.WRITE);
    String name = options.snapshotsTopic();
    if (topic(name, rights, () -> topics.requireSnapshotsTopic(rights))) {
      String check = "set " + setName;
      attempt(
          check,
          () ->
              PublishedTail.newestManifest(
                      options, setName, trusted, "give the publisher's key with --public-key")
                  .map(manifest -> ofManifest(check, manifest, System.currentTimeMillis()))
                  .orElseGet(() -> missing(check, "nothing is published on topic " + name)));
    }
  }

  /** What is not there yet is a problem of those who only read it. */
  private Finding missing(String check, String sentence) {
    return job == Job.NONE
        ? Finding.warning(check, sentence + ": start the job that publishes, or name another")
        : Finding.ok(check, sentence + " yet");
  }

  /** How a newest manifest is at a time. */
  static Finding ofManifest(String check, Manifest manifest, long nowMillis) {
    String text =
        "sequence %d, %d keys, published at %s"
            .formatted(
                manifest.sequence(),
                manifest.count(),
                Instant.ofEpochMilli(manifest.publishedMillis()));
    Long expiresMillis = manifest.expiresMillis();
    long ageMillis = nowMillis - manifest.publishedMillis();
    if (ageMillis < -CLOCK_MILLIS) {
      return Finding.warning(
          check,
          "%s, which is %s ahead of this machine's clock: set the clock here or at the publisher"
              .formatted(text, roughly(-ageMillis)));
    }
    text = "%s, %s ago".formatted(text, roughly(Math.max(0, ageMillis)));
    if (expiresMillis != null && expiresMillis <= nowMillis) {
      return Finding.warning(
          check,
          "%s, expired at %s: see whether its publisher runs"
              .formatted(text, Instant.ofEpochMilli(expiresMillis)));
    }
    return Finding.ok(check, text);
  }

  private static String roughly(long millis) {
    Duration time = Duration.ofMillis(millis);
    if (time.toDays() > 1) {
      return time.toDays() + "d";
    }
    if (time.toHours() > 1) {
      return time.toHours() + "h";
    }
    return time.toMinutes() > 1 ? time.toMinutes() + "m" : time.toSeconds() + "s";
  }

  /**
   * Checks a topic, if it is there.
   *
   * @param requirement throws if the topic is not as it must be
   * @return whether it is there, and as it must be
   */
  private boolean topic(String name, Set<AclOperation> rights, Runnable requirement) {
    String check = "topic " + name;
    boolean[] good = new boolean[1];
    attempt(
        check,
        () -> {
          TopicDescription topic = topics.describe(name, rights).orElse(null);
          if (topic == null) {
            return job == Job.NONE
                ? missing(check, "there is no such topic at " + options.bootstrapServers())
                : Finding.ok(check, "not there yet; the job makes it, if its user may");
          }
          requirement.run();
          good[0] = true;
          if (topics.topicConfig(name, TopicConfig.CLEANUP_POLICY_CONFIG).isEmpty()) {
            return Finding.warning(
                check,
                settings(topic)
                    + "; its settings are not checked, as this user may not read them: allow it DescribeConfigs on the topic");
          }
          if (!hasTtl && name.equals(options.acceptedTopic()) && topics.deletes(name)) {
            return Finding.warning(
                check,
                settings(topic)
                    + ": only for jobs with --ttl; give the job's --ttl, or set cleanup.policy=compact for others");
          }
          return topics.isWeak(name)
              ? Finding.warning(
                  check,
                  settings(topic)
                      + ": a record counts as written once a single broker has it; raise min.insync.replicas to 2")
              : Finding.ok(check, settings(topic));
        });
    return good[0];
  }

  private String settings(TopicDescription topic) {
    int partitions = topic.partitions().size();
    int replicas =
        topic.partitions().stream().mapToInt(each -> each.replicas().size()).min().orElse(0);
    StringBuilder text = new StringBuilder();
    text.append(partitions).append(partitions == 1 ? " partition, " : " partitions, ");
    text.append(replicas).append(replicas == 1 ? " replica" : " replicas");
    for (String name :
        List.of(TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG, TopicConfig.CLEANUP_POLICY_CONFIG)) {
      topics
          .topicConfig(topic.name(), name)
          .ifPresent(value -> text.append(", ").append(name).append('=').append(value));
    }
    return text.toString();
  }

  private void attempt(String check, Supplier<Finding> action) {
    Finding finding;
    try {
      finding = action.get();
    } catch (UserErrorException e) {
      finding = Finding.failed(check, e.getMessage());
    }
    found.accept(finding);
  }
}
