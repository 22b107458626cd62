package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SnapshotSetTest {
  private static final SetParameters PARAMETERS =
      SetParameters.of(KeyHash.fixed(), Canonicaliser.URL, new Shards(4), 0.001);

  @TempDir Path directory;
  private final PublishedSet publisher = new PublishedSet("test", PARAMETERS);

  @Test
  void answersForAllShardsOfADirectory() throws Exception {
    publish(1, "http://example.com/a", "http://example.com/b");
    publish(2, "http://example.com/a", "http://example.com/c");
    SnapshotSet newest = SnapshotSet.openDirectory(directory, OptionalLong.empty());
    newest.verify();
    assertThat(newest.manifest().sequence()).isEqualTo(2);
    assertThat(newest.manifest().count()).isEqualTo(2);
    assertThat(contains(newest, "HTTP://EXAMPLE.com:80/c")).isTrue();
    assertThat(contains(newest, "http://example.com/b")).isFalse();
    SnapshotSet first = SnapshotSet.openDirectory(directory, OptionalLong.of(1));
    assertThat(contains(first, "http://example.com/b")).isTrue();
    assertThat(contains(first, "http://example.com/c")).isFalse();
  }

  @Test
  void readsBlobsWhereTheManifestSaysThatTheyAre(@TempDir Path elsewhere) throws Exception {
    Manifest manifest = publish(1, "http://example.com/a");
    Path blobs = Files.move(directory.resolve("blobs"), elsewhere.resolve("blobs"));
    new SnapshotDirectory(directory).writeManifest(manifest.withBlobs(blobs.toUri()));
    SnapshotSet set = SnapshotSet.openDirectory(directory, OptionalLong.empty());
    assertThat(contains(set, "http://example.com/a")).isTrue();
  }

  @Test
  void keepsScopesApart() throws Exception {
    publish(1, "http://example.com/a");
    SnapshotSet set = SnapshotSet.openDirectory(directory, OptionalLong.empty());
    byte[] key = utf8("http://example.com/a");
    assertThat(set.mightContainKey(new byte[0], key, KeyHash.fixed())).isTrue();
    assertThat(set.mightContainKey(utf8("tenant"), key, KeyHash.fixed())).isFalse();
  }

  @Test
  void refusesAnotherHashKeyAndAnInvalidKey() throws Exception {
    publish(1, "http://example.com/a");
    SnapshotSet set = SnapshotSet.openDirectory(directory, OptionalLong.empty());
    byte[] key = utf8("http://example.com/a");
    assertThatThrownBy(() -> set.mightContainKey(key, KeyHash.sipHash24(new byte[16])))
        .isInstanceOf(HashKeyMismatchException.class)
        .hasMessageStartingWith("the set is hashed by siphash-2-4 with key check ");
    assertThatThrownBy(() -> set.mightContainKey(key, KeyHash.xxh3(0)))
        .isInstanceOf(HashKeyMismatchException.class)
        .hasMessageContaining("the configured hash is xxh3-64 with key check ");
    assertThatThrownBy(() -> set.mightContainKey(new byte[0], KeyHash.fixed()))
        .isInstanceOf(InvalidKeyException.class);
  }

  @Test
  void refusesAnotherVersionOfTheCanonicaliser() {
    SetParameters newer =
        new SetParameters(
            KeyHash.Algorithm.SIPHASH_2_4,
            KeyHash.fixed().keyCheck(),
            Canonicaliser.URL,
            Canonicaliser.URL.version() + 1,
            new Shards(1),
            0.001);
    assertThatThrownBy(() -> newer.hash(null, utf8("http://example.com/"), KeyHash.fixed()))
        .isInstanceOf(UnsupportedSnapshotException.class)
        .hasMessageContaining(
            "version 4 of the canonicaliser url, the newest of this program is version 3");
  }

  @Test
  void saysWhatIsMissing() throws Exception {
    Path nowhere = directory.resolve("nowhere");
    assertThatThrownBy(() -> SnapshotSet.openDirectory(nowhere, OptionalLong.empty()))
        .isExactlyInstanceOf(SnapshotException.class)
        .hasMessageContaining("no snapshot directory " + nowhere);
    assertThatThrownBy(() -> SnapshotSet.openDirectory(directory, OptionalLong.empty()))
        .isExactlyInstanceOf(SnapshotException.class)
        .hasMessageContaining("no manifest in " + directory);
    Manifest manifest = publish(3, "http://example.com/a");
    assertThatThrownBy(() -> SnapshotSet.openDirectory(directory, OptionalLong.of(4)))
        .isExactlyInstanceOf(SnapshotException.class)
        .hasMessageContainingAll("sequence 4 in " + directory, "from 3 to 3");
    BlobReference base = publisher.list().bases().get(0);
    for (BlobReference blob : List.of(base, publisher.listReference(), manifest.pack())) {
      Files.delete(fileOf(blob));
      assertThatThrownBy(() -> SnapshotSet.openDirectory(directory, OptionalLong.empty()))
          .isInstanceOf(MissingBlobsException.class)
          .hasMessageContainingAll(blob.digest(), "missing");
    }
  }

  @Test
  void answersEachOfManyHashesLikeOneByOne() throws Exception {
    String[] urls =
        IntStream.range(0, 500).mapToObj(i -> "http://example.com/" + i).toArray(String[]::new);
    publish(1, urls);
    publish(2, urls[7], urls[8]);
    for (long sequence = 1; sequence <= 2; sequence++) {
      SnapshotSet set = SnapshotSet.openDirectory(directory, OptionalLong.of(sequence));
      long[] hashes = new long[1001];
      Arrays.setAll(hashes, i -> i * 0x9E3779B97F4A7C15L);
      for (int i = 0; i < 500; i++) {
        hashes[2 * i] = PARAMETERS.hash(null, utf8(urls[i]), KeyHash.fixed());
      }
      boolean[] expected = new boolean[hashes.length];
      for (int i = 3; i < 1000; i++) {
        expected[i] = set.mightContain(hashes[i]);
      }
      boolean[] found = new boolean[hashes.length];
      set.mightContainEach(hashes, 3, 1000, found);
      assertThat(found).isEqualTo(expected).contains(true, false);
    }
  }

  @Test
  void refusesADamagedBlob() throws Exception {
    Manifest manifest = publish(1, "http://example.com/a");
    BlobReference base = publisher.list().bases().get(0);
    for (BlobReference reference : List.of(base, publisher.listReference(), manifest.pack())) {
      Path blob = fileOf(reference);
      byte[] bytes = Files.readAllBytes(blob);
      bytes[bytes.length - 1] ^= 1;
      Files.write(blob, bytes);
      assertThatThrownBy(() -> SnapshotSet.openDirectory(directory, OptionalLong.empty()))
          .isInstanceOf(MalformedSnapshotException.class)
          .hasMessageStartingWith(
              "blob " + reference.digest() + " is damaged: its bytes have the digest ");
      Files.write(blob, Arrays.copyOf(bytes, bytes.length - 1));
      assertThatThrownBy(() -> SnapshotSet.openDirectory(directory, OptionalLong.empty()))
          .isInstanceOf(MalformedSnapshotException.class)
          .hasMessageContaining(" bytes, got " + (bytes.length - 1));
    }
  }

  @Test
  void refusesABlobOfAnotherSet() throws Exception {
    Manifest manifest = publish(1, "http://example.com/a");
    Manifest renamed = renamed(manifest);
    assertThatThrownBy(() -> SnapshotSet.open(renamed, publisher))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageContainingAll(manifest.pack().digest(), "'other'", "'test'");
  }

  private static Manifest renamed(Manifest manifest) {
    return Manifest.of(
        "other",
        manifest.sequence(),
        0,
        1000,
        PARAMETERS,
        manifest.count(),
        manifest.root(),
        manifest.pack(),
        manifest.packBytes());
  }

  @Test
  void takesOpenSnapshotsOfTheSetAlone() throws Exception {
    Manifest manifest = publish(1, "http://example.com/a", "http://example.com/b");
    Snapshot[] snapshots = publisher.snapshots();
    SnapshotSet set = SnapshotSet.of(manifest, snapshots);
    assertThat(set.manifest()).isEqualTo(manifest);
    assertThat(contains(set, "http://example.com/a")).isTrue();
    assertThat(contains(set, "http://example.com/c")).isFalse();
    int shard = 0;
    while (snapshots[shard] == null) {
      shard++;
    }
    assertThatThrownBy(() -> SnapshotSet.of(renamed(manifest), snapshots))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageContainingAll("shard " + shard, "parameters of the manifest");
    assertThatThrownBy(() -> SnapshotSet.of(manifest, new Snapshot[4]))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageStartingWith(
            "the shards must have the root of the manifest, " + manifest.root() + ", got ");
    assertThatThrownBy(() -> SnapshotSet.of(manifest, new Snapshot[8]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("4 snapshots", "got 8");
    Snapshot[] moved = new Snapshot[4];
    moved[(shard + 1) % 4] = snapshots[shard];
    assertThatThrownBy(() -> SnapshotSet.of(manifest, moved))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageContaining("must have the parameters of the manifest");
    snapshots[shard] = null;
    assertThat(contains(set, "http://example.com/a")).as("the caller's array").isTrue();
    set.snapshots()[shard] = null;
    assertThat(contains(set, "http://example.com/a")).isTrue();
  }

  @Test
  void readsAHeaderFromTheBeginningOfAFile() throws Exception {
    byte[] bytes =
        Snapshot.build(new long[] {1L << 62}, SnapshotTest.parameters(4, 1, 0.1)).toBytes();
    SnapshotHeader header = Snapshot.read(bytes).header();
    ByteBuffer beginning = ByteBuffer.wrap(bytes, 0, bytes.length - 1);
    assertThat(SnapshotHeader.read(beginning)).isEqualTo(header);
    assertThatThrownBy(() -> SnapshotHeader.read(ByteBuffer.wrap(bytes, 0, 100)))
        .isInstanceOf(MalformedSnapshotException.class);
  }

  @Test
  void aPrunedDirectoryHasWhatItsManifestsNeed() throws Exception {
    publisher.newList = (since, bytes) -> true;
    for (int window = 1; window <= 20; window++) {
      publish(window, "http://example.com/a", "http://example.com/" + window);
    }
    Set<String> needed = publisher.needed();
    SnapshotDirectory target = new SnapshotDirectory(directory);
    int all = publisher.blobs().size();
    SnapshotDirectory.Pruned pruned = target.keepNewest(1);
    assertThat(pruned.manifests()).isEqualTo(19);
    assertThat(pruned.blobs()).isEqualTo(all - needed.size()).isPositive();
    assertThat(target.sequences()).containsExactly(20L);
    try (Stream<Path> left = Files.list(directory.resolve("blobs"))) {
      assertThat(left.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrderElementsOf(needed);
    }
    SnapshotSet set = SnapshotSet.openDirectory(directory, OptionalLong.empty());
    set.verify();
    assertThat(contains(set, "http://example.com/20")).isTrue();
    assertThat(contains(set, "http://example.com/19")).isFalse();
    assertThat(target.keepNewest(1)).isEqualTo(new SnapshotDirectory.Pruned(0, 0));
  }

  @Test
  void aClearedDirectoryKeepsWhatIsNotOurs() throws Exception {
    SnapshotDirectory target = new SnapshotDirectory(directory);
    target.clear();
    publish(1, "http://example.com/a");
    publish(2, "http://example.com/b");
    Path strange = Files.writeString(directory.resolve("notes.txt"), "mine");
    Path strangeBlob = Files.writeString(directory.resolve("blobs").resolve("README"), "mine");
    target.clear();
    assertThat(target.sequences()).isEmpty();
    try (Stream<Path> left = Files.walk(directory)) {
      assertThat(left.filter(Files::isRegularFile)).containsExactlyInAnyOrder(strange, strangeBlob);
    }
  }

  private Manifest publish(long sequence, String... urls) throws Exception {
    List<Long> hashes = new ArrayList<>();
    for (String url : urls) {
      hashes.add(PARAMETERS.hash(null, utf8(url), KeyHash.fixed()));
    }
    Manifest manifest = publisher.window(sequence, hashes);
    SnapshotDirectory target = new SnapshotDirectory(directory);
    for (Map.Entry<String, byte[]> blob : publisher.blobs().entrySet()) {
      target.writeBlob(blob.getKey(), blob.getValue());
    }
    target.writeManifest(manifest);
    return manifest;
  }

  private Path fileOf(BlobReference blob) {
    return directory.resolve("blobs").resolve(blob.digest());
  }

  private static boolean contains(SnapshotSet set, String url) throws Exception {
    return set.mightContainKey(utf8(url), KeyHash.fixed());
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
