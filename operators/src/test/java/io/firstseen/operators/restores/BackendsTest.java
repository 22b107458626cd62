package io.firstseen.operators.restores;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.operators.restores.DedupTrial.Settings;
import io.firstseen.operators.restores.EventScript.Outcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A canonical savepoint of either backend is the other's as well, wherever its directory is. */
class BackendsTest {
  @RegisterExtension private static final TestCluster CLUSTER = new TestCluster();

  @ParameterizedTest
  @EnumSource
  void aCanonicalSavepointGoesOnOnTheOtherBackend(Backend from) throws Exception {
    List<String> keys = DedupTrial.keys();
    EventScript script = new EventScript().addAll(keys, 1).mix(keys, 10_000, 2);
    int saved = script.size();
    script.mix(keys, 5_000, 3).probe(keys, 5_000);
    DedupTrial trial = new DedupTrial(script);

    JobClient job = trial.start(CLUSTER, Settings.of(from, 2));
    trial.play(saved);
    Path savepoint = moved(CLUSTER.stop(job, SavepointFormatType.CANONICAL, false), from);
    JobClient restored =
        trial.start(
            CLUSTER,
            // The state knows better than the job how long its identities are.
            Settings.of(from.other(), 2)
                .from(savepoint)
                .dedup(dedup -> dedup.capacity(10).falsePositiveRate(0.1).pageCacheBytes(0)));
    trial.play(script.size());
    CLUSTER.cancel(restored);

    script.assertExactly(trial.outcomes, script.size());
    assertThat(trial.outcomes.lastCut()).isEqualTo(saved);
    assertThat(script.count(saved, script.size(), Outcome.DUPLICATE)).isGreaterThan(5_000);
  }

  /**
   * No key is mistaken for another, although one new key in a hundred shares its identity with
   * another key.
   */
  @Test
  void aCanonicalSavepointOfAnExactModeGoesOnOnTheOtherBackend() throws Exception {
    assertGoesOnInAnExactMode(Backend.HEAP);
  }

  @Tag("slow")
  @Test
  void oneOfAnExactModeFromRocksDbDoesToo() throws Exception {
    assertGoesOnInAnExactMode(Backend.ROCKSDB);
  }

  private static void assertGoesOnInAnExactMode(Backend from) throws Exception {
    List<String> keys = DedupTrial.keys();
    EventScript script = new EventScript().addAll(keys, 1).mix(keys, 10_000, 2);
    int saved = script.size();
    script.mix(keys, 5_000, 3).probe(keys, 5_000);
    DedupTrial trial = new DedupTrial(script);

    JobClient job = trial.start(CLUSTER, Settings.of(from, 2).exact());
    trial.play(saved);
    Path savepoint = CLUSTER.stop(job, SavepointFormatType.CANONICAL, false);
    JobClient restored = trial.start(CLUSTER, Settings.of(from.other(), 4).from(savepoint).exact());
    trial.play(script.size());
    CLUSTER.cancel(restored);
    script.assertExactly(trial.outcomes, script.size());
  }

  /** Four shards of 5,000 keys in identities of 20 bits: 2 * 5,000 / 2^20 is a rate of 0.95 %. */
  @Test
  void newKeysAreDroppedAtTheRateThatTheStateWasMadeForAndLiveKeysAreKnown() throws Exception {
    assertNewKeysAreDroppedAtTheRate(Backend.ROCKSDB);
  }

  @Tag("slow")
  @Test
  void newKeysAreDroppedAtTheRateOfStateFromTheHeap() throws Exception {
    assertNewKeysAreDroppedAtTheRate(Backend.HEAP);
  }

  private static void assertNewKeysAreDroppedAtTheRate(Backend from) throws Exception {
    int keys = 20_000;
    int absentKeys = 4_000;
    List<String> live = EventScript.keysOfShards("live", 4, keys / 4);
    EventScript script = new EventScript().addAll(live, 1).probe(live, absentKeys);
    DedupTrial trial = new DedupTrial(script);

    JobClient job =
        trial.start(
            CLUSTER,
            Settings.of(from, 2)
                .dedup(dedup -> dedup.shards(4).capacity(keys).falsePositiveRate(0.01)));
    trial.play(keys);
    Path savepoint = CLUSTER.stop(job, SavepointFormatType.CANONICAL, false);
    JobClient restored =
        trial.start(
            CLUSTER, Settings.of(from.other(), 2).from(savepoint).dedup(dedup -> dedup.shards(4)));
    trial.play(script.size());
    CLUSTER.cancel(restored);

    List<Outcome> outcomes = Arrays.asList(trial.outcomes.byPosition(script.size()));
    assertThat(outcomes.subList(keys, 2 * keys)).containsOnly(Outcome.DUPLICATE);
    // 42 expected, of a standard deviation of 6.
    assertThat(
            Collections.frequency(outcomes.subList(2 * keys, outcomes.size()), Outcome.DUPLICATE))
        .isBetween(20, 64);
  }

  private static Path moved(Path savepoint, Backend from) throws Exception {
    try (var files = Files.list(savepoint)) {
      assertThat(files).as("the metadata and files of state").hasSizeGreaterThan(2);
    }
    Path elsewhere =
        Files.createDirectories(CLUSTER.directory().resolve("moved-" + from)).resolve("here");
    return Files.move(savepoint, elsewhere);
  }
}
