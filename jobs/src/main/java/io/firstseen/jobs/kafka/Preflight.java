package io.firstseen.jobs.kafka;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.jobs.kafka.Continued.PublishedSet;
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
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.acl.AclOperation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks the requirements of a job on its brokers, topics and ACLs, one by one. A job checks all
 * requirements before it starts: if a requirement is not met, the check throws a {@link
 * UserErrorException}; missing output topics are created. A report contains a finding per
 * requirement, and does not create topics.
 */
public final class Preflight implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Preflight.class);
  private static final long CLOCK_MILLIS = 60_000;
  private static final Set<AclOperation> READ = Set.of(AclOperation.READ);

  /**
   * The body returns the text of a finding if the requirement is met, or null if it has reported
   * its findings. It throws {@link UserErrorException} if the requirement is not met.
   */
  private record Requirement(String check, Function<String, @Nullable String> body) {}

  private final JobNeeds needs;
  private final KafkaOptions options;
  private final Job job;
  private final Consumer<Finding> found;
  private final String servers;
  private final Brokers brokers;
  private final List<Requirement> requirements = new ArrayList<>();
  private final RequiredTopics topics;
  private boolean isSnapshotsTopicThere;

  private Preflight(
      JobNeeds needs, Optional<String> restoredFrom, boolean creates, Consumer<Finding> found) {
    this.needs = needs;
    this.options = needs.kafka();
    this.job = needs.job();
    this.found = found;
    this.servers = options.bootstrapServers();
    this.brokers = Brokers.connect(options.clientProperties());
    this.topics = new RequiredTopics(needs, restoredFrom, creates, brokers);
    if (job.dedups()) {
      transactionTimeout();
      eventsTopics();
      topics.ofDedup().forEach(this::topic);
      permissions(true, options.topics().outputTopic());
    } else if (job == Job.SNAPSHOTS) {
      transactionTimeout();
      topic(topics.accepted(READ));
      optionsOfDedup();
    }
    if (job.publishes()) {
      topic(topics.snapshots(RequiredTopics.BOTH));
      permissions(job == Job.SNAPSHOTS, options.topics().snapshotsTopic());
    } else if (job == Job.NONE) {
      topic(topics.snapshots(READ));
    }
  }

  /**
   * Checks all requirements of the job. Creates missing output topics, and logs warnings.
   *
   * @param restoredFrom the savepoint or checkpoint that the job starts from; empty without state
   * @return the position from which the job continues
   * @throws UserErrorException if a requirement is not met
   */
  public static Continued require(JobNeeds needs, Optional<String> restoredFrom) {
    Consumer<Finding> logged =
        finding -> {
          if (finding.status() == Finding.Status.WARNING) {
            LOG.warn("{}: {}", finding.check(), finding.text());
          }
        };
    try (Preflight preflight = new Preflight(needs, restoredFrom, true, logged)) {
      preflight.requirements.forEach(preflight::check);
      boolean takesOver = needs.kafka().takeOver();
      return new Continued(
          preflight.topics.retention,
          takesOver && needs.job().dedups() ? preflight.claims().line() : PublisherLine.NEW,
          takesOver && needs.job().publishes() ? preflight.takenOver() : PublishedSet.NOTHING);
    }
  }

  private PublishedSet takenOver() {
    return published(
        needs.options().snapshots().setName(),
        PublisherKeys.of(needs.signingKey(), options.publicKeys()).readForTakeOver(),
        "set --public-key to the key of the previous job, or start at sequence 1 without "
            + "--take-over");
  }

  private PublishedSet published(String setName, List<TrustedKey> trusted, String advice) {
    return PublishedTail.read(
        options.clientProperties(), options.topics().snapshotsTopic(), setName, trusted, advice);
  }

  /**
   * Reports each finding immediately; a single one, after 12 seconds, if no broker responds.
   *
   * @param setName the set whose newest manifest is reported
   * @param trusted the trusted keys; empty to accept any manifest
   * @param release the name of a {@code metadata.version}
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
          preflight.check(requirement);
        } catch (UserErrorException e) {
          found.accept(Finding.failed(requirement.check(), e.getMessage()));
        }
      }
    } catch (UserErrorException e) {
      // Only the connection is not part of a requirement.
      found.accept(Finding.failed("brokers", e.getMessage()));
    }
  }

  /** Adds checks that a job derives from its state, or does not need. */
  private void observe(String setName, List<TrustedKey> trusted) {
    if (job.dedups()) {
      requirement(
          "offsets of the topics of events",
          check ->
              lostOffsets(options.topics().outputTopic(), RequiredTopics.names(topics.events)));
      requirement("topics of the last job", this::writtenTopics);
      optionsOfDedup();
    } else if (job == Job.SNAPSHOTS) {
      requirement(
          "offsets of topic " + options.topics().acceptedTopic(),
          check ->
              lostOffsets(
                  options.topics().snapshotsTopic(), List.of(options.topics().acceptedTopic())));
    }
    if (job != Job.DEDUP) {
      newestManifest(setName, trusted);
    }
  }

  private void check(Requirement requirement) {
    String met = requirement.body().apply(requirement.check());
    if (met != null) {
      found.accept(Finding.ok(requirement.check(), met));
    }
  }

  private @Nullable String warn(String check, String text) {
    found.accept(Finding.warning(check, text));
    return null;
  }

  private void requirement(String check, Function<String, @Nullable String> body) {
    requirements.add(new Requirement(check, body));
  }

  private void brokers(IntFunction<String> release) {
    String version =
        brokers.metadataLevel().stream()
            .mapToObj(release)
            .findFirst()
            .map(name -> ", version " + name)
            .orElse("");
    found.accept(
        Finding.ok(
            "brokers",
            "%s at %s%s"
                .formatted(RequiredTopics.count(brokers.count(), "broker"), servers, version)));
  }

  private void transactionTimeout() {
    String timeout = OptionValues.write(options.transactionTimeout());
    requirement(
        "transaction timeout",
        check -> {
          String millis = brokers.setting("transaction.max.timeout.ms").orElse(null);
          if (millis == null) {
            return warn(
                check,
                "the brokers do not report transaction.max.timeout.ms: allow this user DescribeConfigs on the cluster, or make sure that it is at least "
                    + timeout);
          }
          Duration longest = Duration.ofMillis(Long.parseLong(millis));
          RequiredTopics.must(
              options.transactionTimeout().compareTo(longest) <= 0,
              "--transaction-timeout must be at most %s, the limit of the brokers at %s, got %s"
                  .formatted(OptionValues.write(longest), servers, timeout));
          return "--transaction-timeout is %s, the brokers allow %s"
              .formatted(timeout, OptionValues.write(longest));
        });
  }

  /** Requires the ids and, if the job reads, the group that are named after the output. */
  private void permissions(boolean reads, String output) {
    String name = options.transactionalIdPrefix(output);
    requirement(
        "ACLs for " + output,
        check -> {
          brokers.requireIds(name);
          if (reads) {
            brokers.requireGroup(name);
          }
          return "transactional ids %s.*%s are allowed"
              .formatted(name, reads ? " and consumer group " + name : "");
        });
  }

  private void eventsTopics() {
    Pattern pattern = options.events().topicPattern().orElse(null);
    if (pattern == null) {
      options.events().topics().forEach(this::eventsTopic);
    } else {
      requirement(
          "topics of events",
          check -> {
            List<String> names =
                brokers.topics().stream()
                    .filter(name -> pattern.matcher(name).matches())
                    .sorted()
                    .toList();
            topics.events.addAll(brokers.topics(names, READ).values());
            RequiredTopics.must(
                !topics.events.isEmpty(),
                "no topic of events at %s matches %s".formatted(servers, pattern));
            return String.join(", ", names);
          });
    }
    options.stopOffsets().ifPresent(this::stopOffsets);
  }

  private void eventsTopic(String name) {
    requirement(
        "topic " + name,
        check -> {
          TopicDescription topic =
              brokers
                  .topic(name, READ)
                  .orElseThrow(
                      () ->
                          new UserErrorException(
                              "topic %s of events does not exist at %s: create it with kafka-topics.sh --bootstrap-server %2$s --create --topic %1$s, or set --events-topic to an existing topic"
                                  .formatted(name, servers)));
          topics.events.add(topic);
          return topics.settings(topic);
        });
  }

  /** Requires an offset for every partition: a missing one would be treated as read. */
  private void stopOffsets(Map<TopicPartition, Long> offsets) {
    requirement(
        "stop offsets",
        check -> {
          for (TopicDescription topic : topics.events) {
            for (TopicPartitionInfo info : topic.partitions()) {
              TopicPartition partition = new TopicPartition(topic.name(), info.partition());
              RequiredTopics.must(
                  offsets.containsKey(partition),
                  "each partition of the topics of events needs a stop offset, but %s has none"
                      .formatted(partition));
            }
          }
          return null;
        });
  }

  private void topic(RequiredTopics.Topic topic) {
    requirement(
        "topic " + topic.name(),
        check -> {
          TopicDescription described = topics.require(topic).orElse(null);
          if (described == null) {
            return job == Job.NONE
                ? absent(check, "the topic does not exist at " + servers)
                : "does not exist yet; the job creates it if its user may";
          }
          isSnapshotsTopicThere |= topic.name().equals(options.topics().snapshotsTopic());
          String settings = topics.settings(described);
          topics.warnings.forEach(warning -> warn(check, settings + "; " + warning));
          return topics.warnings.isEmpty() ? settings : null;
        });
  }

  /** A missing topic or manifest is a problem only for a client that reads it. */
  private @Nullable String absent(String check, String sentence) {
    return job == Job.NONE
        ? warn(check, sentence + ": start the job that publishes, or set another name")
        : sentence + " yet";
  }

  private void optionsOfDedup() {
    requirement(
        "options of topic " + options.topics().outputTopic(),
        check -> {
          // The topic may not exist, because the dedup job may not have started yet.
          boolean isThere = brokers.topic(options.topics().claimsTopic(), READ).isPresent();
          boolean reads = job == Job.SNAPSHOTS;
          JobIdentity identity =
              reads
                  ? JobIdentity.ofChangelogReader(needs.options())
                  : JobIdentity.ofDedup(options, needs.options()).ofState();
          JobIdentity recorded = isThere ? claims().identity.orElse(null) : null;
          if (recorded == null) {
            return reads
                ? warn(
                    check,
                    "topic %s does not contain the options of the dedup job yet, so this job compares its options later"
                        .formatted(options.topics().claimsTopic()))
                : "not recorded by a dedup job yet";
          }
          identity
              .difference(reads ? recorded.ofChangelog() : recorded, options.acceptedChanges())
              .ifPresent(
                  difference -> {
                    throw reads
                        ? PublisherFunction.differs(options.topics().acceptedTopic(), difference)
                        : new UserErrorException(difference);
                  });
          return "the same as in its dedup job";
        });
  }

  private ClaimsTail claims() {
    return ClaimsTail.read(
        options.clientProperties(), options.topics().claimsTopic(), options.topics().outputTopic());
  }

  /** Reports the offsets that the newest checkpoint needs but the topics no longer have. */
  private @Nullable String lostOffsets(String output, List<String> inputs) {
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
                      + ": a start from state fails without --allow-skipped-offsets, unless the "
                      + "state is newer");
            }
          });
    } catch (KafkaException e) {
      throw brokers.refusal(e);
    }
    return null;
  }

  private @Nullable String writtenTopics(String check) {
    try {
      Map<String, List<String>> before = claims().topics;
      if (!before.isEmpty() && !options.acceptNewTopic()) {
        List<String> all = before.values().stream().flatMap(List::stream).toList();
        OutputTopics.requireSame(all, KafkaSinks.eventsTopics(options).now(brokers));
        OutputTopics.requireSame(all, KafkaSinks.outcomeTopics(options).now(brokers));
        OutputTopics.requireSame(all, KafkaSinks.deadLetterTopics(options).now(brokers));
      }
      return null;
    } catch (KafkaException e) {
      return warn(check, "not compared: " + e.getMessage());
    }
  }

  private void newestManifest(String setName, List<TrustedKey> trusted) {
    requirement(
        "set " + setName,
        check -> {
          if (!isSnapshotsTopicThere) {
            return null;
          }
          Manifest newest =
              published(setName, trusted, "set --public-key to the publisher's key")
                  .newest()
                  .orElse(null);
          return newest == null
              ? absent(check, "nothing is published on topic " + options.topics().snapshotsTopic())
              : ofManifest(check, newest, System.currentTimeMillis());
        });
  }

  private @Nullable String ofManifest(String check, Manifest manifest, long nowMillis) {
    String text =
        "sequence %d, %d keys, published at %s"
            .formatted(
                manifest.sequence(),
                manifest.count(),
                Instant.ofEpochMilli(manifest.publishedMillis()));
    Long expiresMillis = manifest.expiresMillis();
    long ageMillis = nowMillis - manifest.publishedMillis();
    if (ageMillis < -CLOCK_MILLIS) {
      return warn(
          check,
          "%s, which is %s ahead of this machine's clock: correct the clock of this machine or of the publisher"
              .formatted(text, roughly(-ageMillis)));
    }
    text = "%s, %s ago".formatted(text, roughly(Math.max(0, ageMillis)));
    return expiresMillis != null && expiresMillis <= nowMillis
        ? warn(
            check,
            "%s, expired at %s: check whether its publisher is running"
                .formatted(text, Instant.ofEpochMilli(expiresMillis)))
        : text;
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
