package io.firstseen.operators.restores;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.operators.restores.DedupTrial.Settings;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One job at several parallelisms. */
class SpreadTest {
  @RegisterExtension private static final TestCluster CLUSTER = new TestCluster();

  @Test
  void noKeyIsForgottenFromOneTaskToFourToTwoAndEachHasItsShare() throws Exception {
    assertScales(CLUSTER, Backend.HEAP.option, settings -> settings);
  }

  @Tag("slow")
  @Test
  void norOnRocksDb() throws Exception {
    assertScales(CLUSTER, Backend.ROCKSDB.option, settings -> settings);
  }

  @Test
  void noKeyIsForgottenNorTakenForAnotherInAnExactMode() throws Exception {
    assertScales(CLUSTER, Backend.ROCKSDB.option, Settings::exact);
  }

  @Tag("slow")
  @Test
  void norInAnExactModeOnTheHeap() throws Exception {
    assertScales(CLUSTER, Backend.HEAP.option, Settings::exact);
  }

  /** Rescales by native savepoints, and asks for the whole contents at each parallelism. */
  static void assertScales(TestCluster cluster, String backend, UnaryOperator<Settings> more)
      throws Exception {
    List<String> keys = DedupTrial.keys();
    EventScript script = new EventScript();
    DedupTrial trial = new DedupTrial(script);
    Path savepoint = null;
    for (int parallelism : new int[] {1, 4, 2}) {
      int from = script.size();
      script.probe(keys, 0).mix(keys, 5_000, parallelism);
      Settings settings = more.apply(Settings.of(backend, parallelism));
      JobClient job = trial.start(cluster, savepoint == null ? settings : settings.from(savepoint));
      trial.play(script.size());
      savepoint = cluster.stop(job, SavepointFormatType.NATIVE, false);
      script.assertExactly(trial.outcomes, script.size());
      assertThat(trial.outcomes.lastCut()).isEqualTo(from);
      assertEachHasItsShare(trial, from, parallelism);
    }
  }

  /** As many shards, next to one another, for every subtask. */
  private static void assertEachHasItsShare(DedupTrial trial, int from, int parallelism) {
    Shards shards = new Shards(DedupTrial.SHARDS);
    int[] subtasks = trial.outcomes.subtaskByPosition(trial.script.size());
    Set<List<Integer>> owned = new HashSet<>();
    for (int position = from; position < trial.script.size(); position++) {
      int shard = shards.shardOf(KeyHash.fixed().hash(trial.script.key(position)));
      assertThat(subtasks[position]).isEqualTo(shard * parallelism / DedupTrial.SHARDS);
      owned.add(List.of(subtasks[position], shard));
    }
    assertThat(owned).as("every shard was accessed").hasSize(DedupTrial.SHARDS);
  }
}
