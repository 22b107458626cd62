package io.firstseen.jobs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.embedded.SharedCluster;
import io.firstseen.events.EventParser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.jobs.files.EventFiles;
import io.firstseen.jobs.files.FileFormat;
import io.firstseen.jobs.files.OutcomeFiles;
import io.firstseen.jobs.files.SnapshotFiles;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.serializers.Outcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The whole pipeline on real data, files in and files out, against an exact model. */
class PipelineJobTest {

  private static final boolean SLOW = Integer.getInteger("firstseen.scale", 1) > 1;
  private static final Path SAMPLE = Path.of("..", "examples", "phishing-domains-small.tsv.gz");
  private static final double RATE = 0.001;

  @RegisterExtension private static final SharedCluster FLINK = SharedCluster.ofSlots(4);

  @TempDir private Path directory;
  private Path input;

  @BeforeEach
  void nameInput() {
    input = directory.resolve("events.tsv");
  }

  /** In the quick tier heap with one task, RocksDB with two. */
  @Test
  void realDataOnBothBackendsAndAtTwoParallelismsAgreesWithTheExactModel() throws Exception {
    // The sample has no repeats: with every line twice, half of all are repeats.
    List<String> events = new ArrayList<>();
    for (String line : ExactModel.lines(SAMPLE)) {
      events.add(line);
      events.add(line);
    }
    ExactModel model = ExactModel.of(events);
    assertThat(model.accepted).hasSize(24_828);
    assertThat(model.duplicates).hasSize(24_828);
    Files.write(input, events);
    Set<String> accepted = null;
    for (String backend : List.of("heap", "rocksdb")) {
      for (int parallelism : new int[] {1, 2}) {
        if (!SLOW && backend.equals("heap") != (parallelism == 1)) {
          continue;
        }
        Run run =
            run(
                backend + parallelism,
                "--state-backend=" + backend,
                "--parallelism=" + parallelism,
                "--fpr=" + RATE,
                "--capacity=50000");
        check(run, model);
        if (accepted == null) {
          accepted = Set.copyOf(run.accepted);
        }
        assertThat(Set.copyOf(run.accepted)).hasSameSizeAs(run.accepted);
        assertThat(Set.copyOf(run.accepted).equals(accepted)).as("same accepted set").isTrue();
        if (parallelism == 1) {
          // Lines keep the order of the input, except for dropped keys.
          List<String> kept = new ArrayList<>(model.accepted);
          kept.retainAll(accepted);
          assertThat(run.accepted.equals(kept)).as("same order").isTrue();
        }
      }
    }
  }

  @Test
  void inAnExactModeAFilterThatIsFarTooSmallDropsNothing() throws Exception {
    List<String> sample = ExactModel.lines(SAMPLE);
    List<String> events = new ArrayList<>();
    for (String line : SLOW ? sample : sample.subList(0, 5_000)) {
      events.add(line);
      events.add(line);
    }
    ExactModel model = ExactModel.of(events);
    Files.write(input, events);
    String[] tooSmall = {"--dedup-shards=1", "--fpr=0.1", "--capacity=1"};
    Run approximate = run("approximate", tooSmall);
    assertThat(approximate.accepted.size()).isLessThan(model.accepted.size() * 249 / 250);
    for (String backend : SLOW ? List.of("heap", "rocksdb") : List.of("rocksdb")) {
      List<String> words = new ArrayList<>(List.of(tooSmall));
      Collections.addAll(words, "--mode=exact", "--state-backend=" + backend);
      Run exact = run("exact-" + backend, words.toArray(String[]::new));
      assertThat(exact.accepted.equals(model.accepted)).as("accepted, in order").isTrue();
      assertThat(sorted(exact.duplicates).equals(sorted(model.duplicates)))
          .as("duplicates")
          .isTrue();
    }
  }

  @Test
  void theAuditTellsWhichKeysWereDroppedFalsely() throws Exception {
    ExactModel model = ExactModel.of(ExactModel.lines(SAMPLE));
    Files.write(input, ExactModel.lines(SAMPLE));
    // The audit holds all keys, so it knows every key that was dropped.
    Run run = run("audited", "--dedup-shards=1", "--fpr=0.1", "--capacity=1", "--audit-slice=1");
    List<String> droppedAdds = new ArrayList<>(model.accepted);
    droppedAdds.removeAll(Set.copyOf(run.accepted));
    droppedAdds.removeIf(line -> line.split("\t", 3)[1].equals("del"));
    assertThat(droppedAdds).hasSizeGreaterThan(100);
    assertThat(run.counts.get(Outcome.Kind.FALSE_DUPLICATE)).isEqualTo(droppedAdds.size());
    assertThat(Set.copyOf(run.duplicates).containsAll(droppedAdds)).isTrue();
  }

  private void check(Run run, ExactModel model) throws Exception {
    // No key is accepted twice while it is live, and each removed key was live.
    Set<String> live = new HashSet<>();
    for (String line : run.accepted) {
      String[] fields = line.split("\t", 3);
      boolean changes = fields[1].equals("add") ? live.add(fields[2]) : live.remove(fields[2]);
      assertThat(changes).as(line).isTrue();
    }
    // Every event is in one of the two files, unchanged.
    List<String> all = new ArrayList<>(run.accepted);
    all.addAll(run.duplicates);
    assertThat(sorted(all).equals(sorted(Files.readAllLines(input)))).isTrue();
    // At most three times the expected false drops; deletes of dropped keys are unknown.
    Set<String> dropped = new HashSet<>(model.live);
    dropped.removeAll(live);
    assertThat(dropped.size()).isLessThanOrEqualTo((int) (3 * RATE * model.live.size()));
    assertThat(model.live.containsAll(live)).isTrue();
    assertThat(run.counts.get(Outcome.Kind.ACCEPTED) + run.counts.get(Outcome.Kind.REMOVED))
        .isEqualTo(run.accepted.size());
    assertThat(run.counts.get(Outcome.Kind.DUPLICATE) + run.counts.get(Outcome.Kind.UNKNOWN_DELETE))
        .isEqualTo(run.duplicates.size());
    assertThat(run.deadLetters).isEmpty();

    SnapshotSet last = SnapshotSet.openDirectory(run.snapshots, OptionalLong.empty());
    last.verify();
    assertThat(last.manifest().count()).isEqualTo(live.size());
    for (String key : live) {
      assertThat(last.mightContainKey(key.getBytes(UTF_8), KeyHash.fixed())).as(key).isTrue();
    }
    int falsePositives = 0;
    for (int i = 0; i < 100_000; i++) {
      byte[] absentKey = ("absent-" + i + ".invalid").getBytes(UTF_8);
      falsePositives += last.mightContainKey(absentKey, KeyHash.fixed()) ? 1 : 0;
    }
    assertThat(falsePositives).isLessThanOrEqualTo(200);
  }

  private Run run(String name, String... options) throws Exception {
    List<String> words = new ArrayList<>(List.of(options));
    Collections.addAll(words, "--window=7d");
    JobOptions jobOptions = JobOptions.parse(words.toArray(String[]::new));
    Path out = Files.createDirectory(directory.resolve(name));
    Path accepted = out.resolve("accepted");
    Path duplicates = out.resolve("duplicates");
    Path deadLetters = out.resolve("dead-letters");
    Path snapshots = out.resolve("snapshots");
    StreamExecutionEnvironment env = FLINK.environment();
    PipelineJob.build(
        env,
        EventFiles.source(
            input,
            FileFormat.TSV,
            new EventParser(jobOptions.dedup().maxAhead(), Clock.systemUTC())),
        OutcomeFiles.sinks(
            FileFormat.TSV,
            accepted,
            Optional.of(duplicates),
            Optional.of(deadLetters),
            Optional.empty()),
        new SnapshotFiles(snapshots),
        jobOptions);
    JobExecutionResult result = env.execute(name);
    return new Run(
        Files.readAllLines(accepted),
        Files.readAllLines(duplicates),
        Files.readAllLines(deadLetters),
        snapshots,
        OutcomeCounts.of(result.getAllAccumulatorResults()));
  }

  private static List<String> sorted(List<String> lines) {
    return lines.stream().sorted().toList();
  }

  private record Run(
      List<String> accepted,
      List<String> duplicates,
      List<String> deadLetters,
      Path snapshots,
      Map<Outcome.Kind, Long> counts) {}
}
