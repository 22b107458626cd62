package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SnapshotDirectoryTest {
  private static final SetParameters PARAMETERS =
      SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), 0.001);

  @TempDir Path root;
  private Path path;
  private SnapshotDirectory directory;

  @BeforeEach
  void open() {
    path = root.resolve("deep").resolve("snapshots");
    directory = new SnapshotDirectory(path);
  }

  @Test
  void hasTheDocumentedLayoutAndNothingElse() throws Exception {
    Snapshot snapshot = snapshot(3);
    directory.writeBlob(snapshot.digest(), snapshot.toBytes());
    Manifest manifest = manifest(7, snapshot);
    directory.writeManifest(manifest);
    assertThat(filesBelow(path))
        .containsExactlyInAnyOrder("blobs/" + snapshot.digest(), "manifest-0000000007.bin");
    assertThat(path.resolve("manifest-0000000007.bin")).hasBinaryContent(manifest.toBytes());
    assertThat(path.resolve("blobs").resolve(snapshot.digest()))
        .hasBinaryContent(snapshot.toBytes());
  }

  @Test
  void aLockHoldsInThisProcessAndForOthersAlsoAfterOneWasRefused() throws Exception {
    Closeable lock = directory.lock();
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> new SnapshotDirectory(path).lock())
          .isExactlyInstanceOf(SnapshotException.class)
          .hasMessageContainingAll("another job", path.toString());
    }
    assertThat(inAnotherProcess()).isEqualTo("another job writes snapshots into " + path);
    lock.close();
    Closeable next = directory.lock();
    lock.close();
    assertThatThrownBy(directory::lock).isExactlyInstanceOf(SnapshotException.class);
    next.close();
    assertThat(inAnotherProcess()).isEqualTo("locked");
  }

  @Test
  void anAttemptDoesNotReleaseALockOfAnotherClassLoader() throws Exception {
    directory.lock().close();
    try (FileChannel other = FileChannel.open(path.resolve(".lock"), StandardOpenOption.WRITE);
        FileLock held = other.lock()) {
      for (int i = 0; i < 2; i++) {
        assertThatThrownBy(directory::lock).isExactlyInstanceOf(SnapshotException.class);
      }
      assertThat(inAnotherProcess()).isEqualTo("another job writes snapshots into " + path);
      assertThat(held.isValid()).isTrue();
    }
    directory.lock().close();
  }

  private String inAnotherProcess() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Locking.class.getName(),
                path.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).isZero();
    return said.strip();
  }

  /** Locks a directory and reports it. */
  static final class Locking {
    private Locking() {}

    public static void main(String[] words) throws IOException {
      try {
        new SnapshotDirectory(Path.of(words[0])).lock().close();
        System.out.println("locked");
      } catch (SnapshotException e) {
        System.out.println(e.getMessage());
      }
    }
  }

  @Test
  void namesFilesAlikeWhereverItRuns() throws Exception {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.forLanguageTag("fa-IR"));
    try {
      assertThat(String.format("%d", 7)).as("digits of another script").isNotEqualTo("7");
      directory.writeManifest(manifest(7, null));
      assertThat(filesBelow(path)).containsExactly("manifest-0000000007.bin");
      assertThat(directory.latest().sequence()).isEqualTo(7);
    } finally {
      Locale.setDefault(before);
    }
  }

  @Test
  void ordersManifestsBySequenceAndIgnoresOtherFiles() throws Exception {
    for (long sequence : new long[] {20, 3, 12_345_678_901L, 0}) {
      directory.writeManifest(manifest(sequence, null));
    }
    for (String other :
        List.of(
            "manifest-9.bin",
            "manifest-00000000099.bin",
            "manifest-9999999999999999999.bin",
            ".manifest-0000000099.bin.tmp",
            "notes")) {
      Files.writeString(path.resolve(other), "{}");
    }
    assertThat(directory.sequences()).containsExactly(0L, 3L, 20L, 12_345_678_901L);
    assertThat(directory.latest().sequence()).isEqualTo(12_345_678_901L);
    assertThat(directory.manifest(3)).isEqualTo(manifest(3, null));
  }

  @Test
  void keepsTheBytesOfAPublishedManifest() throws Exception {
    byte[] bytes = SigningKey.generate().sign(manifest(4, null)).toBytes();
    assertThat(directory.writeManifest(bytes)).isEqualTo(Manifest.read(bytes));
    assertThat(path.resolve("manifest-0000000004.bin")).hasBinaryContent(bytes);
    assertThat(directory.manifestBytes(4)).isEqualTo(bytes);
    assertThatThrownBy(() -> directory.writeManifest(new byte[] {'{'}))
        .isInstanceOf(MalformedSnapshotException.class);
    assertThat(directory.sequences()).containsExactly(4L);
  }

  /** A reader that has the old file open keeps it: the new one is another file. */
  @Test
  void writingAgainReplacesTheFileAndLeavesReadersTheirs() throws Exception {
    Snapshot snapshot = snapshot(1000);
    directory.writeBlob(snapshot.digest(), snapshot.toBytes());
    Path blob = path.resolve("blobs").resolve(snapshot.digest());
    Snapshot reader = Snapshot.read(blob);
    byte[] damaged = {1, 2, 3};
    Files.delete(blob);
    Files.write(blob, damaged);
    try (InputStream readerOfDamaged = Files.newInputStream(blob)) {
      directory.writeBlob(snapshot.digest(), snapshot.toBytes());
      assertThat(readerOfDamaged.readAllBytes()).isEqualTo(damaged);
    }
    assertThat(blob).hasBinaryContent(snapshot.toBytes());
    Files.delete(blob);
    reader.verify();
    assertThat(reader.toBytes()).isEqualTo(snapshot.toBytes());
  }

  @Test
  void refusesABlobUnderAnotherDigest() {
    String other = Sha256.hex(new byte[] {1});
    assertThatThrownBy(() -> directory.writeBlob(other, new byte[] {2}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("under its digest " + Sha256.hex(new byte[] {2}));
    assertThatThrownBy(() -> directory.writeBlob("../../etc/passwd", new byte[] {2}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("64 lower-case hexadecimal digits");
    assertThat(path).doesNotExist();
  }

  @Test
  void saysWhyItCannotWrite() throws Exception {
    Files.writeString(root.resolve("deep"), "a file where a directory should be");
    assertThatThrownBy(() -> directory.writeManifest(manifest(1, null)))
        .isExactlyInstanceOf(SnapshotException.class)
        .hasMessageStartingWith("cannot write " + path.resolve("manifest-0000000001.bin") + ": ")
        .hasMessageEndingWith("Not a directory");
  }

  @Test
  void saysThatAFileStandsInTheWay() throws Exception {
    Files.createDirectories(path);
    Path blobs = Files.writeString(path.resolve("blobs"), "");
    Snapshot snapshot = snapshot(1);
    assertThatThrownBy(() -> directory.writeBlob(snapshot.digest(), snapshot.toBytes()))
        .isExactlyInstanceOf(SnapshotException.class)
        .hasMessageEndingWith(blobs + " is not a directory");
  }

  @Test
  void removesWhatItCouldNotFinish() throws Exception {
    Files.createDirectories(path.resolve("manifest-0000000001.bin").resolve("in the way"));
    assertThatThrownBy(() -> directory.writeManifest(manifest(1, null)))
        .isExactlyInstanceOf(SnapshotException.class);
    assertThat(path.resolve(".manifest-0000000001.bin.tmp")).doesNotExist();
  }

  @Test
  void refusesAManifestUnderAnotherSequence() throws Exception {
    Files.createDirectories(path);
    Path file = path.resolve("manifest-0000000002.bin");
    Files.write(file, manifest(1, null).toBytes());
    assertThatThrownBy(() -> directory.latest())
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageContainingAll(file + ": ", "sequence", "file's name", "got 1");
    Files.writeString(file, "no manifest");
    assertThatThrownBy(() -> directory.latest())
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageContainingAll(file + ": ", "manifest", "magic number");
  }

  private static Snapshot snapshot(int count) {
    long[] hashes = new long[count];
    for (int i = 0; i < count; i++) {
      hashes[i] = i * 0x9E3779B97F4A7C15L;
    }
    return Snapshot.build(hashes, new SnapshotParameters(PARAMETERS, "test", 0, 0, 0, 1000));
  }

  /** A manifest whose newest pack is a blob; without one, of a set that never held a key. */
  private static Manifest manifest(long sequence, Snapshot blob) {
    return Manifest.of(
        "test",
        sequence,
        0,
        1000,
        PARAMETERS,
        0,
        ShardTree.root(List.of(ShardTree.Leaf.NONE)),
        blob == null ? null : BlobReference.to(blob.toBytes()),
        blob == null ? 0 : blob.toBytes().length);
  }

  private static Set<String> filesBelow(Path path) throws IOException {
    try (Stream<Path> files = Files.walk(path)) {
      return files
          .filter(Files::isRegularFile)
          .map(file -> path.relativize(file).toString())
          .collect(Collectors.toSet());
    }
  }
}
