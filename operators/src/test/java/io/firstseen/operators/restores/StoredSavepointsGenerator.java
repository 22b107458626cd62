package io.firstseen.operators.restores;

import static org.assertj.core.api.Assumptions.assumeThat;

import io.firstseen.operators.restores.DedupTrial.Settings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Writes the savepoints of the current layout into the test resources. Runs only if asked for by
 * name; the resources' README has the command.
 */
class StoredSavepointsGenerator {
  /** Never changed once its layout is released: a new layout gets a new directory. */
  private static final String LAYOUT = "savepoints-v1";

  /** Nothing, a list, a page, several pages. */
  private static final int[] KEYS_OF_SHARDS = {0, 60, 700, 4_500};

  @RegisterExtension private static final TestCluster CLUSTER = new TestCluster();

  @Test
  void generate() throws Exception {
    assumeThat(System.getProperty("test")).isEqualTo(getClass().getSimpleName());
    Path layout =
        Path.of("src/test/resources", getClass().getPackageName().replace('.', '/'), LAYOUT);
    FileUtils.deleteDirectory(layout.toFile());
    Files.createDirectories(layout);
    Files.writeString(
        layout.resolve("contents.properties"),
        "shards=%d\nkeysOfShards=%s\n"
            .formatted(
                KEYS_OF_SHARDS.length,
                Arrays.stream(KEYS_OF_SHARDS)
                    .mapToObj(Integer::toString)
                    .collect(Collectors.joining(","))));
    for (Backend backend : Backend.values()) {
      StoredSavepoint stored =
          new StoredSavepoint(
              layout.resolve(backend.name().toLowerCase(Locale.ROOT)),
              KEYS_OF_SHARDS.length,
              KEYS_OF_SHARDS);
      DedupTrial trial = new DedupTrial(stored.script());
      JobClient job =
          trial.start(
              CLUSTER,
              Settings.of(backend, 1)
                  // As short identities as keep the model exact, for the files' sake.
                  .dedup(
                      dedup ->
                          dedup
                              .shards(KEYS_OF_SHARDS.length)
                              .capacity(10_000)
                              .falsePositiveRate(1e-6)));
      trial.play(stored.saved());
      Path savepoint = CLUSTER.stop(job, SavepointFormatType.CANONICAL, false);
      Files.createDirectory(stored.directory());
      try (Stream<Path> files = Files.list(savepoint)) {
        for (Path file : files.toList()) {
          Files.copy(file, stored.directory().resolve(file.getFileName()));
        }
      }
      stored.assertContents(CLUSTER, backend);
    }
  }
}
