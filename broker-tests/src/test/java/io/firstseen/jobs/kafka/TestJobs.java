package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.embedded.EmbeddedCluster;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestCheck;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.jobs.JobMain;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.operators.UserErrorException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Jobs on an embedded cluster whose windows take a second, and what they publish. */
final class TestJobs {
  /** The name of the set that a job publishes by default. */
  static final String SET = "firstseen";

  static final Duration OFTEN = Duration.ofMillis(200);

  /** The interval of a job whose checkpoints are triggered by the test. */
  static final Duration NEVER = Duration.ofMinutes(10);

  private TestJobs() {}

  static KafkaOptions kafkaOptions(
      String servers, Duration checkpointInterval, List<String> topics, String... more) {
    List<String> first =
        List.of(
            "--bootstrap-servers=" + servers,
            "--checkpoint-interval=" + checkpointInterval.toMillis() + "ms");
    return KafkaOptions.parse(
        Stream.of(first, topics, List.of(more)).flatMap(List::stream).toArray(String[]::new));
  }

  /** Requires of the brokers what a job with these options does. */
  static Continued require(Job job, KafkaOptions kafka, String... options) {
    return Preflight.require(new JobNeeds(job, kafka, JobOptions.parse(options)), Optional.empty());
  }

  static JobOptions jobOptions(String... more) {
    return JobOptions.parse(
        Stream.concat(
                Stream.of("--window=1s", "--idle-timeout=1h", "--out-of-orderness=0s"),
                Stream.of(more))
            .toArray(String[]::new));
  }

  static JobClient submitSnapshots(
      EmbeddedCluster cluster, KafkaOptions kafka, Configuration settings, String... more)
      throws Exception {
    StreamExecutionEnvironment env = cluster.environment(settings);
    JobMain.buildOnKafka(env, Job.SNAPSHOTS, kafka, jobOptions(more));
    return execute(env, kafka);
  }

  static JobClient execute(StreamExecutionEnvironment env, KafkaOptions kafka) throws Exception {
    if (kafka.checkpointInterval().equals(NEVER)) {
      // Since Flink 2.3, the first periodic checkpoint is triggered at the start of the job.
      env.enableCheckpointing(Long.MAX_VALUE);
    }
    return env.executeAsync();
  }

  /** The settings of a job that starts from a savepoint. */
  static Configuration fromSavepoint(String savepoint) {
    Configuration settings = new Configuration();
    settings.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
    return settings;
  }

  /** Waits until the job has failed, and returns the sentence for the user. */
  static String failure(JobClient job) throws Exception {
    try {
      job.getJobExecutionResult().get(1, TimeUnit.MINUTES);
    } catch (ExecutionException e) {
      return UserErrorException.sentence(e).orElseThrow(() -> new AssertionError(e));
    }
    throw new AssertionError("the job ended well");
  }

  static void cancel(JobClient job) throws Exception {
    job.cancel().get();
    assertThat(job.getJobExecutionResult()).failsWithin(Duration.ofMinutes(1));
  }

  /** The manifests that one of these keys signed, or all if there are no keys. */
  static List<Manifest> manifests(
      List<ConsumerRecord<byte[], byte[]>> records, TrustedKey... keys) {
    return records.stream()
        .filter(record -> new String(record.key(), UTF_8).equals(SET) && record.value() != null)
        .flatMap(record -> manifest(record.value(), List.of(keys)))
        .toList();
  }

  private static Stream<Manifest> manifest(byte[] json, List<TrustedKey> keys) {
    try {
      return Stream.of(ManifestCheck.read(json, SET, keys));
    } catch (SnapshotException e) {
      return Stream.empty();
    }
  }

  static List<Long> sequences(List<ConsumerRecord<byte[], byte[]>> records, TrustedKey... keys) {
    return manifests(records, keys).stream().map(Manifest::sequence).toList();
  }
}
