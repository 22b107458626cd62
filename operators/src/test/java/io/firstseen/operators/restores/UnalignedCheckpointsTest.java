package io.firstseen.operators.restores;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.operators.restores.DedupTrial.Settings;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.core.execution.JobClient;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checkpoints that overtake records in flight, with a blocked sink. */
class UnalignedCheckpointsTest {
  @RegisterExtension private static final TestCluster CLUSTER = new TestCluster();

  @ParameterizedTest
  @CsvSource({"HEAP, 3", "ROCKSDB, 2"})
  void whatABarrierOvertookIsNeitherLostNorSeenTwice(Backend backend, int parallelism)
      throws Exception {
    assertNeitherLostNorSeenTwice(backend, parallelism);
  }

  @Tag("slow")
  @ParameterizedTest
  @CsvSource({"HEAP, 2", "ROCKSDB, 1"})
  void norAtOtherParallelisms(Backend backend, int parallelism) throws Exception {
    assertNeitherLostNorSeenTwice(backend, parallelism);
  }

  private static void assertNeitherLostNorSeenTwice(Backend backend, int parallelism)
      throws Exception {
    List<String> keys = DedupTrial.keys();
    EventScript script = new EventScript().addAll(keys, 1);
    int free = script.size();
    script.mix(keys, 20_000, 2).probe(keys, 1_000);
    DedupTrial trial = new DedupTrial(script);
    Settings settings = Settings.of(backend, 2).with(CheckpointingOptions.ENABLE_UNALIGNED, true);

    JobClient job = trial.start(CLUSTER, settings);
    trial.play(free);
    Semaphore permits = trial.outcomes.hold();
    trial.valve.openTo(script.size());
    int backlog = 1_000;
    trial.valve.awaitReached(free + backlog);
    CompletableFuture<String> checkpoint = CLUSTER.beginCheckpoint(job);
    while (!isDoneWithin(checkpoint, 10)) {
      permits.release();
    }
    assertThat(trial.outcomes.size()).as("the sink stood").isLessThan(free + backlog / 2);
    assertThat(CLUSTER.lastCheckpoint(job).getPersistedData()).as("overtaken bytes").isPositive();

    if (parallelism == 2) {
      trial.outcomes.failNext();
      trial.outcomes.release();
    } else {
      CLUSTER.cancel(job);
      trial.outcomes.release();
      job =
          trial.start(
              CLUSTER,
              Settings.of(backend, parallelism)
                  .with(CheckpointingOptions.ENABLE_UNALIGNED, true)
                  .from(checkpoint.join()));
    }
    trial.play(script.size());
    CLUSTER.cancel(job);
    script.assertExactly(trial.outcomes, script.size());
    assertThat(trial.outcomes.cuts()).isEqualTo(1);
  }

  private static boolean isDoneWithin(CompletableFuture<String> future, int millis)
      throws Exception {
    try {
      future.get(millis, TimeUnit.MILLISECONDS);
      return true;
    } catch (java.util.concurrent.TimeoutException e) {
      return false;
    }
  }
}
