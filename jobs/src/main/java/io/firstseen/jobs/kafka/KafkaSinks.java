package io.firstseen.jobs.kafka;

import io.firstseen.jobs.kafka.OutcomeRecords.Part;
import io.firstseen.jobs.kafka.WrittenOutcomes.OutcomeShards;
import io.firstseen.jobs.options.JobIdentity;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.SnapshotOptions;
import io.firstseen.jobs.shared.JobSink;
import io.firstseen.jobs.shared.OperatorUids;
import io.firstseen.jobs.shared.OutcomeSinks;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.Outcome;
import io.firstseen.serializers.SnapshotRecord;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.types.Either;
import org.apache.kafka.clients.producer.ProducerConfig;

/** Exactly-once sinks, whose transactions are committed with Flink's checkpoints. */
public final class KafkaSinks {
  /**
   * The maximum batch size per partition. Kafka's default of 16 KiB needs a request per hundred
   * events or so. The producer's default memory holds the batches of 512 partitions.
   */
  private static final int BATCH_BYTES = 1 << 16;

  private static final String DEAD_LETTERS = "dead-letters";

  private KafkaSinks() {}

  /**
   * Writes outcomes to the accepted, records and duplicates topics in one transaction, and to the
   * dead-letters topic in another transaction. {@code --duplicates} selects the duplicates and
   * unknown deletes to write. The job fails if another job writes the output.
   *
   * @throws UserErrorException if the hash key cannot be read
   */
  public static OutcomeSinks outcomes(KafkaOptions kafka, JobOptions options, Continued continued) {
    return new OutcomeSinks(
        sink(
            kafka,
            options,
            continued,
            "outcomes",
            outcomeTopics(kafka),
            eventsTopics(kafka),
            new OutcomeShards(
                options.dedup().shards(),
                options.keyHashSource(),
                options.dedup().near().isPresent())),
        kafka.topics().duplicates(),
        sink(
            kafka,
            options,
            continued,
            DEAD_LETTERS,
            deadLetterTopics(kafka),
            new OutputTopics(Map.of(), true, 0),
            OutcomeShards.ONE));
  }

  static OutcomeRecords records(KafkaOptions kafka) {
    return new OutcomeRecords(
        kafka.topics().output(),
        kafka.topics().acceptedTopic(),
        kafka.topics().acceptedPartitions(),
        kafka.topics().recordsTopic(),
        kafka.topics().duplicatesTopic(),
        kafka.topics().deadLettersTopic(),
        kafka.topics().claimsTopic());
  }

  static OutputTopics outcomeTopics(KafkaOptions kafka) {
    return new OutputTopics(
        kafka.topics().outcomeTopics(),
        kafka.acceptNewTopic(),
        kafka.topics().acceptedPartitions());
  }

  static OutputTopics deadLetterTopics(KafkaOptions kafka) {
    return new OutputTopics(kafka.topics().deadLetterTopics(), kafka.acceptNewTopic(), 0);
  }

  /** The topics of events; empty if a pattern selects them. */
  static OutputTopics eventsTopics(KafkaOptions kafka) {
    Map<String, String> names = new LinkedHashMap<>();
    if (kafka.events().topicPattern().isEmpty()) {
      kafka.events().topics().forEach(name -> names.put("--events-topic=" + name, name));
    }
    return new OutputTopics(names, kafka.acceptNewTopic(), 0);
  }

  /** A sink after an operator that ensures that only one job writes the outcomes. */
  private static JobSink<Outcome> sink(
      KafkaOptions kafka,
      JobOptions options,
      Continued continued,
      String name,
      OutputTopics topics,
      OutputTopics inputs,
      OutcomeShards shards) {
    OutcomeRecords records = records(kafka);
    String ids = kafka.transactionalIdPrefix(kafka.topics().outputTopic());
    OutputClaim claim =
        new OutputClaim(
            kafka.clientProperties(),
            kafka.topics().claimsTopic(),
            kafka.topics().outputTopic(),
            name,
            ids,
            kafka.takeOver(),
            continued.claims(),
            JobIdentity.ofDedup(kafka, options),
            kafka.acceptedChanges(),
            topics,
            inputs);
    DeferredKafkaSink<Either<Outcome, Tuple2<String, String>>, Part> sink =
        new DeferredKafkaSink<>(
            records::parts,
            records,
            producerOfOutcomes(kafka),
            // An ACL on ids with the common prefix is sufficient for both sinks.
            name.equals(DEAD_LETTERS) ? ids + "." + DEAD_LETTERS : ids,
            List.copyOf(claim.topics().names().values()),
            claim);
    return (outcomes, uid) -> {
      String operatorUid = operatorUid(uid, OperatorUids.ONE_WRITER);
      outcomes
          .transform(operatorUid, OneWriterOperator.OUTPUT, new OneWriterOperator(claim, shards))
          .uid(operatorUid)
          .sinkTo(sink)
          .name(uid)
          .uid(uid);
    };
  }

  /**
   * Writes snapshots to the snapshots topic, with blobs split into chunks. The job fails if another
   * job publishes the set. If the job signs manifests, it ignores records that were not signed by a
   * trusted key.
   *
   * @param isOfChangelog whether the job reads the changelog of a dedup job, which must have the
   *     same options
   * @param restoredFrom the savepoint or checkpoint that the job starts from; empty if it starts
   *     without state
   * @param continued the manifest and claims from which this job continues
   * @throws UserErrorException if a key cannot be read
   */
  public static JobSink<SnapshotRecord> snapshots(
      KafkaOptions options,
      JobOptions job,
      boolean isOfChangelog,
      Optional<String> restoredFrom,
      Continued continued) {
    SnapshotOptions snapshots = job.snapshots();
    String topic = options.topics().snapshotsTopic();
    PublisherFunction.Settings published =
        new PublisherFunction.Settings(
            options.clientProperties(),
            topic,
            snapshots.setName(),
            PublisherKeys.of(snapshots.signingKey(), options.publicKeys()),
            options.topics().claimsTopic(),
            options.topics().acceptedTopic(),
            isOfChangelog ? JobIdentity.ofChangelogReader(job) : null,
            options.acceptedChanges(),
            snapshots.blobDirectory().isPresent(),
            continued.set().line(),
            restoredFrom.orElse(null));
    DeferredKafkaSink<SnapshotRecord, SnapshotRecords.Part> sink =
        new DeferredKafkaSink<>(
            SnapshotRecords::parts,
            new SnapshotRecords(topic),
            producer(options),
            options.transactionalIdPrefix(topic),
            List.of(topic),
            null);
    return (records, uid) -> {
      String operatorUid = operatorUid(uid, OperatorUids.PUBLISHER);
      records
          .flatMap(new PublisherFunction(published), TypeInformation.of(SnapshotRecord.class))
          .name(operatorUid)
          .uid(operatorUid)
          .setParallelism(1)
          .sinkTo(sink)
          .name(uid)
          .uid(uid)
          .setParallelism(1);
    };
  }

  /**
   * The name and uid of an operator before a sink. In earlier releases, these operators were in the
   * topology of the sink, where Flink composed their uids in this way.
   */
  private static String operatorUid(String sinkUid, String operator) {
    return sinkUid + ": " + operator;
  }

  private static Properties producer(KafkaOptions options) {
    Properties properties = options.clientProperties();
    properties.setProperty(
        ProducerConfig.TRANSACTION_TIMEOUT_CONFIG,
        Long.toString(options.transactionTimeout().toMillis()));
    return properties;
  }

  static Properties producerOfOutcomes(KafkaOptions options) {
    Properties properties = producer(options);
    properties.putIfAbsent(ProducerConfig.BATCH_SIZE_CONFIG, Integer.toString(BATCH_BYTES));
    return properties;
  }
}
