package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.gcs.Universe;
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
import java.util.OptionalLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SnapshotSetTest {
  private static final Universe UNIVERSE = new Universe(1, 1 << 20);
  private static final SetParameters PARAMETERS =
      SetParameters.of(KeyHash.fixed(), Canonicaliser.URL, new Shards(4), 0.001);

  @TempDir Path directory;

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
        .hasMessageContaining("version 2 of the canonicaliser url, this program has version 1");
  }

  @Test
  void saysWhatIsMissing() throws Exception {
    Path nowhere = directory.resolve("nowhere");
    assertThatThrownBy(() -> SnapshotSet.openDirectory(nowhere, OptionalLong.empty()))
        .isExactlyInstanceOf(SnapshotException.class)
        .hasMessage("there is no snapshot directory " + nowhere);
    assertThatThrownBy(() -> SnapshotSet.openDirectory(directory, OptionalLong.empty()))
        .isExactlyInstanceOf(SnapshotException.class)
        .hasMessage("there is no manifest in " + directory);
    Manifest manifest = publish(3, "http://example.com/a");
    assertThatThrownBy(() -> SnapshotSet.openDirectory(directory, OptionalLong.of(4)))
        .isExactlyInstanceOf(SnapshotException.class)
        .hasMessage(
            "there is no manifest of sequence 4 in " + directory + "; there are 1, from 3 to 3");
    Path blob = blobOf(manifest);
    Files.delete(blob);
    assertThatThrownBy(() -> SnapshotSet.openDirectory(directory, OptionalLong.empty()))
        .isExactlyInstanceOf(SnapshotException.class)
        .hasMessage("cannot read " + blob + ": there is no such file");
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
    Path blob = blobOf(manifest);
    byte[] bytes = Files.readAllBytes(blob);
    bytes[bytes.length - 1] ^= 1;
    Files.write(blob, bytes);
    assertThatThrownBy(() -> SnapshotSet.openDirectory(directory, OptionalLong.empty()))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageContaining(blob.getFileName() + " of shard ")
        .hasMessageContaining("is damaged: its bytes have the digest ");
    Files.write(blob, Arrays.copyOf(bytes, bytes.length - 1));
    assertThatThrownBy(() -> SnapshotSet.openDirectory(directory, OptionalLong.empty()))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageContaining(" bytes, got " + (bytes.length - 1));
  }

  @Test
  void refusesABlobOfAnotherSet() throws Exception {
    Manifest manifest = publish(1, "http://example.com/a");
    Manifest renamed = Manifest.of("other", 1, 0, 1000, manifest.parameters(), manifest.shards());
    assertThatThrownBy(() -> SnapshotSet.open(renamed, new SnapshotDirectory(directory)::blob))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageContaining("must have the set name of the manifest, other, got test");
  }

  @Test
  void reusesOpenSnapshotsOfAnEarlierManifest() throws Exception {
    Manifest first = publish(1, "http://example.com/a");
    SnapshotSet opened = SnapshotSet.openDirectory(directory, OptionalLong.empty());
    Manifest second = Manifest.of("test", 2, 1000, 2000, PARAMETERS, first.shards());
    SnapshotSet reused = SnapshotSet.of(second, opened::snapshot);
    assertThat(reused.manifest()).isEqualTo(second);
    assertThat(contains(reused, "http://example.com/a")).isTrue();
    assertThat(contains(reused, "http://example.com/b")).isFalse();
    Manifest renamed = Manifest.of("other", 2, 1000, 2000, PARAMETERS, first.shards());
    assertThatThrownBy(() -> SnapshotSet.of(renamed, opened::snapshot))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageContaining("must have the set name of the manifest, other, got test");
    assertThatThrownBy(() -> SnapshotSet.of(second, shard -> null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("there must be a snapshot of every shard with keys");
  }

  @Test
  void readsAHeaderFromTheBeginningOfAFile() throws Exception {
    Manifest manifest = publish(1, "http://example.com/a");
    byte[] bytes = Files.readAllBytes(blobOf(manifest));
    SnapshotHeader header = Snapshot.read(bytes).header();
    ByteBuffer beginning = ByteBuffer.wrap(bytes, 0, bytes.length - 1);
    assertThat(SnapshotHeader.read(beginning)).isEqualTo(header);
    assertThatThrownBy(() -> SnapshotHeader.read(ByteBuffer.wrap(bytes, 0, 100)))
        .isInstanceOf(MalformedSnapshotException.class);
  }

  @Test
  void followsChainsOfDeltas() throws Exception {
    Manifest first = publish(1, "http://example.com/a", "http://example.com/b");
    Manifest second =
        publishDeltas(first, 2, List.of("http://example.com/a", "http://example.com/c"));
    Manifest third =
        publishDeltas(second, 3, List.of("http://example.com/c", "http://example.com/d"));
    assertThat(third.shards().stream().mapToInt(shard -> shard.deltas().size()).sum())
        .isGreaterThan(2);
    SnapshotSet set = SnapshotSet.openDirectory(directory, OptionalLong.empty());
    set.verify();
    assertThat(set.manifest()).isEqualTo(third);
    assertThat(contains(set, "http://example.com/a")).isFalse();
    assertThat(contains(set, "http://example.com/c")).isTrue();
    assertThat(contains(set, "http://example.com/d")).isTrue();
    SnapshotSet before = SnapshotSet.openDirectory(directory, OptionalLong.of(2));
    assertThat(contains(before, "http://example.com/a")).isTrue();
    assertThat(contains(before, "http://example.com/b")).isFalse();
  }

  @Test
  void refusesDeltasThatAreNotWhatTheManifestSays() throws Exception {
    Manifest first = publish(1, "http://example.com/a");
    Manifest second = publishDeltas(first, 2, List.of("http://example.com/b"));
    BlobLoader loader = new SnapshotDirectory(directory)::blob;
    ManifestShard changed =
        second.shards().stream().filter(shard -> !shard.deltas().isEmpty()).findFirst().get();
    BlobReference delta = changed.newest();
    // A base where the delta should be.
    assertThatThrownBy(
            () ->
                SnapshotSet.open(
                    second, blob -> loader.load(blob.isDelta() ? changed.base() : blob)))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageContaining("blob " + delta.digest() + " of shard " + changed.shard() + " must");
    BlobReference swapped =
        new BlobReference(
            changed.base().digest(),
            changed.base().bytes(),
            delta.count(),
            delta.setDigest(),
            delta.parentSetDigest(),
            delta.sequence());
    assertThatThrownBy(() -> SnapshotSet.open(withDelta(second, changed, swapped), loader))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageContaining("this is a snapshot; a delta is needed");
    BlobReference renumbered =
        new BlobReference(
            delta.digest(),
            delta.bytes(),
            delta.count(),
            delta.setDigest(),
            delta.parentSetDigest(),
            changed.base().sequence() + 2);
    assertThatThrownBy(() -> SnapshotSet.open(withDelta(second, changed, renumbered), loader))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageContaining("must have the sequence of the manifest, 3, got 2");
    SnapshotSet old = SnapshotSet.openDirectory(directory, OptionalLong.of(1));
    SnapshotSet current = SnapshotSet.openDirectory(directory, OptionalLong.of(2));
    assertThatThrownBy(
            () ->
                SnapshotSet.of(
                    second, shard -> (shard == changed.shard() ? old : current).snapshot(shard)))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageContaining("must have the ");
  }

  @Test
  void provesBasesAndChains() throws Exception {
    Manifest first = publish(1, "http://example.com/a", "http://example.com/b");
    Manifest second = publishDeltas(first, 2, List.of("http://example.com/b"));
    BlobLoader loader = new SnapshotDirectory(directory)::blob;
    ManifestBlobs.verify(second, loader);
    ManifestShard changed =
        second.shards().stream().filter(shard -> !shard.deltas().isEmpty()).findFirst().get();
    Snapshot parent = SnapshotSet.open(first, loader).snapshot(changed.shard());
    SnapshotHeader to = SnapshotDelta.read(bytesOf(changed.newest(), loader)).header();
    // A delta that leads to another set than it says.
    SnapshotDeltaWriter wrong =
        new SnapshotDeltaWriter(
            to.parameters(), to.universe(), parent.header().count(), to.parentDigest());
    long absent = 0;
    while (parent.values().nextLong() == absent) {
      absent++;
    }
    wrong.add(absent);
    SnapshotDelta delta = wrong.finish(parent.header().hashCount() + 1, to.setDigest());
    Manifest forged = withDelta(second, changed, BlobReference.to(delta));
    BlobLoader forger =
        blob -> blob.digest().equals(delta.digest()) ? delta.asByteBuffer() : loader.load(blob);
    assertThatThrownBy(() -> ManifestBlobs.verify(forged, forger))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageStartingWith(
            "blob " + delta.digest() + " of shard " + changed.shard() + ": the delta must lead to");
  }

  private static ByteBuffer bytesOf(BlobReference blob, BlobLoader loader) throws Exception {
    return loader.load(blob);
  }

  private static Manifest withDelta(Manifest manifest, ManifestShard shard, BlobReference delta) {
    List<ManifestShard> shards = new ArrayList<>(manifest.shards());
    shards.set(
        shard.shard(),
        new ManifestShard(shard.shard(), shard.count(), shard.base(), List.of(delta)));
    return Manifest.of("test", 9, 0, 1000, PARAMETERS, shards);
  }

  /** Publishes the next sequence as deltas to the one before, and bases for new shards. */
  private Manifest publishDeltas(Manifest before, long sequence, List<String> urls)
      throws Exception {
    SnapshotDirectory target = new SnapshotDirectory(directory);
    SnapshotSet opened = SnapshotSet.open(before, target::blob);
    List<ManifestShard> shards = new ArrayList<>();
    for (ManifestShard old : before.shards()) {
      long[] own = hashes(old.shard(), urls);
      Snapshot parent = opened.snapshot(old.shard());
      if (parent == null && own.length == 0) {
        shards.add(old);
        continue;
      }
      SnapshotParameters parameters =
          new SnapshotParameters(PARAMETERS, "test", old.shard(), sequence, 0, 1000);
      if (parent == null) {
        Snapshot base = Snapshot.build(own, UNIVERSE, parameters);
        target.writeBlob(base.digest(), base.toBytes());
        shards.add(ManifestShard.of(old.shard(), own.length, BlobReference.to(base)));
        continue;
      }
      Snapshot child = Snapshot.build(own, UNIVERSE, parameters);
      SnapshotDelta delta = SnapshotDelta.between(parent, child);
      target.writeBlob(delta.digest(), delta.toBytes());
      List<BlobReference> deltas = new ArrayList<>(old.deltas());
      deltas.add(BlobReference.to(delta));
      shards.add(new ManifestShard(old.shard(), own.length, old.base(), deltas));
    }
    Manifest manifest = Manifest.of("test", sequence, 0, 1000, PARAMETERS, shards);
    target.writeManifest(manifest);
    return manifest;
  }

  private static long[] hashes(int shard, List<String> urls) throws Exception {
    List<Long> hashes = new ArrayList<>();
    for (String url : urls) {
      hashes.add(PARAMETERS.hash(null, utf8(url), KeyHash.fixed()));
    }
    return hashes.stream()
        .mapToLong(Long::longValue)
        .filter(hash -> PARAMETERS.shards().shardOf(hash) == shard)
        .toArray();
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
    SnapshotDirectory target = new SnapshotDirectory(directory);
    List<ManifestShard> shards = new ArrayList<>();
    for (int shard = 0; shard < 4; shard++) {
      long[] own = hashes(shard, List.of(urls));
      if (own.length == 0) {
        shards.add(ManifestShard.empty(shard));
        continue;
      }
      Snapshot snapshot =
          Snapshot.build(
              own, UNIVERSE, new SnapshotParameters(PARAMETERS, "test", shard, sequence, 0, 1000));
      target.writeBlob(snapshot.digest(), snapshot.toBytes());
      shards.add(ManifestShard.of(shard, own.length, BlobReference.to(snapshot)));
    }
    Manifest manifest = Manifest.of("test", sequence, 0, 1000, PARAMETERS, shards);
    target.writeManifest(manifest);
    return manifest;
  }

  private Path blobOf(Manifest manifest) {
    String digest =
        manifest.shards().stream()
            .filter(shard -> shard.base() != null)
            .findFirst()
            .orElseThrow()
            .base()
            .digest();
    return directory.resolve("blobs").resolve(digest);
  }

  private static boolean contains(SnapshotSet set, String url) throws Exception {
    return set.mightContainKey(utf8(url), KeyHash.fixed());
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
