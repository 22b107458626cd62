package io.firstseen.jobs.files;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Sha256;
import io.firstseen.filters.snapshot.ShardTree;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.serializers.SnapshotRecord;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.streaming.api.operators.StreamFlatMap;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A file's name outlasts a power cut only if the directory was synced after the move. */
// Closing Flink's harness may throw InterruptedException.
@SuppressWarnings("try")
@DisabledOnOs(OS.WINDOWS)
class SyncedDirectoriesTest {
  private static final byte[] BYTES = "one".getBytes(UTF_8);

  @TempDir private Path root;

  @Test
  void ofSnapshots() throws Exception {
    Path path = root.resolve("deep").resolve("snapshots");
    Path blobs = path.resolve("blobs");
    SnapshotDirectory directory = new SnapshotDirectory(path);
    String digest = Sha256.hex(BYTES);
    assertThat(SyncedPaths.during(() -> directory.writeBlob(digest, BYTES)))
        .contains(root, root.resolve("deep"), path)
        .endsWith(blobs.resolve("." + digest + ".tmp"), blobs);
    assertThat(SyncedPaths.during(() -> directory.writeBlob(digest, BYTES)))
        .containsExactly(blobs.resolve("." + digest + ".tmp"), blobs);
    SetParameters parameters =
        SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), 0.1);
    String root = ShardTree.root(List.of(ShardTree.Leaf.NONE));
    Manifest manifest = Manifest.of("s", 7, 0, 1, parameters, 0, root, null, 0);
    assertThat(SyncedPaths.during(() -> directory.writeManifest(manifest)))
        .containsExactly(path.resolve(".manifest-0000000007.bin.tmp"), path);
  }

  @Test
  void ofBlobs() throws Exception {
    Path blobs = root.resolve("deep").resolve("blobs");
    URI uri = URI.create("file://" + blobs);
    String digest = Sha256.hex(BYTES);
    try (var harness =
        new OneInputStreamOperatorTestHarness<SnapshotRecord, SnapshotRecord>(
            new StreamFlatMap<>(new BlobDirectoryFunction(uri)))) {
      harness.initializeEmptyState();
      assertThat(SyncedPaths.during(harness::open)).contains(root, root.resolve("deep"));
      assertThat(
              SyncedPaths.during(
                  () ->
                      harness.processElement(
                          new SnapshotRecord(SnapshotRecord.Kind.BLOB, digest, BYTES), 0)))
          .endsWith(blobs);
    }
  }

  @Test
  void ofOutput() throws Exception {
    try (OutputFile file = new OutputFile(root.resolve("f"))) {
      file.write(BYTES);
      assertThat(SyncedPaths.during(file::complete))
          .containsExactly(root.resolve("f.partial"), root);
    }
  }
}
