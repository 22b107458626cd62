package io.firstseen.operators.restores;

import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Writes those savepoints of the current layout into the test resources that are not there. Runs
 * only if asked for by name; the resources' README has the command.
 */
class StoredSavepointsGenerator {
  /** Never changed once its layout is released: a new layout gets a new directory. */
  private static final String LAYOUT = "savepoints-v1";

  /** With a log, from RocksDB. */
  private static final String LAYOUT_WITH_LOG = "savepoints-v2";

  private static final Set<StoredKind> KINDS_WITH_LOG =
      EnumSet.of(StoredKind.PLAIN, StoredKind.TTL_EVENT);

  /** Nothing, a list, a page, several pages. */
  private static final int[] KEYS_OF_SHARDS = {0, 60, 700, 4_500};

  /** As above, except for the last page, which is wide. */
  private static final int[] FEWER_KEYS_OF_SHARDS = {0, 60, 700, 1_500};

  /** All in the shard of the texts without a scope. */
  private static final int[] TEXTS_OF_SHARDS = {300, 0};

  @RegisterExtension private static final TestCluster CLUSTER = new TestCluster();

  @Test
  void generate() throws Exception {
    assumeThat(System.getProperty("test")).isEqualTo(getClass().getSimpleName());
    Path resources = Path.of("src/test/resources", getClass().getPackageName().replace('.', '/'));
    generate(resources, LAYOUT, EnumSet.allOf(StoredKind.class));
    generate(resources, LAYOUT_WITH_LOG, KINDS_WITH_LOG);
  }

  private static void generate(Path resources, String name, Set<StoredKind> kinds)
      throws Exception {
    for (StoredKind kind : kinds) {
      boolean plain = kind == StoredKind.PLAIN;
      Path layout = resources.resolve(plain ? name : name + "-" + kind.id());
      if (Files.notExists(layout)) {
        generate(
            layout,
            kind,
            plain ? KEYS_OF_SHARDS : kind.isOfTexts() ? TEXTS_OF_SHARDS : FEWER_KEYS_OF_SHARDS);
      }
    }
  }

  private static void generate(Path layout, StoredKind kind, int[] keysOfShards) throws Exception {
    Files.createDirectories(layout);
    Files.writeString(
        layout.resolve("contents.properties"),
        "kind=%s\nshards=%d\nkeysOfShards=%s\n"
            .formatted(
                kind.id(),
                keysOfShards.length,
                Arrays.stream(keysOfShards)
                    .mapToObj(Integer::toString)
                    .collect(Collectors.joining(","))));
    for (Backend backend : Backend.values()) {
      StoredSavepoint stored =
          new StoredSavepoint(
              layout.resolve(backend.name().toLowerCase(Locale.ROOT)),
              kind,
              keysOfShards.length,
              keysOfShards);
      DedupTrial trial = new DedupTrial(stored.script());
      JobClient job = trial.start(CLUSTER, stored.settings(backend, 1));
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
