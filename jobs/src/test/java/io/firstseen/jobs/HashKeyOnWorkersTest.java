package io.firstseen.jobs;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.firstseen.embedded.SharedCluster;
import io.firstseen.events.EventParser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.HashKeyMismatchException;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.jobs.files.EventFiles;
import io.firstseen.jobs.files.FileFormat;
import io.firstseen.jobs.files.OutcomeFiles;
import io.firstseen.jobs.files.SnapshotFiles;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.shared.OutcomeSinks;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.SourceEvent;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code --hash-key-on-workers}: the secret is in nothing that Flink stores of a job. */
class HashKeyOnWorkersTest {
  private static final String KEY = "9f03c7716ee24ab85d1c90f2a63b47de";
  private static final String OTHER = "000102030405060708090a0b0c0d0e0f";

  @RegisterExtension private static final SharedCluster FLINK = SharedCluster.ofSlots(4);

  @TempDir private Path directory;
  private Path keyFile;
  private Path out;

  private enum Job {
    DEDUP,
    SNAPSHOTS,
    PIPELINE
  }

  @BeforeEach
  void makeFiles() throws IOException {
    keyFile = Files.writeString(Files.createTempFile(directory, "hash", ".key"), KEY + "\n");
    StringBuilder events = new StringBuilder();
    for (int i = 0; i < 300; i++) {
      events.append(i).append("\tadd\tkey-").append(i % 200).append('\n');
    }
    Files.writeString(directory.resolve("events.tsv"), events);
  }

  private StreamExecutionEnvironment job(Job job, String... words) throws IOException {
    List<String> all = new ArrayList<>(List.of("--hash-key-file=" + keyFile, "--window=1m"));
    all.addAll(Arrays.asList(words));
    JobOptions options = JobOptions.parse(all.toArray(String[]::new));
    Configuration settings = new Configuration();
    // As on Kafka: restarts without an end.
    settings.set(RestartStrategyOptions.RESTART_STRATEGY, "exponential-delay");
    settings.set(
        RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_INITIAL_BACKOFF,
        Duration.ofMillis(10));
    StreamExecutionEnvironment env = FLINK.environment(settings);
    out = Files.createTempDirectory(directory, "out");
    Source<SourceEvent, ?, ?> source =
        EventFiles.source(
            directory.resolve("events.tsv"),
            FileFormat.TSV,
            new EventParser(Duration.ofHours(1), Clock.systemUTC()));
    OutcomeSinks outcomes =
        OutcomeFiles.sinks(
            FileFormat.TSV,
            out.resolve("accepted"),
            Optional.of(out.resolve("duplicates")),
            Optional.empty(),
            Optional.empty());
    SnapshotFiles snapshots = new SnapshotFiles(out.resolve("snapshots"));
    switch (job) {
      case DEDUP -> DedupJob.build(env, source, outcomes, options);
      case SNAPSHOTS -> SnapshotJob.build(env, source, snapshots, options);
      case PIPELINE -> PipelineJob.build(env, source, outcomes, snapshots, options);
    }
    return env;
  }

  /** The forms of the key, by name, that occur in what is submitted and in what is run. */
  private static List<String> formsOfKeyIn(StreamExecutionEnvironment env, String hexKey)
      throws Exception {
    StreamGraph graph = env.getStreamGraph();
    byte[] executed = InstantiationUtil.serializeObject(graph.getJobGraph());
    graph.serializeUserDefinedInstances();
    byte[] submitted = InstantiationUtil.serializeObject(graph);
    List<String> found = new ArrayList<>();
    Map.of("executed", executed, "submitted", submitted)
        .forEach(
            (name, bytes) -> {
              String text = new String(bytes, ISO_8859_1);
              forms(hexKey)
                  .forEach(
                      (form, value) -> {
                        if (text.contains(value)) {
                          found.add(name + ": " + form);
                        }
                      });
            });
    return found;
  }

  private static Map<String, String> forms(String hexKey) {
    byte[] key = HexFormat.of().parseHex(hexKey);
    Map<String, String> forms = new TreeMap<>();
    forms.put("hex", hexKey);
    forms.put("HEX", hexKey.toUpperCase(Locale.ROOT));
    forms.put("raw", new String(key, ISO_8859_1));
    for (int half = 0; half < 2; half++) {
      byte[] part = Arrays.copyOfRange(key, 8 * half, 8 * half + 8);
      forms.put("long " + half, new String(part, ISO_8859_1));
      // SipHash reads its key as little-endian, Java writes longs as big-endian.
      forms.put("word " + half, new StringBuilder(new String(part, ISO_8859_1)).reverse() + "");
    }
    return forms;
  }

  @ParameterizedTest
  @EnumSource(Job.class)
  void theKeyIsInNoFormPartOfTheJob(Job job) throws Exception {
    assertThat(formsOfKeyIn(job(job, "--hash-key-on-workers"), KEY)).isEmpty();
    // The control.
    assertThat(formsOfKeyIn(job(job), KEY))
        .contains("executed: raw", "submitted: raw", "executed: long 1", "submitted: long 0");
  }

  @ParameterizedTest
  @EnumSource(names = {"SNAPSHOTS", "PIPELINE"})
  void theKeyOfTheSnapshotsIsInNoFormPartOfTheJob(Job job) throws Exception {
    Path ownFile = Files.writeString(Files.createTempFile(directory, "own", ".key"), OTHER);
    String option = "--snapshot-hash-key-file=" + ownFile;
    assertThat(formsOfKeyIn(job(job, option, "--hash-key-on-workers"), OTHER)).isEmpty();
    assertThat(formsOfKeyIn(job(job, option, "--hash-key-on-workers"), KEY)).isEmpty();
    // The control.
    assertThat(formsOfKeyIn(job(job, option), OTHER)).contains("executed: raw", "submitted: raw");
    // A job without a dedup does not use the key of the dedup.
    assertThat(formsOfKeyIn(job(job, option), KEY).isEmpty()).isEqualTo(job == Job.SNAPSHOTS);
  }

  @ParameterizedTest
  @EnumSource(Job.class)
  void aJobThatReadsItsKeyMakesTheSameBytes(Job job) throws Exception {
    job(job).execute();
    Map<String, String> expected = content(out);
    assertThat(expected).hasSizeGreaterThan(1);
    job(job, "--hash-key-on-workers", "--parallelism=2").execute();
    Map<String, String> made = content(out);
    assertThat(made.keySet()).isEqualTo(expected.keySet());
    if (job != Job.DEDUP) {
      expected.forEach(
          (name, bytes) -> {
            if (name.startsWith("snapshots")) {
              assertThat(made.get(name)).as(name).isEqualTo(bytes);
            }
          });
      SnapshotSet last = SnapshotSet.openDirectory(out.resolve("snapshots"), OptionalLong.empty());
      assertThat(last.manifest().count()).isEqualTo(200);
      assertThat(last.mightContainKey("key-7".getBytes(StandardCharsets.UTF_8), KeyHash.parse(KEY)))
          .isTrue();
    }
    if (job != Job.SNAPSHOTS) {
      assertThat(made.get("accepted").lines()).hasSize(200);
      assertThat(made.get("accepted").lines().sorted())
          .containsExactlyElementsOf(expected.get("accepted").lines().sorted().toList());
      assertThat(made.get("duplicates").lines()).hasSize(100);
    }
  }

  /**
   * Snapshots with a separate hash key: the dedup is unaffected, and clients need the key of the
   * snapshots.
   */
  @ParameterizedTest
  @EnumSource(names = {"SNAPSHOTS", "PIPELINE"})
  void snapshotsUnderAKeyOfTheirOwnAreReadWithoutThatOfTheDedup(Job job) throws Exception {
    job(job).execute();
    Map<String, String> plain = content(out);
    Path ownFile = Files.writeString(Files.createTempFile(directory, "own", ".key"), OTHER);
    Map<String, KeyHash> keys =
        Map.of("public", KeyHash.fixed(), "" + ownFile, KeyHash.parse(OTHER));
    for (Map.Entry<String, KeyHash> own : keys.entrySet()) {
      String option = "--snapshot-hash-key-file=" + own.getKey();
      job(job, option, "--hash-key-on-workers").execute();
      Map<String, String> made = content(out);
      if (job == Job.PIPELINE) {
        assertThat(made.get("accepted")).isEqualTo(plain.get("accepted"));
        assertThat(made.get("duplicates")).isEqualTo(plain.get("duplicates"));
      }
      SnapshotSet last = SnapshotSet.openDirectory(out.resolve("snapshots"), OptionalLong.empty());
      last.verify();
      assertThat(last.manifest().count()).isEqualTo(200);
      for (int i = 0; i < 200; i++) {
        byte[] key = ("key-" + i).getBytes(StandardCharsets.UTF_8);
        assertThat(last.mightContainKey(key, own.getValue())).as("key-%d", i).isTrue();
      }
      assertThatThrownBy(() -> last.mightContainKey(new byte[] {'a'}, KeyHash.parse(KEY)))
          .isInstanceOf(HashKeyMismatchException.class)
          .hasMessageContaining("configure the hash key that the publisher uses");
    }
  }

  /** The TaskManager also reads the second key, and the first key stays secret. */
  @Timeout(30)
  @Test
  void aTaskManagerWithAnotherKeyOfTheSnapshotsEndsTheJob() throws Exception {
    Path ownFile = Files.writeString(Files.createTempFile(directory, "own", ".key"), OTHER);
    StreamExecutionEnvironment env =
        job(Job.PIPELINE, "--snapshot-hash-key-file=" + ownFile, "--hash-key-on-workers");
    Files.writeString(ownFile, KEY);
    assertThat(UserErrorException.sentence(catchThrowable(env::execute)))
        .hasValueSatisfying(
            sentence ->
                assertThat(sentence)
                    .startsWith("the hash key at " + ownFile + " on this TaskManager"));
  }

  /**
   * The job has an endless restart strategy: that it ends at all shows that there is no restart.
   */
  @Timeout(30)
  @ParameterizedTest
  @EnumSource(Job.class)
  void aTaskManagerWithAnotherKeyEndsTheJobWithASentence(Job job) throws Exception {
    StreamExecutionEnvironment env = job(job, "--hash-key-on-workers");
    Files.writeString(keyFile, OTHER);
    assertThat(UserErrorException.sentence(catchThrowable(env::execute)))
        .hasValue(
            "the hash key at %s on this TaskManager has key check %016x, but the job's hash key has %016x: put the job's key there"
                .formatted(
                    keyFile, KeyHash.parse(OTHER).keyCheck(), KeyHash.parse(KEY).keyCheck()));
  }

  @Timeout(30)
  @Test
  void aTaskManagerWithoutTheKeyEndsTheJobWithASentence() throws Exception {
    StreamExecutionEnvironment env = job(Job.PIPELINE, "--hash-key-on-workers");
    Files.delete(keyFile);
    assertThat(UserErrorException.sentence(catchThrowable(env::execute)))
        .hasValue(
            "cannot read the hash key at %s on this TaskManager: there is no such file: put the job's key there"
                .formatted(keyFile));
  }

  /** The control: without the option the file is read where the job is submitted, and no more. */
  @Test
  void withoutTheOptionTheFileMayBeGoneAfterwards() throws Exception {
    StreamExecutionEnvironment env = job(Job.DEDUP);
    Files.delete(keyFile);
    env.execute();
    assertThat(Files.readAllLines(out.resolve("accepted"))).hasSize(200);
  }

  /** Files by name; manifests without the time of their publication. */
  private static Map<String, String> content(Path directory) throws IOException {
    Map<String, String> content = new TreeMap<>();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        byte[] bytes = Files.readAllBytes(file);
        if (file.getFileName().toString().startsWith("manifest-")) {
          bytes = Manifest.read(bytes).content().toBytes();
        }
        content.put(directory.relativize(file).toString(), new String(bytes, ISO_8859_1));
      }
    }
    return content;
  }
}
