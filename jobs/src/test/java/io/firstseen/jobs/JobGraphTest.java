package io.firstseen.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.events.EventParser;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.jobs.files.EventFiles;
import io.firstseen.jobs.files.FileFormat;
import io.firstseen.jobs.files.OutcomeFiles;
import io.firstseen.jobs.files.SnapshotFiles;
import io.firstseen.jobs.kafka.Continued;
import io.firstseen.jobs.kafka.KafkaSinks;
import io.firstseen.jobs.kafka.KafkaSources;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.shared.JobSink;
import io.firstseen.jobs.shared.OutcomeSinks;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.SnapshotRecord;
import io.firstseen.serializers.SourceEvent;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.JobVertex;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JobGraphTest {

  private static final Set<String> DEDUP =
      Set.of(
          "events-source",
          "firstseen-identify",
          "firstseen-dedup",
          "outcomes-sink",
          "outcomes-dead-letters",
          "dead-letters-sink");

  private static final Set<String> SNAPSHOTS =
      Set.of("snapshots-hashed", "firstseen-compaction", "firstseen-manifest", "snapshots-sink");

  @TempDir private Path directory;
  private final StreamExecutionEnvironment env =
      StreamExecutionEnvironment.createLocalEnvironment(new Configuration());
  private Source<SourceEvent, ?, ?> source;
  private OutcomeSinks outcomes;
  private JobSink<SnapshotRecord> snapshots;

  @BeforeEach
  void makeEnds() throws IOException {
    Path input = Files.writeString(directory.resolve("in"), "a\n");
    source =
        EventFiles.source(
            input, FileFormat.LINES, new EventParser(Duration.ZERO, Clock.systemUTC()));
    outcomes =
        OutcomeFiles.sinks(
            FileFormat.LINES,
            directory.resolve("out"),
            Optional.empty(),
            Optional.of(directory.resolve("dead-letters")),
            Optional.empty());
    snapshots = new SnapshotFiles(directory.resolve("snapshots"));
  }

  private static Set<String> uids(StreamGraph graph) {
    Set<String> uids = new TreeSet<>();
    for (StreamNode node : graph.getStreamNodes()) {
      assertThat(node.getTransformationUID()).as(node.getOperatorName()).isNotNull();
      uids.add(node.getTransformationUID());
    }
    return uids;
  }

  @Test
  void everyOperatorOfTheDedupJobHasItsUid() {
    DedupJob.build(env, source, outcomes, JobOptions.parse());
    assertThat(uids(env.getStreamGraph())).isEqualTo(DEDUP);
  }

  @Test
  void everyOperatorOfTheSnapshotJobHasItsUid() {
    SnapshotJob.build(env, source, snapshots, JobOptions.parse());
    Set<String> expected = new TreeSet<>(SNAPSHOTS);
    expected.addAll(List.of("events-source", "events-well-formed"));
    assertThat(uids(env.getStreamGraph())).isEqualTo(expected);
  }

  @Test
  void everyOperatorOfThePipelineHasItsUid() {
    PipelineJob.build(env, source, outcomes, snapshots, JobOptions.parse());
    Set<String> expected = new TreeSet<>(DEDUP);
    expected.addAll(SNAPSHOTS);
    assertThat(uids(env.getStreamGraph())).isEqualTo(expected);
  }

  @Test
  void theOperatorsOfBlobsAndSignaturesHaveUidsAndTheGraphHasNoKey() throws Exception {
    SigningKey key = SigningKey.generate();
    Path keyFile = Files.writeString(directory.resolve("signing.key"), key.toPem());
    SnapshotJob.build(
        env,
        source,
        snapshots,
        JobOptions.parse(
            "--blob-dir=" + directory.resolve("blobs").toUri(), "--signing-key=" + keyFile));
    Set<String> expected = new TreeSet<>(SNAPSHOTS);
    expected.addAll(
        List.of(
            "events-source", "events-well-formed", "snapshots-blob-directory", "snapshots-signed"));
    StreamGraph graph = env.getStreamGraph();
    assertThat(uids(graph)).isEqualTo(expected);
    byte[] submitted = InstantiationUtil.serializeObject(graph.getJobGraph());
    String text = new String(submitted, StandardCharsets.ISO_8859_1);
    assertThat(text).contains(keyFile.toString());
    String body = key.toPem().lines().skip(1).findFirst().orElseThrow();
    byte[] der = Base64.getDecoder().decode(body);
    byte[] seed = Arrays.copyOfRange(der, der.length - 32, der.length);
    assertThat(text.contains(body)).isFalse();
    assertThat(text.contains(new String(seed, StandardCharsets.ISO_8859_1))).isFalse();
  }

  @Test
  void theOperatorsOfKafkaHaveUidsToo() {
    KafkaOptions kafka = KafkaOptions.parse("--bootstrap-servers=localhost:9092");
    PipelineJob.build(
        env,
        KafkaSources.events(kafka, Duration.ZERO),
        KafkaSinks.outcomes(kafka, JobOptions.parse(), Continued.NOTHING),
        KafkaSinks.snapshots(kafka, JobOptions.parse(), false, Optional.empty(), Continued.NOTHING),
        JobOptions.parse());
    Set<String> expected = new TreeSet<>(DEDUP);
    expected.addAll(SNAPSHOTS);
    expected.addAll(
        List.of(
            "outcomes-sink: one-writer",
            "dead-letters-sink: one-writer",
            "Sink Committer: outcomes-sink",
            "Sink Committer: dead-letters-sink",
            "snapshots-sink: snapshots-publisher",
            "Sink Committer: snapshots-sink"));
    assertThat(uids(env.getStreamGraph())).isEqualTo(expected);
  }

  /** The parts of a job that run in a thread each, on Kafka. */
  @ParameterizedTest
  @CsvSource({
    // One thread does everything.
    "1, 128, 1",
    "2, 128, 2",
    // Sources and sinks of earlier releases have 128 key groups, whatever the dedup has.
    "1, 64, 3",
    "2, 256, 3"
  })
  void asFewThreadsAsEarlierStateAllows(int parallelism, int shards, int threads) {
    KafkaOptions kafka = KafkaOptions.parse("--bootstrap-servers=localhost:9092");
    DedupJob.build(
        env,
        KafkaSources.events(kafka, Duration.ZERO),
        KafkaSinks.outcomes(kafka, JobOptions.parse(), Continued.NOTHING),
        JobOptions.parse("--parallelism=" + parallelism, "--dedup-shards=" + shards));
    JobGraph graph = env.getStreamGraph().getJobGraph();
    assertThat(graph.getVertices()).hasSize(threads);
    List<JobVertex> parts = graph.getVerticesSortedTopologicallyFromSources();
    assertThat(parts.get(0).getName()).contains("events-source", "dead-letters-sink: Writer");
    assertThat(parts.get(0).getMaxParallelism()).isEqualTo(shards == 128 ? 128 : -1);
    for (JobVertex part : parts) {
      if (part.getName().contains("firstseen-dedup")) {
        assertThat(part.getMaxParallelism()).isEqualTo(shards);
        assertThat(part.getName().contains("outcomes-sink: Writer")).isEqualTo(shards == 128);
      }
    }
  }

  @Test
  void anOperatorWithoutUidIsRefused() {
    DedupJob.build(env, source, outcomes, JobOptions.parse());
    env.fromData(1).uid("numbers").map(number -> number + 1).print().uid("print");
    assertThatThrownBy(() -> env.getStreamGraph().getJobGraph())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("UID");
  }

  @Test
  void aTypeThatNeedsKryoIsRefused() {
    DedupJob.build(env, source, outcomes, JobOptions.parse());
    env.fromData(1)
        .uid("numbers")
        .map(number -> new Object())
        .returns(Object.class)
        .uid("objects")
        .print()
        .uid("print");
    assertThatThrownBy(() -> env.getStreamGraph())
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("Generic types have been disabled");
  }

  @Test
  void filesAreWrittenByOneTaskAtAnyParallelism() {
    PipelineJob.build(env, source, outcomes, snapshots, JobOptions.parse("--parallelism=4"));
    for (StreamNode node : env.getStreamGraph().getStreamNodes()) {
      boolean single =
          Set.of("outcomes-sink", "dead-letters-sink", "snapshots-sink", "firstseen-manifest")
              .contains(node.getTransformationUID());
      assertThat(node.getParallelism()).as(node.getOperatorName()).isEqualTo(single ? 1 : 4);
    }
  }

  @Test
  void objectReuseIsOnAndTheBackendIsTheChosenOne() {
    DedupJob.build(env, source, outcomes, JobOptions.parse("--state-backend=rocksdb"));
    assertThat(env.getConfiguration().get(PipelineOptions.OBJECT_REUSE)).isTrue();
    assertThat(env.getConfiguration().toMap())
        .containsEntry("state.backend.type", "rocksdb")
        .containsEntry("execution.checkpointing.incremental", "true")
        .containsEntry("execution.checkpointing.write-buffer-size", "65536");
  }

  @Test
  void settingsOfTheClusterAreKept() {
    env.configure(new Configuration().set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, false));
    DedupJob.build(env, source, outcomes, JobOptions.parse("--state-backend=rocksdb"));
    assertThat(env.getConfiguration().get(CheckpointingOptions.INCREMENTAL_CHECKPOINTS)).isFalse();
  }

  @Test
  void checkpointsOfTheHeapAreWrittenInLargeParts() {
    DedupJob.build(env, source, outcomes, JobOptions.parse("--state-backend=heap"));
    assertThat(env.getConfiguration().toMap())
        .containsEntry("execution.checkpointing.write-buffer-size", "1048512");
  }

  @Test
  void moreParallelTasksThanShardsAreRefusedWithASentence() {
    assertThatThrownBy(
            () ->
                DedupJob.build(
                    env, source, outcomes, JobOptions.parse("--parallelism=4", "--dedup-shards=2")))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll("--parallelism", "--dedup-shards", "4 and 2");
    assertThatThrownBy(
            () -> SnapshotJob.build(env, source, snapshots, JobOptions.parse("--parallelism=129")))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll("--parallelism", "at most 128", "129");
  }
}
