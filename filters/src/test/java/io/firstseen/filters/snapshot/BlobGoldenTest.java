package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Blobs and manifests of a set of four shards, written once: a writer must give the same bytes, a
 * reader must accept them. The keys are {@code http://example.com/key-0}, …, except the keys of
 * shard 1, which never holds a key.
 */
class BlobGoldenTest {
  private static final SetParameters PARAMETERS =
      SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(4), 0.001);

  /** Of RFC 8032, section 7.1, test 1. */
  private static final SigningKey KEY =
      SigningKey.parse(
          """
          -----BEGIN PRIVATE KEY-----
          MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
          -----END PRIVATE KEY-----
          """);

  private static final PublishedSet SET = new PublishedSet("golden", PARAMETERS);
  private static final List<Manifest> MANIFESTS = new ArrayList<>();
  private static final List<SnapshotSet> SETS = new ArrayList<>();
  private static final Map<String, byte[]> FILES = new LinkedHashMap<>();

  @BeforeAll
  static void publish() throws Exception {
    SET.startMillis = 1_700_000_000_000L;
    SET.newBase = (since, bytes) -> false;
    SET.newList = (since, bytes) -> false;
    publish(Stream.of());
    // The first keys of shards 0 and 2.
    publish(Stream.concat(hashes(0, 100, 0), hashes(0, 100, 2)));
    // Some changes in shard 0, and the first keys of shard 3.
    publish(
        Stream.of(hashes(10, 120, 0), hashes(0, 100, 2), hashes(0, 120, 3)).flatMap(each -> each));
    // Shard 2 becomes empty. The list has sections since the bases of shards 0 and 2.
    SET.newList = (since, bytes) -> true;
    publish(Stream.concat(hashes(10, 120, 0), hashes(0, 120, 3)));
    // Shard 0 grows beyond its universe, and shard 2 has keys again.
    SET.newList = (since, bytes) -> false;
    for (int i = 0; i < 2; i++) {
      publish(
          Stream.of(hashes(10, 300, 0), hashes(120, 130, 2), hashes(0, 120, 3))
              .flatMap(each -> each));
    }
    Manifest newest = MANIFESTS.get(5);
    Manifest full =
        newest
            .withTimes(1_700_021_661_000L, 1_700_031_661_000L)
            .withBlobs(URI.create("https://snapshots.example.com/golden/blobs"));
    FILES.put("manifest-of-nothing.bin", MANIFESTS.get(0).toBytes());
    FILES.put("manifest.bin", newest.toBytes());
    FILES.put("manifest-with-all-parts.bin", full.toBytes());
    FILES.put("manifest-signed.bin", KEY.sign(full).toBytes());
    FILES.put("manifest-with-extension.bin", KEY.sign(full.withExtension("00ff")).toBytes());
    FILES.put("manifest-with-stripped-parameters.bin", KEY.sign(stripping(full)).toBytes());
  }

  /** A manifest of a set that strips parameters. */
  private static Manifest stripping(Manifest of) {
    SetParameters parameters =
        SetParameters.of(KeyHash.fixed(), SnapshotGoldenTest.STRIPPING, PARAMETERS.shards(), 0.001);
    return new Manifest(
        of.setName(),
        of.sequence(),
        of.windowStartMillis(),
        of.windowEndMillis(),
        of.publishedMillis(),
        of.expiresMillis(),
        parameters,
        of.count(),
        of.root(),
        of.pack(),
        of.packBytes(),
        of.blobs(),
        null,
        null);
  }

  private static void publish(Stream<Long> hashes) throws SnapshotException {
    int written = SET.blobs().size();
    int sequence = MANIFESTS.size();
    Manifest manifest = SET.window(sequence, hashes.toList());
    MANIFESTS.add(manifest);
    SETS.add(SnapshotSet.of(manifest, SET.snapshots()));
    SET.blobs().values().stream()
        .skip(written)
        .forEach(blob -> FILES.put(nameOf(blob, sequence), blob));
  }

  private static String nameOf(byte[] blob, int sequence) {
    String name =
        switch (BlobFrame.peek(ByteBuffer.wrap(blob)).orElseThrow().kind()) {
          case PACK -> "pack";
          case BASE_LIST -> "list";
          // The shard is behind magic number, version, flags, kind and set name.
          case BASE -> "base-of-shard-" + blob[14];
        };
    return name + "-of-window-" + sequence + ".blob";
  }

  /** The hashes of keys of a range that fall into a shard. */
  private static Stream<Long> hashes(int from, int to, int shard) {
    return IntStream.range(from, to)
        .mapToObj(i -> hash("http://example.com/key-" + i))
        .filter(hash -> PARAMETERS.shards().shardOf(hash) == shard);
  }

  private static long hash(String key) {
    try {
      return PARAMETERS.hash(null, key.getBytes(StandardCharsets.UTF_8), KeyHash.fixed());
    } catch (Exception e) {
      throw new AssertionError(key, e);
    }
  }

  @Test
  void theWriterGivesTheGoldenBytes() {
    FILES.forEach(
        (name, bytes) -> assertThat(bytes).as(name).isEqualTo(SnapshotGoldenTest.resource(name)));
  }

  @Test
  void theGoldenFilesAreAllThatWereWritten() throws Exception {
    Path directory =
        Path.of(BlobGoldenTest.class.getResource("golden-v1/manifest.bin").toURI()).getParent();
    try (Stream<Path> files = Files.list(directory)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .filteredOn(name -> !name.endsWith(".snapshot"))
          .containsExactlyInAnyOrderElementsOf(FILES.keySet());
    }
  }

  @Test
  void theyHoldEveryForm() throws Exception {
    Pack second = pack("pack-of-window-2.blob");
    assertThat(second.before()).isEqualTo(BlobReference.to(FILES.get("pack-of-window-1.blob")));
    assertThat(second.sections().get(0).isWhole()).isFalse();
    assertThat(second.sections().get(0).addedCount()).isPositive();
    assertThat(second.sections().get(0).removedCount()).isPositive();
    assertThat(second.sections().get(3).isWhole()).isTrue();
    assertThat(pack("pack-of-window-1.blob").before()).isNull();
    assertThat(pack("pack-of-window-4.blob").sections().get(0).isWhole()).isTrue();
    BaseList list = BaseList.read(golden("list-of-window-3.blob"), "golden", 4);
    assertThat(list.shards().stream().map(shard -> shard.sections().size()))
        .containsExactly(1, 0, 1, 0);
    assertThat(list.shards().get(1)).isEqualTo(BaseList.Shard.NONE);
    assertThat(MANIFESTS.get(0).pack()).isNull();
    assertThat(MANIFESTS.get(5).pack()).isEqualTo(MANIFESTS.get(4).pack());
  }

  @Test
  void theReaderGetsFromAnyWindowToAnyLaterOne() throws Exception {
    Map<String, ByteBuffer> files = new HashMap<>();
    for (String name : FILES.keySet()) {
      files.put(Sha256.hex(golden(name)), golden(name));
    }
    BlobLoader loader = blob -> files.get(blob.digest());
    for (SnapshotSet to : SETS) {
      assertThat(setDigests(SnapshotSet.open(to.manifest(), loader))).isEqualTo(setDigests(to));
      for (SnapshotSet from : SETS.subList(0, (int) to.manifest().sequence())) {
        SnapshotSet reached = CatchUp.to(to.manifest(), List.of(from), loader).set();
        assertThat(setDigests(reached)).isEqualTo(setDigests(to));
        reached.verify();
      }
    }
  }

  @Test
  void theReaderAcceptsTheGoldenManifests() throws Exception {
    assertThat(manifest("manifest-of-nothing.bin")).isEqualTo(MANIFESTS.get(0));
    assertThat(manifest("manifest.bin")).isEqualTo(MANIFESTS.get(5));
    Manifest full = manifest("manifest-with-all-parts.bin");
    assertThat(full.hasContentOf(MANIFESTS.get(5))).isTrue();
    assertThat(full.expiresMillis()).isEqualTo(1_700_031_661_000L);
    assertThat(manifest("manifest-with-stripped-parameters.bin"))
        .isEqualTo(KEY.sign(stripping(full)));
    assertThat(full.blobs()).hasToString("https://snapshots.example.com/golden/blobs");
    assertThat(
            ManifestCheck.requireSigned(
                SnapshotGoldenTest.resource("manifest-signed.bin"), List.of(KEY.publicKey())))
        .isEqualTo(KEY.sign(full));
  }

  private static Manifest manifest(String name) throws SnapshotException {
    return Manifest.read(SnapshotGoldenTest.resource(name));
  }

  private static Pack pack(String name) throws SnapshotException {
    return Pack.read(golden(name), "golden", 4);
  }

  private static ByteBuffer golden(String name) {
    return ByteBuffer.wrap(SnapshotGoldenTest.resource(name));
  }

  private static List<String> setDigests(SnapshotSet set) {
    return Stream.of(set.snapshots())
        .map(snapshot -> snapshot == null ? null : snapshot.header().setDigest())
        .toList();
  }
}
