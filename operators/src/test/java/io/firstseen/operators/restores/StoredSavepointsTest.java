package io.firstseen.operators.restores;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.operators.dedup.DedupSavepoint;
import java.nio.file.Files;
import java.util.List;
import java.util.Locale;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A job can resume from every stored savepoint, on both backends. */
class StoredSavepointsTest {
  @RegisterExtension private static final TestCluster CLUSTER = new TestCluster();

  static List<StoredSavepoint> savepoints() throws Exception {
    return StoredSavepoint.all();
  }

  private static Backend origin(StoredSavepoint savepoint) {
    return Backend.valueOf(savepoint.directory().getFileName().toString().toUpperCase(Locale.ROOT));
  }

  @ParameterizedTest
  @MethodSource("savepoints")
  void holdsWhatWasPutInOnTheOtherBackend(StoredSavepoint savepoint) throws Exception {
    savepoint.assertContents(CLUSTER, origin(savepoint).other());
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("savepoints")
  void holdsWhatWasPutInOnItsOwnBackend(StoredSavepoint savepoint) throws Exception {
    savepoint.assertContents(CLUSTER, origin(savepoint));
  }

  /** A text has 33 or 19 identities. */
  @Test
  void theSummaryCountsTexts() throws Exception {
    for (StoredSavepoint savepoint : StoredSavepoint.all()) {
      if (savepoint.kind().isOfTexts()) {
        DedupSavepoint read =
            DedupSavepoint.read(
                    CLUSTER.environment(new Configuration()),
                    "firstseen",
                    savepoint.directory().toUri().toString())
                .orElseThrow();
        assertThat(read.keys()).as(savepoint.toString()).isEqualTo(225);
      }
    }
  }

  @Test
  void everyLayoutIsThereFromBothBackendsAndNamesNothingOutsideItsDirectory() throws Exception {
    List<StoredSavepoint> savepoints = StoredSavepoint.all();
    assertThat(savepoints).extracting(StoredSavepoint::kind).contains(StoredKind.values());
    for (StoredSavepoint savepoint : savepoints) {
      for (Backend backend : Backend.values()) {
        assertThat(savepoint.directory().resolveSibling(backend.name().toLowerCase(Locale.ROOT)))
            .isDirectoryContaining("glob:**/_metadata");
      }
      assertThat(Files.readString(savepoint.directory().resolve("_metadata"), ISO_8859_1))
          .doesNotContain("file:", "/savepoint-");
    }
  }
}
