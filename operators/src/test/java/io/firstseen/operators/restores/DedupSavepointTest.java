package io.firstseen.operators.restores;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.near.NearRule;
import io.firstseen.operators.dedup.DedupSavepoint;
import io.firstseen.operators.restores.DedupTrial.Settings;
import io.firstseen.operators.restores.EventScript.Outcome;
import io.firstseen.types.AuditCounts;
import io.firstseen.types.DedupMode;
import io.firstseen.types.TimeToLive;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.SplittableRandom;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Reads the savepoints and checkpoints of a job, including untrusted ones. */
class DedupSavepointTest {
  @RegisterExtension private static final TestCluster CLUSTER = new TestCluster();

  @TempDir private Path directory;

  private final EventScript script =
      new EventScript().mix(DedupTrial.keys(), 2 * DedupTrial.keys().size(), 4);

  private static Optional<DedupSavepoint> read(Path savepoint, String uidPrefix) throws Exception {
    return DedupSavepoint.read(
        CLUSTER.environment(new Configuration()), uidPrefix, savepoint.toUri().toString());
  }

  private void assertContents(Path savepoint) throws Exception {
    DedupSavepoint read = read(savepoint, "firstseen").orElseThrow();
    assertThat(read.keys()).isEqualTo(script.live(script.size()));
    assertThat(read.parallelism()).isEqualTo(2);
    assertThat(read.parameters().shardCount()).isEqualTo(DedupTrial.SHARDS);
    assertThat(read.shards()).hasSize(DedupTrial.SHARDS).allMatch(shard -> shard.keys() > 0);
    assertThat(read.shards().get(3).keys()).isGreaterThan(10 * read.shards().get(2).keys());
  }

  private JobClient played(Settings settings) throws Exception {
    DedupTrial trial = new DedupTrial(script);
    JobClient job = trial.start(CLUSTER, settings);
    trial.play(script.size());
    return job;
  }

  @ParameterizedTest
  @CsvSource({"HEAP, CANONICAL", "HEAP, NATIVE", "ROCKSDB, NATIVE"})
  void aSavepointTells(Backend backend, SavepointFormatType format) throws Exception {
    assertSavepointTells(backend, format);
  }

  /** As {@link #theModeIsReported} does of another mode. */
  @Tag("slow")
  @Test
  void aCanonicalSavepointFromRocksDbTells() throws Exception {
    assertSavepointTells(Backend.ROCKSDB, SavepointFormatType.CANONICAL);
  }

  private void assertSavepointTells(Backend backend, SavepointFormatType format) throws Exception {
    assertContents(CLUSTER.stop(played(Settings.of(backend, 2)), format, false));
  }

  @ParameterizedTest
  @CsvSource({"HEAP, false", "ROCKSDB, true"})
  void aCheckpointTells(Backend backend, boolean incremental) throws Exception {
    assertCheckpointTells(backend, incremental);
  }

  @Tag("slow")
  @Test
  void aWholeCheckpointFromRocksDbTells() throws Exception {
    assertCheckpointTells(Backend.ROCKSDB, false);
  }

  private void assertCheckpointTells(Backend backend, boolean incremental) throws Exception {
    JobClient job =
        played(
            Settings.of(backend, 2)
                .with(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, incremental));
    String checkpoint = CLUSTER.checkpoint(job);
    CLUSTER.cancel(job);
    assertContents(Path.of(URI.create(checkpoint)));
  }

  @Test
  void theModeIsReported() throws Exception {
    assertModeIsReported(DedupMode.EXACT_KEYS);
  }

  @Tag("slow")
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "EXACT_KEYS")
  void anyOtherModeIsReported(DedupMode mode) throws Exception {
    assertModeIsReported(mode);
  }

  private void assertModeIsReported(DedupMode mode) throws Exception {
    JobClient job = played(Settings.of(Backend.ROCKSDB, 2).dedup(dedup -> dedup.mode(mode)));
    Path savepoint = CLUSTER.stop(job, SavepointFormatType.CANONICAL, false);
    assertContents(savepoint);
    assertThat(read(savepoint, "firstseen").orElseThrow().parameters().mode()).isEqualTo(mode);
  }

  @Test
  void theTtlIsReported() throws Exception {
    TimeToLive ttl = TimeToLive.of(Duration.ofDays(9)).by(TimeToLive.Clock.PROCESSING);
    JobClient job = played(Settings.of(Backend.HEAP, 2).dedup(dedup -> dedup.ttl(ttl)));
    Path savepoint = CLUSTER.stop(job, SavepointFormatType.CANONICAL, false);
    assertContents(savepoint);
    DedupSavepoint read = read(savepoint, "firstseen").orElseThrow();
    assertThat(read.parameters().ttl()).isEqualTo(ttl);
    // The latest of eight shards' epochs, each an eighth of the ttl, begins at most a 64th ago.
    long now = System.currentTimeMillis();
    assertThat(read.clockMillis().orElseThrow())
        .isBetween(now - Duration.ofDays(1).toMillis() * 9 / 64 - 60_000, now);
  }

  @Test
  void theAuditIsReported() throws Exception {
    assertAuditIsReported(Backend.ROCKSDB);
  }

  @Tag("slow")
  @Test
  void theAuditIsToldOnTheHeap() throws Exception {
    assertAuditIsReported(Backend.HEAP);
  }

  private void assertAuditIsReported(Backend backend) throws Exception {
    JobClient job = played(Settings.of(backend, 2).dedup(dedup -> dedup.audit(4)));
    Path savepoint = CLUSTER.stop(job, SavepointFormatType.CANONICAL, false);
    assertContents(savepoint);
    DedupSavepoint read = read(savepoint, "firstseen").orElseThrow();
    assertThat(read.parameters().auditSlices()).isEqualTo(4);
    long accepted = script.count(0, script.size(), Outcome.ACCEPTED);
    assertThat((double) read.audit().newKeys()).isCloseTo(accepted / 4.0, withinPercentage(10));
    assertThat(read.audit().falsePositives()).isZero();
    assertThat(read.audit().predicted()).isBetween(0.0, 1e-9 * accepted);
  }

  @Test
  void theAuditOfNearDuplicatesIsReported() throws Exception {
    int texts = 300;
    SplittableRandom random = new SplittableRandom(1);
    EventScript pairs = new EventScript();
    for (int i = 0; i < texts; i++) {
      String text = random.ints(30, 'a', 'z' + 1).mapToObj(Character::toString).collect(joining());
      pairs.add(text).add(text + "x");
    }
    DedupTrial trial = new DedupTrial(pairs);
    Settings settings =
        Settings.of(Backend.ROCKSDB, 1)
            .dedup(dedup -> dedup.canonicaliser(Canonicaliser.TEXT).near(NearRule.SHORT).audit(1));
    JobClient job = trial.start(CLUSTER, settings);
    trial.play(pairs.size());
    Path savepoint = CLUSTER.stop(job, SavepointFormatType.CANONICAL, false);
    DedupSavepoint read = read(savepoint, "firstseen").orElseThrow();
    assertThat(read.audit().newKeys()).isEqualTo(texts);
    assertThat(read.precision()).isEqualTo(new AuditCounts(texts, 0, 0));
    // Of all pairs, the share 0.14 is audited.
    assertThat(read.recall().newKeys()).isBetween(20L, 65L);
    assertThat(read.recall().falsePositives()).isZero();
    assertThat(read.predictedFalsePositiveRate()).isBetween(0.0, 1e-9).isPositive();
  }

  @Test
  void thereIsNoAuditAndNoClockWithoutAskingForThem() throws Exception {
    Path savepoint =
        CLUSTER.stop(played(Settings.of(Backend.HEAP, 2)), SavepointFormatType.CANONICAL, false);
    DedupSavepoint read = read(savepoint, "firstseen").orElseThrow();
    assertThat(read.audit()).isNull();
    assertThat(read.clockMillis()).isEmpty();
  }

  @Test
  void nobodyElsesStateIsADedups() throws Exception {
    Path savepoint =
        CLUSTER.stop(
            played(Settings.of(Backend.HEAP, 2).dedup(dedup -> dedup.uidPrefix("mine"))),
            SavepointFormatType.CANONICAL,
            false);
    assertThat(read(savepoint, "firstseen")).isEmpty();
    assertContentsOf(savepoint, "mine");
  }

  private void assertContentsOf(Path savepoint, String uidPrefix) throws Exception {
    assertThat(read(savepoint, uidPrefix).orElseThrow().keys())
        .isEqualTo(script.live(script.size()));
  }

  @Test
  void whatIsNoSavepointIsAnError() throws Exception {
    assertThatThrownBy(() -> read(directory, "firstseen")).isInstanceOf(IOException.class);
    Files.writeString(directory.resolve("_metadata"), "something else");
    assertThatThrownBy(() -> read(directory, "firstseen")).isInstanceOf(Exception.class);
  }
}
