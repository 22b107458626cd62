package io.firstseen.operators.restores;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.operators.restores.DedupTrial.Settings;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.checkpoint.CompletedCheckpointStats;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Checkpoints whose barriers are aligned, and what a job makes of them after a failure. */
class CheckpointsTest {
  @RegisterExtension private static final TestCluster CLUSTER = new TestCluster();

  @ParameterizedTest
  @EnumSource
  void afterAFailureEverythingIsAsIfThereHadBeenNone(Backend backend) throws Exception {
    assertAFailureLeavesNoTrace(CLUSTER, backend.option, settings -> settings);
  }

  @Test
  void afterAFailureAnExactModeIsAsIfThereHadBeenNone() throws Exception {
    assertAFailureLeavesNoTrace(CLUSTER, Backend.ROCKSDB.option, Settings::exact);
  }

  @Tag("slow")
  @Test
  void afterAFailureAnExactModeIsOnTheHeapToo() throws Exception {
    assertAFailureLeavesNoTrace(CLUSTER, Backend.HEAP.option, Settings::exact);
  }

  /** Output between a checkpoint and a failure is emitted twice, with the same content. */
  static void assertAFailureLeavesNoTrace(
      TestCluster cluster, String backend, UnaryOperator<Settings> more) throws Exception {
    List<String> keys = DedupTrial.keys();
    EventScript script = new EventScript().addAll(keys, 1).mix(keys, 5_000, 2);
    int checkpointed = script.size();
    int failed = script.mix(keys, 10_000, 3).size();
    script.mix(keys, 5_000, 4).probe(keys, 1_000);
    DedupTrial trial = new DedupTrial(script);

    JobClient job = trial.start(cluster, more.apply(Settings.of(backend, 2)));
    trial.play(checkpointed);
    cluster.checkpoint(job);
    trial.play(failed);
    trial.outcomes.failNext();
    trial.play(script.size());
    assertThat(cluster.attempts(job)).isEqualTo(1);
    cluster.cancel(job);

    script.assertExactly(trial.outcomes, script.size());
    assertThat(trial.outcomes.cuts()).isEqualTo(1);
    assertThat(trial.outcomes.lastCut()).isEqualTo(checkpointed);
    assertThat(trial.outcomes.cutOff()).isGreaterThanOrEqualTo(failed - checkpointed);
  }

  /** While a checkpoint is being written, the job works on what is in it: pages and splits. */
  @ParameterizedTest
  @CsvSource({"ROCKSDB, false", "HEAP, true"})
  void whatHappensWhileACheckpointIsWrittenIsNotInIt(Backend backend, boolean exact)
      throws Exception {
    assertNotInTheCheckpoint(backend, exact);
  }

  @Tag("slow")
  @ParameterizedTest
  @CsvSource({"HEAP, false", "ROCKSDB, true"})
  void whatHappensMeanwhileIsNotInItTheOtherWayRound(Backend backend, boolean exact)
      throws Exception {
    assertNotInTheCheckpoint(backend, exact);
  }

  private static void assertNotInTheCheckpoint(Backend backend, boolean exact) throws Exception {
    List<String> keys = DedupTrial.keys();
    List<String> more = EventScript.keysOfShards("more", DedupTrial.SHARDS, 300, 4_000);
    EventScript script = new EventScript().addAll(keys, 1);
    int checkpointed = script.size();
    int failed = script.mix(keys, 10_000, 2).addAll(more, 3).size();
    script.mix(keys, 2_000, 4).probe(keys, 1_000).probe(more, 0);
    DedupTrial trial = new DedupTrial(script);

    Settings settings =
        Settings.of(backend, 2)
            .with(
                CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                "stalling://" + CLUSTER.directory().resolve("slow"));
    JobClient job = trial.start(CLUSTER, exact ? settings.exact() : settings);
    trial.play(checkpointed);
    CompletableFuture<String> checkpoint;
    try (StallingFileSystem.Stall stall = StallingFileSystem.begin()) {
      checkpoint = CLUSTER.beginCheckpoint(job);
      stall.awaitMet();
      trial.play(failed);
      assertThat(checkpoint).isNotDone();
    }
    TestCluster.get(checkpoint);
    trial.outcomes.failNext();
    trial.play(script.size());
    CLUSTER.cancel(job);

    script.assertExactly(trial.outcomes, script.size());
    assertThat(trial.outcomes.cuts()).isEqualTo(1);
    assertThat(trial.outcomes.lastCut()).isEqualTo(checkpointed);
  }

  /** Each checkpoint uses files of previous checkpoints, which are deleted by the end. */
  @Test
  void theLastOfSeveralIncrementalCheckpointsHoldsEverything() throws Exception {
    List<String> keys = DedupTrial.keys();
    List<String> few = EventScript.keysOfShards("few", DedupTrial.SHARDS, 60, 0, 0, 0);
    EventScript script = new EventScript().addAll(keys, 1);
    DedupTrial trial = new DedupTrial(script);
    String checkpoint = null;
    long written = 0;
    long whole = 0;
    for (int round = 0; round < 2; round++) {
      Settings settings = Settings.of(Backend.ROCKSDB, 2);
      JobClient job = trial.start(CLUSTER, round == 0 ? settings : settings.from(checkpoint));
      for (int i = 0; i < 4; i++) {
        script.mix(few, 500, 10 * round + i);
        trial.play(script.size());
        checkpoint = CLUSTER.checkpoint(job);
        if (i > 0) {
          CompletedCheckpointStats stats = CLUSTER.lastCheckpoint(job);
          written += stats.getCheckpointedSize();
          whole += stats.getStateSize();
        }
      }
      // None of this is in a checkpoint.
      int lost = script.size();
      script.mix(keys, 2_000, 100);
      trial.play(script.size());
      CLUSTER.cancel(job);
      try (Stream<Path> files = Files.list(CLUSTER.checkpoints(job))) {
        assertThat(files.map(file -> file.getFileName().toString()))
            .filteredOn(name -> name.startsWith("chk-"))
            .as("what is left of the checkpoints")
            .containsExactly(Path.of(URI.create(checkpoint)).getFileName().toString());
      }
      assertThat(trial.outcomes.size()).isGreaterThan(lost);
    }
    // Of all of them: RocksDB may have merged all files just before one of them.
    assertThat(written).isLessThan(whole);
    script.mix(keys, 2_000, 101).probe(keys, 0).probe(few, 1_000);
    JobClient restored = trial.start(CLUSTER, Settings.of(Backend.ROCKSDB, 2).from(checkpoint));
    trial.play(script.size());
    CLUSTER.cancel(restored);
    script.assertExactly(trial.outcomes, script.size());
    assertThat(trial.outcomes.cuts()).isEqualTo(2);
  }
}
