package io.firstseen.operators.restores;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.operators.dedup.DedupSavepoint;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.operators.dedup.KnownKeys;
import io.firstseen.operators.dedup.WarmStart;
import io.firstseen.operators.restores.DedupTrial.Settings;
import io.firstseen.operators.restores.EventScript.Outcome;
import io.firstseen.types.DedupMode;
import io.firstseen.types.DedupParameters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A dedup starts from a savepoint that no dedup has written. */
class WarmStartTest {
  @RegisterExtension private static final TestCluster CLUSTER = new TestCluster();

  @TempDir private Path directory;

  private static Firstseen<KeyEvent> described() {
    return Firstseen.<KeyEvent>withoutEvents()
        .capacity(50_000)
        .falsePositiveRate(1e-9)
        .shards(DedupTrial.SHARDS);
  }

  private static EventScript script() {
    List<String> keys = DedupTrial.keys();
    return new EventScript().mix(keys, 3 * keys.size(), 3).probe(keys, 1_000);
  }

  private static int saved() {
    return 3 * DedupTrial.keys().size();
  }

  private static long hash(EventScript script, int position) {
    return KeyHash.fixed().hash(script.key(position));
  }

  /** The first events of a script as what happened so far. */
  private KnownKeys known(EventScript script, int events) throws IOException {
    KnownKeys known = new KnownKeys(Files.createDirectory(directory.resolve("keys")), null);
    for (int position = 0; position < events; position++) {
      switch (script.exact(position)) {
        case ACCEPTED, DUPLICATE -> known.add(hash(script, position), position);
        case REMOVED, UNKNOWN_DELETE -> known.remove(hash(script, position));
      }
    }
    return known;
  }

  private static StreamExecutionEnvironment environment(Backend backend, int tasks) {
    Configuration settings = new Configuration();
    settings.set(StateBackendOptions.STATE_BACKEND, backend.option);
    return CLUSTER.environment(settings).setParallelism(tasks);
  }

  private Path write(Backend backend, int tasks, DedupParameters parameters, KnownKeys known)
      throws Exception {
    Path savepoint = directory.resolve("savepoint");
    new WarmStart(environment(backend, tasks), parameters, "firstseen", known)
        .write(new org.apache.flink.core.fs.Path(savepoint.toUri()));
    return savepoint;
  }

  private static void assertContents(
      EventScript script, int saved, Path savepoint, Settings settings) throws Exception {
    DedupTrial trial = new DedupTrial(script);
    JobClient job = trial.start(CLUSTER, settings.fromForeign(savepoint, saved));
    trial.valve.openTo(script.size());
    trial.await(script.size() - saved);
    CLUSTER.cancel(job);
    script.assertExactly(trial.outcomes, saved, script.size());
  }

  @ParameterizedTest
  @CsvSource({"HEAP, ROCKSDB, 2", "ROCKSDB, HEAP, 3"})
  void knowsWhatHappenedSoFar(Backend built, Backend restored, int tasks) throws Exception {
    assertKnown(built, restored, tasks);
  }

  @Tag("slow")
  @ParameterizedTest
  @CsvSource({"HEAP, HEAP, 1", "ROCKSDB, ROCKSDB, 4"})
  void knowsItOnTheSameBackend(Backend built, Backend restored, int tasks) throws Exception {
    assertKnown(built, restored, tasks);
  }

  private void assertKnown(Backend built, Backend restored, int tasks) throws Exception {
    EventScript script = script();
    Path savepoint = write(built, tasks, described().parameters(), known(script, saved()));
    Path moved = Files.move(savepoint, directory.resolve("moved"));
    DedupSavepoint read = read(moved);
    assertThat(read.parameters()).isEqualTo(described().parameters());
    assertThat(read.parallelism()).isEqualTo(Integer.highestOneBit(tasks));
    assertThat(read.keys()).isEqualTo(script.live(saved()));
    assertThat(read.shards()).hasSize(DedupTrial.SHARDS);
    assertThat(read.shards().get(3).keys()).isBetween(1_500L, 4_500L);
    assertThat(read.pages(3)).isPositive();
    assertThat(read.slots()).isGreaterThanOrEqualTo(read.keys());
    assertThat(read.pageBytes()).isBetween(2 * read.keys(), read.stateBytes());
    assertContents(script, saved(), moved, Settings.of(restored, 2));
  }

  @Test
  void knowsInExactModeToo() throws Exception {
    EventScript script = script();
    Path savepoint =
        write(
            Backend.ROCKSDB,
            2,
            described().mode(DedupMode.EXACT).parameters(),
            known(script, saved()));
    assertContents(
        script,
        saved(),
        savepoint,
        Settings.of(Backend.HEAP, 2).dedup(dedup -> dedup.mode(DedupMode.EXACT)));
  }

  /** Otherwise duplicates of known keys would be counted as falsely dropped keys. */
  @Test
  void theAuditKnowsTheKeysToo() throws Exception {
    EventScript script = script();
    Path savepoint =
        write(Backend.HEAP, 2, described().audit(1).parameters(), known(script, saved()));
    assertContents(script, saved(), savepoint, Settings.of(Backend.ROCKSDB, 2));
  }

  private static DedupSavepoint read(Path savepoint) throws Exception {
    return DedupSavepoint.read(environment(Backend.HEAP, 2), "firstseen", savepoint.toString())
        .orElseThrow();
  }

  /** Two keys that one filter of the shortest identities cannot tell apart. */
  private static String[] sameIdentity() {
    Map<Long, String> byIdentity = new HashMap<>();
    for (int i = 0; ; i++) {
      String key = "twin-" + i;
      long identity = KeyHash.fixed().hash(key.getBytes(UTF_8)) >>> (Long.SIZE - 23);
      String other = byIdentity.put(identity, key);
      if (other != null) {
        return new String[] {other, key};
      }
    }
  }

  private void assertTwins(EventScript script, int saved) throws Exception {
    Path savepoint =
        write(
            Backend.HEAP,
            1,
            described().capacity(1).falsePositiveRate(0.1).parameters(),
            known(script, saved));
    assertContents(
        script,
        saved,
        savepoint,
        Settings.of(Backend.HEAP, 1).dedup(dedup -> dedup.capacity(1).falsePositiveRate(0.1)));
  }

  @Test
  void aTombstoneWithoutItsAddTakesNoOtherKeyAway() throws Exception {
    String[] twins = sameIdentity();
    assertTwins(new EventScript().add(twins[0]).delete(twins[1]).add(twins[0]), 2);
  }

  @Test
  void deletingOneOfTwoThatShareAnIdentityKeepsTheOther() throws Exception {
    String[] twins = sameIdentity();
    assertTwins(new EventScript().add(twins[0]).add(twins[1]).delete(twins[0]).add(twins[1]), 2);
  }

  @Test
  void nothingIsKnownOfNothing() throws Exception {
    EventScript script = new EventScript().add("first").delete("second");
    Path savepoint = write(Backend.HEAP, 2, described().parameters(), known(script, 0));
    assertContents(script, 0, savepoint, Settings.of(Backend.ROCKSDB, 2));
  }

  @Test
  @Timeout(60)
  void aFileThatCannotBeReadFailsWithItsReason() throws Exception {
    EventScript script = script();
    KnownKeys known = known(script, saved());
    known.complete();
    try (var files = Files.list(directory.resolve("keys"))) {
      Path one = files.sorted().skip(100).findFirst().orElseThrow();
      Files.delete(one);
      Files.createDirectory(one);
    }
    assertThatThrownBy(() -> write(Backend.HEAP, 2, described().parameters(), known))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("Is a directory");
  }

  @Test
  void anotherHashKeyIsRefusedByTheDedup() throws Exception {
    EventScript script = new EventScript().add("first").add("second");
    Path savepoint =
        write(Backend.HEAP, 1, described().hash(KeyHash.xxh3(1)).parameters(), known(script, 1));
    assertThatThrownBy(() -> assertContents(script, 1, savepoint, Settings.of(Backend.HEAP, 1)))
        .hasStackTraceContaining("they differ in: hash algorithm");
  }

  @Test
  void oneShardIsRefused() {
    DedupParameters one = described().shards(1).parameters();
    assertThatThrownBy(() -> new WarmStart(environment(Backend.HEAP, 1), one, "firstseen", null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("shards", "at least 2", "got 1");
  }

  @Test
  void outcomesOfTheScriptAreOfEveryKind() {
    EventScript script = script();
    for (Outcome outcome : Outcome.values()) {
      assertThat(script.count(0, saved(), outcome)).isPositive();
    }
  }
}
