package io.firstseen.operators.restores;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.operators.restores.DedupTrial.Settings;
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
import org.apache.flink.core.execution.JobClient;

/**
 * A canonical savepoint in the test resources. Its {@code contents.properties} says how many keys
 * each of its shards was given; the first quarter of all keys was deleted again.
 *
 * @param directory where it is
 * @param shards its number of shards
 * @param keysOfShards how many keys each shard was given
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record StoredSavepoint(Path directory, int shards, int[] keysOfShards) {

  /** All that there are: directories {@code savepoints-<layout>/<backend>}. */
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
        Integer.parseInt(contents.getProperty("shards")),
        Arrays.stream(contents.getProperty("keysOfShards").split(",", -1))
            .mapToInt(Integer::parseInt)
            .toArray());
  }

  /** The events that gave the savepoint, and as many more as show its contents. */
  EventScript script() {
    List<String> keys = keys();
    EventScript script = new EventScript();
    keys.forEach(script::add);
    keys.subList(0, keys.size() / 4).forEach(script::delete);
    assertThat(script.size()).isEqualTo(saved());
    return script.probe(keys, 1_000);
  }

  /** How many events the savepoint has behind it. */
  int saved() {
    int keys = Arrays.stream(keysOfShards).sum();
    return keys + keys / 4;
  }

  private List<String> keys() {
    return EventScript.keysOfShards("stored", shards, keysOfShards);
  }

  /** Restores it on a backend and asserts that it holds what it should. */
  void assertContents(TestCluster cluster, Backend backend) throws Exception {
    EventScript script = script();
    DedupTrial trial = new DedupTrial(script);
    JobClient job =
        trial.start(
            cluster,
            Settings.of(backend, 2)
                .fromForeign(directory, saved())
                .dedup(dedup -> dedup.shards(shards)));
    trial.valve.openTo(script.size());
    trial.await(script.size() - saved());
    cluster.cancel(job);
    script.assertExactly(trial.outcomes, saved(), script.size());
  }

  @Override
  public String toString() {
    return directory.getParent().getFileName() + "/" + directory.getFileName();
  }
}
