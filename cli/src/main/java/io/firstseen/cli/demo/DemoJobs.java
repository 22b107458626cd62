package io.firstseen.cli.demo;

import io.firstseen.embedded.EmbeddedCluster;
import io.firstseen.jobs.JobMain;
import io.firstseen.jobs.OutcomeCounts;
import io.firstseen.jobs.SnapshotJob;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.serializers.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** The two jobs of the demo: a dedup job, bounded by the end of the stream, and a snapshot job. */
final class DemoJobs {
  private static final long POLL_MILLIS = 50;

  private final EmbeddedCluster cluster;
  private final KafkaOptions kafka;
  private final JobClient dedup;
  private final JobClient snapshots;
  private final CompletableFuture<JobExecutionResult> dedupResult;
  private final CompletableFuture<JobExecutionResult> snapshotsResult;
  private Map<Outcome.Kind, Long> counts = OutcomeCounts.of(Map.of());

  /** Starts both jobs. The events topic must exist; the jobs create the other topics. */
  DemoJobs(
      EmbeddedCluster cluster, DemoCommand settings, KafkaOptions kafka, List<DemoEvent> events)
      throws Exception {
    this.cluster = cluster;
    this.kafka = kafka;
    KafkaOptions bounded = kafka.stopAt(ends(kafka.events().topic(), events));
    this.dedup = start(Job.DEDUP, bounded, settings, "firstseen-dedup");
    this.snapshots = start(Job.SNAPSHOTS, kafka, settings, "firstseen-snapshots");
    this.dedupResult = dedup.getJobExecutionResult();
    this.snapshotsResult = snapshots.getJobExecutionResult();
  }

  private JobClient start(Job job, KafkaOptions options, DemoCommand settings, String name)
      throws Exception {
    StreamExecutionEnvironment environment = cluster.environment();
    JobMain.buildOnKafka(environment, job, options, settings.jobs());
    Configuration restarts = new Configuration();
    // Unlike jobs in production, these restart a limited number of times.
    restarts.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    restarts.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 3);
    restarts.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(500));
    environment.configure(restarts);
    return environment.executeAsync(name);
  }

  private static Map<TopicPartition, Long> ends(String topic, List<DemoEvent> events) {
    return IntStream.range(0, DemoCommand.PARTITIONS)
        .boxed()
        .collect(
            Collectors.toMap(
                partition -> new TopicPartition(topic, partition),
                partition -> events.stream().filter(e -> e.partition() == partition).count()));
  }

  /** The number of events per outcome so far, as of the last heartbeat. */
  Map<Outcome.Kind, Long> counts() {
    CompletableFuture<Map<String, Object>> accumulators = dedup.getAccumulators();
    if (accumulators.isDone() && !accumulators.isCompletedExceptionally()) {
      counts = OutcomeCounts.of(accumulators.join());
    }
    return counts;
  }

  /** Throws the failure of a job, if one has failed. */
  void requireNoFailure() throws ExecutionException, InterruptedException {
    for (CompletableFuture<JobExecutionResult> result : List.of(dedupResult, snapshotsResult)) {
      if (result.isCompletedExceptionally()) {
        result.get();
      }
    }
  }

  void awaitRunning() throws InterruptedException {
    cluster.awaitRunning(dedup);
    cluster.awaitRunning(snapshots);
  }

  /** Waits until every event is processed and all outcomes are committed. */
  void awaitDedup() throws ExecutionException, InterruptedException {
    counts = OutcomeCounts.of(dedupResult.get().getAllAccumulatorResults());
  }

  /**
   * Waits until the snapshot job has read the accepted topic, then stops the job in a way that
   * closes its last window.
   *
   * @param records the number of records of the accepted topic
   * @param afterLast the offset after the last record of every partition of the accepted topic that
   *     has records
   */
  void finishSnapshots(long records, Map<TopicPartition, Long> afterLast)
      throws ExecutionException, InterruptedException {
    String group = kafka.transactionalIdPrefix(kafka.topics().snapshotsTopic());
    try (Admin admin =
        Admin.create(
            Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, kafka.bootstrapServers()))) {
      // Also check offsets, because the accumulator restarts from 0 when the job restarts. Offsets
      // are committed late, a few seconds after a checkpoint if the topic is quiet.
      while (SnapshotJob.operations(snapshots.getAccumulators().get()) < records
          && !reached(
              admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get(),
              afterLast)) {
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      }
    }
    cluster.stopWithSavepoint(snapshots, SavepointFormatType.CANONICAL, true);
  }

  private static boolean reached(
      Map<TopicPartition, OffsetAndMetadata> committed, Map<TopicPartition, Long> afterLast) {
    return afterLast.entrySet().stream()
        .allMatch(
            end -> {
              OffsetAndMetadata offset = committed.get(end.getKey());
              return offset != null && offset.offset() >= end.getValue();
            });
  }
}
