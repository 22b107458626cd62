package io.firstseen.jobs.kafka;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.JobIdentity;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.jobs.shared.Finding;
import io.firstseen.operators.UserErrorException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AclOperation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a job requires of its brokers, topics and rights there, one by one. A job requires all of it
 * before it starts: the first requirement that does not hold is a {@link UserErrorException}, and
 * missing topics that the job writes to are created. A report has a finding for each requirement,
 * and creates nothing.
 */
public final class Preflight implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Preflight.class);
  private static final long CLOCK_MILLIS = 60_000;
  private static final Set<AclOperation> READ = Set.of(AclOperation.READ);

  /**
   * What must hold.
   *
   * @param check what is checked, in a few words
   * @param body finds how it is; throws {@link UserErrorException} if it does not hold
   */
  private record Requirement(String check, Runnable body) {}

  private final KafkaOptions options;
  private final Job job;
  private final Optional<JobIdentity> identity;
  private final Consumer<Finding> found;
  private final String servers;
  private final Brokers brokers;
  private final List<Requirement> requirements = new ArrayList<>();
  private final List<TopicDescription> events = new ArrayList<>();
  private final RequiredTopics topics;
  private boolean isSnapshotsTopicThere;

  private Preflight(
      JobNeeds needs, Optional<String> restoredFrom, boolean creates, Consumer<Finding> found) {
    this.options = needs.kafka();
    this.job = needs.job();
    this.identity = needs.identity();
    this.found = found;
    this.servers = options.bootstrapServers();
    this.brokers = new Brokers(options.clientProperties(), servers);
    this.topics = new RequiredTopics(needs, restoredFrom, creates, brokers, events);
    if (job.dedups()) {
      transactionTimeout();
      eventsTopics();
      topics.ofDedup().forEach(this::topic);
      rights(true, options.topics().outputTopic());
    } else if (job == Job.SNAPSHOTS) {
      transactionTimeout();
      topic(topics.accepted(READ));
      optionsOfDedup();
    }
    if (job.publishes()) {
      topic(topics.snapshots(RequiredTopics.BOTH));
      rights(job == Job.SNAPSHOTS, options.topics().snapshotsTopic());
    } else if (job == Job.NONE) {
      topic(topics.snapshots(READ));
    }
  }

  /**
   * Requires what the job needs. Creates missing topics that it writes to, and logs what may not be
   * wanted.
   *
   * @param restoredFrom the savepoint or checkpoint that the job starts from; empty without state
   * @return what the job continues from
   * @throws UserErrorException if something does not hold
   */
  public static Continued require(JobNeeds needs, Optional<String> restoredFrom) {
    Consumer<Finding> logged =
        finding -> {
          if (finding.status() == Finding.Status.WARNING) {
            LOG.warn("{}: {}", finding.check(), finding.text());
          }
        };
    try (Preflight preflight = new Preflight(needs, restoredFrom, true, logged)) {
      preflight.requirements.forEach(requirement -> requirement.body().run());
      boolean takesOver = needs.kafka().takeOver();
      return new Continued(
          preflight.topics.retention(),
          takesOver && needs.job().dedups() ? preflight.claims().line() : PublisherLine.NEW,
          takesOver && needs.job().publishes() ? preflight.takenOver(needs) : PublishedSet.NOTHING);
    }
  }

  private PublishedSet takenOver(JobNeeds needs) {
    return published(
        needs.options().snapshots().setName(),
        PublisherKeys.of(needs.signingKey(), options.publicKeys()).readForTakeOver(),
        "give the key of the previous job with --public-key, or count from 1 without --take-over");
  }

  private PublishedSet published(String setName, List<TrustedKey> trusted, String advice) {
    return PublishedTail.read(
        options.clientProperties(), options.topics().snapshotsTopic(), setName, trusted, advice);
  }

  /**
   * Reports how everything is. Without brokers there is one finding, after 12 seconds.
   *
   * @param setName the set whose newest manifest is looked at
   * @param trusted the keys, one of which must have signed it; empty for any manifest
   * @param release the name of a {@code metadata.version}
   * @param found gets each finding at once
   */
  public static void report(
      JobNeeds needs,
      String setName,
      List<TrustedKey> trusted,
      IntFunction<String> release,
      Consumer<Finding> found) {
    try (Preflight preflight = new Preflight(needs, Optional.empty(), false, found)) {
      preflight.brokers(release);
      preflight.observe(setName, trusted);
      for (Requirement requirement : preflight.requirements) {
        try {
          requirement.body().run();
        } catch (UserErrorException e) {
          found.accept(Finding.failed(requirement.check(), e.getMessage()));
        }
      }
    } catch (UserErrorException e) {
      // Only the connection is outside of all requirements.
      found.accept(Finding.failed("brokers", e.getMessage()));
    }
  }

  /** Adds what a job finds out from its state, or does not need. */
  private void observe(String setName, List<TrustedKey> trusted) {
    if (job.dedups()) {
      requirement(
          "offsets of the topics of events",
          () ->
              lostOffsets(
                  options.topics().outputTopic(),
                  events.stream().map(TopicDescription::name).toList()));
      requirement("topics of the last job", this::writtenTopics);
      optionsOfDedup();
    } else if (job == Job.SNAPSHOTS) {
      requirement(
          "offsets of topic " + options.topics().acceptedTopic(),
          () ->
              lostOffsets(
                  options.topics().snapshotsTopic(), List.of(options.topics().acceptedTopic())));
    }
    if (job != Job.DEDUP) {
      newestManifest(setName, trusted);
    }
  }

  private void ok(String check, String text) {
    found.accept(Finding.ok(check, text));
  }

  private void warn(String check, String text) {
    found.accept(Finding.warning(check, text));
  }

  private void requirement(String check, Runnable body) {
    requirements.add(new Requirement(check, body));
  }

  private void brokers(IntFunction<String> release) {
    String version =
        brokers.metadataLevel().stream()
            .mapToObj(release)
            .findFirst()
            .map(name -> ", version " + name)
            .orElse("");
    int count = brokers.count();
    ok(
        "brokers",
        "%d %s at %s%s".formatted(count, count == 1 ? "broker" : "brokers", servers, version));
  }

  private void transactionTimeout() {
    String check = "transaction timeout";
    String timeout = OptionValues.write(options.transactionTimeout());
    requirement(
        check,
        () -> {
          Duration longest =
              brokers
                  .setting("transaction.max.timeout.ms")
                  .map(millis -> Duration.ofMillis(Long.parseLong(millis)))
                  .orElse(null);
          if (longest == null) {
            warn(
                check,
                "the brokers do not tell transaction.max.timeout.ms: allow this user DescribeConfigs on the cluster, or make sure that it is at least "
                    + timeout);
          } else if (options.transactionTimeout().compareTo(longest) > 0) {
            throw new UserErrorException(
                "--transaction-timeout must be at most %s, which is what the brokers at %s allow, got %s"
                    .formatted(OptionValues.write(longest), servers, timeout));
          } else {
            ok(
                check,
                "--transaction-timeout is %s, the brokers allow %s"
                    .formatted(timeout, OptionValues.write(longest)));
          }
        });
  }

  /**
   * Requires the rights on transactional ids and, if the job reads, on the consumer group.
   *
   * @param output the topic that group and ids name
   */
  private void rights(boolean reads, String output) {
    String check = "rights for " + output;
    String name = options.transactionalIdPrefix(output);
    requirement(
        check,
        () -> {
          brokers.requireIds(name);
          if (reads) {
            brokers.requireGroup(name);
          }
          ok(
              check,
              "nothing forbids transactional ids %s.*%s"
                  .formatted(name, reads ? " and consumer group " + name : ""));
        });
  }

  private void eventsTopics() {
    Pattern pattern = options.events().topicPattern().orElse(null);
    if (pattern == null) {
      options.events().topics().forEach(this::eventsTopic);
    } else {
      String check = "topics of events";
      requirement(
          check,
          () -> {
            List<String> names =
                brokers.topics().stream()
                    .filter(name -> pattern.matcher(name).matches())
                    .sorted()
                    .toList();
            events.addAll(brokers.topics(names, READ).values());
            RequiredTopics.must(
                !events.isEmpty(),
                "there is no topic at %s that matches %s to read events from"
                    .formatted(servers, pattern));
            ok(check, String.join(", ", names));
          });
    }
    options.stopOffsets().ifPresent(this::stopOffsets);
  }

  private void eventsTopic(String name) {
    String check = "topic " + name;
    requirement(
        check,
        () -> {
          TopicDescription topic =
              brokers
                  .topic(name, READ)
                  .orElseThrow(
                      () ->
                          new UserErrorException(
                              "there is no topic %s at %s to read events from: make it by kafka-topics.sh --bootstrap-server %2$s --create --topic %1$s, or name yours with --events-topic"
                                  .formatted(name, servers)));
          events.add(topic);
          ok(check, topics.settings(topic));
        });
  }

  /** Refuses to leave a partition out, which would pass for one that has been read. */
  private void stopOffsets(Map<TopicPartition, Long> offsets) {
    requirement(
        "offsets where to stop",
        () ->
            events.stream()
                .flatMap(
                    topic ->
                        topic.partitions().stream()
                            .map(info -> new TopicPartition(topic.name(), info.partition())))
                .forEach(
                    partition ->
                        RequiredTopics.must(
                            offsets.containsKey(partition),
                            "there must be an offset where to stop for each partition of the topics of events, there is none for %s"
                                .formatted(partition))));
  }

  private void topic(RequiredTopics.Topic topic) {
    String check = "topic " + topic.name();
    requirement(
        check,
        () -> {
          TopicDescription described = topics.require(topic).orElse(null);
          if (described == null) {
            found.accept(
                job == Job.NONE
                    ? absent(check, "there is no such topic at " + servers)
                    : Finding.ok(check, "not there yet; the job makes it, if its user may"));
            return;
          }
          isSnapshotsTopicThere |= topic.name().equals(options.topics().snapshotsTopic());
          String settings = topics.settings(described);
          for (String warning : topics.warnings()) {
            warn(check, settings + "; " + warning);
          }
          if (topics.warnings().isEmpty()) {
            ok(check, settings);
          }
        });
  }

  /** What is not there yet is a problem of those who only read it. */
  private Finding absent(String check, String sentence) {
    return job == Job.NONE
        ? Finding.warning(check, sentence + ": start the job that publishes, or name another")
        : Finding.ok(check, sentence + " yet");
  }

  /** Requires that a dedup has recorded the same options, if it has recorded any. */
  private void optionsOfDedup() {
    String check = "options of topic " + options.topics().outputTopic();
    requirement(
        check,
        () -> {
          // If it is there: the dedup may not have started yet.
          boolean isThere = brokers.topic(options.topics().claimsTopic(), READ).isPresent();
          if (identity.isEmpty()) {
            return;
          }
          Optional<JobIdentity> recorded = isThere ? claims().identity() : Optional.empty();
          recorded
              .map(each -> job == Job.SNAPSHOTS ? each.ofChangelog() : each)
              .flatMap(each -> identity.get().difference(each, options.acceptedChanges()))
              .ifPresent(
                  difference -> {
                    throw job == Job.SNAPSHOTS
                        ? ChangelogCheck.refusal(options.topics().acceptedTopic(), difference)
                        : new UserErrorException(difference);
                  });
          found.accept(
              recorded.isPresent()
                  ? Finding.ok(check, "the same as of its dedup")
                  : job == Job.SNAPSHOTS
                      ? Finding.warning(
                          check,
                          "topic %s does not have the options of the dedup yet, so they are compared with the options of this job later"
                              .formatted(options.topics().claimsTopic()))
                      : Finding.ok(check, "not recorded yet by a dedup"));
        });
  }

  private ClaimsTail claims() {
    return ClaimsTail.read(
        options.clientProperties(), options.topics().claimsTopic(), options.topics().outputTopic());
  }

  /** Reports the offsets that the newest checkpoint needs and the topics no longer have. */
  private void lostOffsets(String output, List<String> inputs) {
    Map<TopicPartition, Long> committed = brokers.committed(options.transactionalIdPrefix(output));
    committed.keySet().removeIf(each -> !inputs.contains(each.topic()));
    try {
      Map<TopicPartition, Long> begins = brokers.offsets(committed.keySet(), OffsetSpec.earliest());
      Map<TopicPartition, Long> ends = brokers.offsets(committed.keySet(), OffsetSpec.latest());
      committed.forEach(
          (each, offset) -> {
            if (InputTopics.isLoss(offset, begins.get(each), ends.get(each))) {
              warn(
                  "offsets of topic " + each.topic(),
                  InputTopics.range(each, offset, begins.get(each), ends.get(each))
                      + ": a start from state fails without --allow-skipped-offsets, unless the state is newer");
            }
          });
    } catch (KafkaException e) {
      throw brokers.refusal(e);
    }
  }

  /** Requires that topics are the ones that the last job has read and written. */
  private void writtenTopics() {
    try {
      Map<String, List<String>> before = claims().topics();
      if (!before.isEmpty() && !options.acceptNewTopic()) {
        List<String> all = before.values().stream().flatMap(List::stream).toList();
        OutputTopics.requireSame(all, KafkaSinks.eventsTopics(options).now(brokers));
        OutputTopics.requireSame(all, KafkaSinks.outcomeTopics(options).now(brokers));
        OutputTopics.requireSame(all, KafkaSinks.deadLetterTopics(options).now(brokers));
      }
    } catch (KafkaException e) {
      warn("topics of the last job", "not compared: " + e.getMessage());
    }
  }

  private void newestManifest(String setName, List<TrustedKey> trusted) {
    String check = "set " + setName;
    requirement(
        check,
        () -> {
          if (isSnapshotsTopicThere) {
            found.accept(
                published(setName, trusted, "give the publisher's key with --public-key")
                    .newest()
                    .map(manifest -> ofManifest(check, manifest, System.currentTimeMillis()))
                    .orElseGet(
                        () ->
                            absent(
                                check,
                                "nothing is published on topic "
                                    + options.topics().snapshotsTopic())));
          }
        });
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

  @Override
  public void close() {
    brokers.close();
  }
}
