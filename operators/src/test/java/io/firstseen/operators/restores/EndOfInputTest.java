package io.firstseen.operators.restores;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.operators.restores.DedupTrial.Settings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Jobs that come to their end: by themselves, or because they are stopped. */
class EndOfInputTest {
  @RegisterExtension private static final TestCluster CLUSTER = new TestCluster();

  private List<String> keys;
  private EventScript script;
  private int end;
  private DedupTrial trial;

  @BeforeEach
  void writeScript() {
    keys = DedupTrial.keys();
    script = new EventScript().addAll(keys, 1).mix(keys, 5_000, 2);
    end = script.size();
    script.mix(keys, 2_000, 3).probe(keys, 1_000);
    trial = new DedupTrial(script);
  }

  /** The checkpoint at the very end would go with the job; the failure behind it keeps it. */
  @ParameterizedTest
  @EnumSource
  void theCheckpointAtTheEndOfABoundedInputHoldsEverything(Backend backend) throws Exception {
    JobClient job =
        trial.start(
            CLUSTER, Settings.of(backend, 2).with(RestartStrategyOptions.RESTART_STRATEGY, "none"));
    trial.outcomes.failWhenCheckpointed(end);
    trial.valve.endAt(end);
    CLUSTER.awaitEnd(job, JobStatus.FAILED);
    script.assertExactly(trial.outcomes, end);
    Path last;
    try (Stream<Path> files = Files.list(CLUSTER.checkpoints(job))) {
      last =
          files
              .filter(file -> file.getFileName().toString().startsWith("chk-"))
              .reduce(
                  (one, other) -> {
                    throw new AssertionError(one + " and " + other);
                  })
              .orElseThrow();
    }

    trial.valve.goOn();
    JobClient restored = trial.start(CLUSTER, Settings.of(backend, 2).from(last));
    trial.play(script.size());
    CLUSTER.cancel(restored);
    script.assertExactly(trial.outcomes, script.size());
    assertThat(trial.outcomes.lastCut()).isEqualTo(end);
  }

  @Test
  void aFailureBehindTheLastCheckpointChangesNothing() throws Exception {
    JobClient job = trial.start(CLUSTER, Settings.of(Backend.ROCKSDB, 2));
    trial.outcomes.failWhenCheckpointed(end);
    trial.valve.endAt(end);
    CLUSTER.awaitEnd(job, JobStatus.FINISHED);
    assertThat(trial.outcomes.cuts()).isEqualTo(1);
    script.assertExactly(trial.outcomes, end);
  }

  /**
   * One of two inputs has ended and its tasks have finished; the other continues across a restore.
   */
  @ParameterizedTest
  @EnumSource
  void aCheckpointBehindTheEndOfOneOfTwoInputsHoldsEverything(Backend backend) throws Exception {
    Valve second = new Valve();
    JobClient job = trial.startWithTwoSources(CLUSTER, Settings.of(backend, 2), end, second);
    trial.valve.endAt(end);
    trial.await(end);
    CLUSTER.checkpoint(job);
    int middle = end + 1_000;
    second.openTo(middle);
    trial.await(middle);
    String checkpoint = CLUSTER.checkpoint(job, 1);
    CLUSTER.cancel(job);

    JobClient restored =
        trial.startWithTwoSources(CLUSTER, Settings.of(backend, 2).from(checkpoint), end, second);
    second.openTo(script.size());
    trial.await(script.size());
    CLUSTER.cancel(restored);
    script.assertExactly(trial.outcomes, script.size());
    assertThat(trial.outcomes.lastCut()).isEqualTo(middle);
  }

  @ParameterizedTest
  @CsvSource({"HEAP, true", "ROCKSDB, false"})
  void aStopWithSavepointLosesNothingDrainedOrNot(Backend backend, boolean drain) throws Exception {
    assertAStopLosesNothing(backend, drain);
  }

  @Tag("slow")
  @ParameterizedTest
  @CsvSource({"HEAP, false", "ROCKSDB, true"})
  void norTheOtherWayRound(Backend backend, boolean drain) throws Exception {
    assertAStopLosesNothing(backend, drain);
  }

  private void assertAStopLosesNothing(Backend backend, boolean drain) throws Exception {
    JobClient job = trial.start(CLUSTER, Settings.of(backend, 2));
    trial.play(keys.size());
    // Stopped in full flight; it finishes what it has taken in.
    trial.valve.openTo(end);
    Path savepoint = CLUSTER.stop(job, SavepointFormatType.NATIVE, drain);
    int stopped = trial.outcomes.size();
    script.assertExactly(trial.outcomes, stopped);

    JobClient restored = trial.start(CLUSTER, Settings.of(backend, 2).from(savepoint));
    trial.play(script.size());
    CLUSTER.cancel(restored);
    script.assertExactly(trial.outcomes, script.size());
    assertThat(trial.outcomes.lastCut()).isEqualTo(stopped);
  }
}
