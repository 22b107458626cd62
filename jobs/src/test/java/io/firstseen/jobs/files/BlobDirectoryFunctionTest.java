package io.firstseen.jobs.files;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.ShardTree;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.SnapshotRecord;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.StreamFlatMap;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

// Closing Flink's harness may throw InterruptedException.
@SuppressWarnings("try")
class BlobDirectoryFunctionTest {
  private static final String A = "a".repeat(64);
  private static final String B = "b".repeat(64);
  private static final Manifest MANIFEST =
      Manifest.of(
          "s",
          1,
          0,
          1,
          SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), 0.1),
          0,
          ShardTree.root(List.of(ShardTree.Leaf.NONE)),
          null,
          0);

  @TempDir private Path directory;
  private URI uri;
  private Path blobs;

  @BeforeEach
  void chooseADirectoryThatIsNotThere() {
    blobs = directory.resolve("deep/blobs");
    uri = URI.create("file://" + blobs);
  }

  private OneInputStreamOperatorTestHarness<SnapshotRecord, SnapshotRecord> start(
      OperatorSubtaskState state) throws Exception {
    var harness =
        new OneInputStreamOperatorTestHarness<SnapshotRecord, SnapshotRecord>(
            new StreamFlatMap<>(new BlobDirectoryFunction(uri)));
    if (state == null) {
      harness.initializeEmptyState();
    } else {
      harness.initializeState(state);
    }
    harness.open();
    return harness;
  }

  @ParameterizedTest
  @CsvSource({
    "gs://bucket/spam, gs, flink-gs-fs-hadoop",
    "s3://bucket/spam, s3, flink-s3-fs-hadoop",
    "abfs://c@a.dfs.core.windows.net/spam, abfs, flink-azure-fs-hadoop",
    "hdfs3://host/spam, hdfs3, the plugin that provides it"
  })
  void namesThePluginThatIsNotThere(URI elsewhere, String scheme, String plugin) {
    uri = elsewhere;
    assertThatThrownBy(() -> start(null).close())
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll(
            "--blob-dir " + elsewhere, "file system for " + scheme, plugin, "plugins/");
  }

  private static SnapshotRecord blob(String digest, String text) {
    return new SnapshotRecord(SnapshotRecord.Kind.BLOB, digest, text.getBytes(UTF_8));
  }

  private static SnapshotRecord removal(String digest) {
    return SnapshotRecord.removal(new BlobReference(digest, 3), BlobFrame.Kind.BASE);
  }

  private List<String> files() throws IOException {
    try (Stream<Path> files = Files.list(blobs)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void blobsAreThereBeforeTheManifestThatNamesTheDirectory() throws Exception {
    try (var harness = start(null)) {
      harness.processElement(blob(A, "one"), 0);
      assertThat(files()).containsExactly(A);
      assertThat(Files.readString(blobs.resolve(A))).isEqualTo("one");
      assertThat(harness.extractOutputValues()).isEmpty();
      harness.processElement(
          new SnapshotRecord(SnapshotRecord.Kind.MANIFEST, "s", MANIFEST.toBytes()), 0);
      assertThat(harness.extractOutputValues())
          .containsExactly(
              new SnapshotRecord(
                  SnapshotRecord.Kind.MANIFEST, "s", MANIFEST.withBlobs(uri).toBytes()));
    }
  }

  @Test
  void aDirectoryThatCannotBeCreatedFailsTheJobForGood() {
    assertThatThrownBy(() -> new BlobDirectoryFunction(URI.create("file:/proc/blobs")).open(null))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll("--blob-dir", "/proc/blobs", "no such file");
  }

  @Test
  void aJobWhoseBlobsLieElsewhereIsRefused() throws Exception {
    SnapshotRecord inUse = SnapshotRecord.inUse("s", List.of(A, B));
    try (var harness = start(null)) {
      harness.processElement(blob(A, "one"), 0);
      assertThatThrownBy(() -> harness.processElement(inUse, 0))
          .isInstanceOf(UserErrorException.class)
          .hasMessageContainingAll("set s", "2 blobs", "1 of them", uri.toString(), B);
    }
    Files.writeString(blobs.resolve(B), "two");
    try (var harness = start(null)) {
      harness.processElement(blob(A, "one"), 0);
      harness.processElement(inUse, 0);
      assertThat(harness.extractOutputValues()).isEmpty();
    }
  }

  @Test
  void writingABlobAgainChangesNothingAndMendsADamagedOne() throws Exception {
    try (var harness = start(null)) {
      harness.processElement(blob(A, "one"), 0);
      Object before = Files.readAttributes(blobs.resolve(A), "unix:ino").get("ino");
      harness.processElement(blob(A, "one"), 0);
      assertThat(Files.readAttributes(blobs.resolve(A), "unix:ino").get("ino")).isEqualTo(before);
      for (String damaged : List.of("on", "onE", "ones", "")) {
        Files.writeString(blobs.resolve(A), damaged);
        harness.processElement(blob(A, "one"), 0);
        assertThat(Files.readString(blobs.resolve(A))).isEqualTo("one");
      }
      assertThat(files()).containsExactly(A);
    }
  }

  @Test
  void aRemovedBlobGoesOnceNoFailureCanBringItBack() throws Exception {
    OperatorSubtaskState state;
    try (var harness = start(null)) {
      harness.processElement(blob(A, "one"), 0);
      harness.processElement(blob(B, "two"), 0);
      harness.processElement(removal(A), 0);
      state = harness.snapshot(1, 1);
      harness.notifyOfCompletedCheckpoint(1);
      assertThat(files()).as("its own checkpoint may be committed later").containsExactly(A, B);
      harness.processElement(removal(B), 0);
      harness.snapshot(2, 2);
      harness.notifyOfCompletedCheckpoint(2);
      assertThat(files()).containsExactly(B);
    }
    Files.writeString(blobs.resolve(A), "one");
    try (var harness = start(state)) {
      harness.snapshot(3, 3);
      harness.notifyOfCompletedCheckpoint(3);
      assertThat(files()).containsExactly(A, B);
      harness.snapshot(4, 4);
      harness.notifyOfCompletedCheckpoint(4);
      assertThat(files()).as("what the state holds is not forgotten").containsExactly(B);
      harness.snapshot(5, 5);
      harness.notifyOfCompletedCheckpoint(5);
      assertThat(files()).as("a missing file is ignored").containsExactly(B);
    }
  }

  /** A shard that has an earlier set again has the same base again. */
  @Test
  void whatIsWrittenAgainIsNotRemoved() throws Exception {
    OperatorSubtaskState state;
    try (var harness = start(null)) {
      harness.processElement(blob(A, "one"), 0);
      harness.processElement(blob(B, "two"), 0);
      harness.processElement(removal(A), 0);
      harness.processElement(removal(B), 0);
      state = harness.snapshot(1, 1);
      harness.processElement(blob(A, "one"), 0);
      harness.snapshot(2, 2);
      harness.notifyOfCompletedCheckpoint(2);
      assertThat(files()).containsExactly(A);
    }
    Files.writeString(blobs.resolve(B), "two");
    try (var harness = start(state)) {
      harness.processElement(blob(A, "one"), 0);
      harness.snapshot(3, 3);
      harness.snapshot(4, 4);
      harness.notifyOfCompletedCheckpoint(4);
      assertThat(files()).as("also after a restore").containsExactly(A);
    }
  }
}
