package io.firstseen.operators.restores;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.operators.dedup.DedupSavepoint;
import io.firstseen.operators.restores.DedupTrial.Settings;
import io.firstseen.operators.restores.EventScript.Outcome;
import io.firstseen.types.AuditCounts;
import java.io.IOException;
import java.io.Reader;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;

/**
 * A canonical savepoint in the test resources. Its {@code contents.properties} states how many keys
 * were added to each of its shards; the first quarter of all keys was deleted again.
 *
 * @param directory where it is
 * @param kind the kind of dedup; {@code plain} if the properties do not state it
 * @param shards its number of shards
 * @param keysOfShards how many keys were added to each shard
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record StoredSavepoint(Path directory, StoredKind kind, int shards, int[] keysOfShards) {

  /** All that there are: directories {@code savepoints-<layout and kind>/<backend>}. */
  static List<StoredSavepoint> all() throws IOException, URISyntaxException {
    URL here = StoredSavepoint.class.getResource("README.md");
    try (Stream<Path> files = Files.walk(Path.of(here.toURI()).getParent(), 3)) {
      List<Path> found =
          files.filter(file -> file.endsWith("_metadata")).map(Path::getParent).sorted().toList();
      List<StoredSavepoint> savepoints = new java.util.ArrayList<>();
      for (Path directory : found) {
        savepoints.add(read(directory));
      }
      return savepoints;
    }
  }

  private static StoredSavepoint read(Path directory) throws IOException {
    Properties contents = new Properties();
    try (Reader reader = Files.newBufferedReader(directory.resolveSibling("contents.properties"))) {
      contents.load(reader);
    }
    return new StoredSavepoint(
        directory,
        StoredKind.of(contents.getProperty("kind", StoredKind.PLAIN.id())),
        Integer.parseInt(contents.getProperty("shards")),
        Arrays.stream(contents.getProperty("keysOfShards").split(",", -1))
            .mapToInt(Integer::parseInt)
            .toArray());
  }

  /** The events that gave the savepoint, and as many more as show its contents. */
  EventScript script() {
    List<String> keys = keys();
    EventScript script = kind.script(keys);
    assertThat(script.size()).isEqualTo(saved());
    return kind.probe(script, keys);
  }

  /** How many events the savepoint has behind it. */
  int saved() {
    int keys = Arrays.stream(keysOfShards).sum();
    return keys + keys / 4;
  }

  private List<String> keys() {
    return kind.keys(shards, keysOfShards);
  }

  /** Restores it on a backend and asserts that it holds what it should. */
  void assertContents(TestCluster cluster, Backend backend) throws Exception {
    EventScript script = script();
    DedupTrial trial = new DedupTrial(script);
    JobClient job = trial.start(cluster, settings(backend, 2).fromForeign(directory, saved()));
    trial.valve.openTo(script.size());
    trial.await(script.size() - saved());
    if (kind == StoredKind.AUDIT) {
      assertCounts(cluster, cluster.stop(job, SavepointFormatType.CANONICAL, false), script);
    } else {
      cluster.cancel(job);
    }
    script.assertExactly(trial.outcomes, saved(), script.size());
  }

  /** A key that the audit had lost would count as new a second time. */
  private static void assertCounts(TestCluster cluster, Path savepoint, EventScript script)
      throws Exception {
    AuditCounts counts =
        DedupSavepoint.read(
                cluster.environment(new Configuration()), "firstseen", savepoint.toUri().toString())
            .orElseThrow()
            .audit();
    assertThat(counts.newKeys()).isEqualTo(script.count(0, script.size(), Outcome.ACCEPTED));
    assertThat(counts.falsePositives()).isZero();
  }

  /** A job that writes or reads it. */
  Settings settings(Backend backend, int parallelism) {
    Settings settings =
        Settings.of(backend, parallelism).dedup(dedup -> kind.dedup.apply(dedup).shards(shards));
    return kind == StoredKind.TTL_EVENT ? settings.timed() : settings;
  }

  @Override
  public String toString() {
    return directory.getParent().getFileName() + "/" + directory.getFileName();
  }
}
