package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Files that were written once. A writer must give the same bytes, a reader must accept them; a
 * change of the bytes is a new format version with files of its own.
 */
class SnapshotGoldenTest {
  private static final String DIRECTORY = "golden-v1/";
  private static final String SET_NAME = "golden";
  private static final long EXAMPLE_ADDED_BITS = 32;
  private static final String EXAMPLE_PAYLOAD = "7a76696f3300";

  private static final Golden EMPTY =
      golden("empty", 0, KeyHash.fixed(), Canonicaliser.NONE, 1, 0, 0.001);
  private static final Golden SIXTY_FOUR =
      golden("sixty-four", 64, KeyHash.fixed(), Canonicaliser.NONE, 1, 0, 0.001);
  private static final Golden SHARD_2_OF_4 =
      golden("shard-2-of-4", 4000, KeyHash.xxh3(42), Canonicaliser.URL, 4, 2, 0x1p-20);

  private static List<Golden> goldens() {
    KeyHash secret = KeyHash.parse("000102030405060708090a0b0c0d0e0f");
    return List.of(
        EMPTY,
        golden("one", 1, KeyHash.fixed(), Canonicaliser.NONE, 1, 0, 0.001),
        SIXTY_FOUR,
        golden("sixty-five", 65, secret, Canonicaliser.NONE, 1, 0, 0.1),
        SHARD_2_OF_4);
  }

  private static List<GoldenDelta> goldenDeltas() {
    return List.of(
        new GoldenDelta("empty.delta", EMPTY, 0),
        new GoldenDelta("sixty-four.delta", SIXTY_FOUR, 2),
        new GoldenDelta("shard-2-of-4.delta", SHARD_2_OF_4, 20));
  }

  private static Golden golden(
      String name,
      int keys,
      KeyHash keyHash,
      Canonicaliser canonicaliser,
      int shards,
      int shard,
      double falsePositiveRate) {
    SetParameters set =
        SetParameters.of(keyHash, canonicaliser, new Shards(shards), falsePositiveRate);
    return new Golden(
        name + ".snapshot",
        keys,
        keyHash,
        new SnapshotParameters(set, SET_NAME, shard, 1, 1_700_000_000_000L, 1_700_003_600_000L));
  }

  /** A file of the keys {@code http://example.com/key-0}, … that fall into its shard. */
  private record Golden(String fileName, int keys, KeyHash keyHash, SnapshotParameters parameters) {

    long[] hashes() {
      return hashes("http://example.com/key-", 0, keys);
    }

    long[] hashes(String prefix, int from, int to) {
      return IntStream.range(from, to)
          .mapToLong(i -> hash(prefix + i))
          .filter(hash -> parameters.set().shards().shardOf(hash) == parameters.shard())
          .toArray();
    }

    private long hash(String key) {
      try {
        return parameters.set().hash(null, key.getBytes(StandardCharsets.UTF_8), keyHash);
      } catch (Exception e) {
        throw new AssertionError(key, e);
      }
    }
  }

  /** Of the keys of another file the first ones go, and as many come, in the next window. */
  private record GoldenDelta(String fileName, Golden parent, int changes) {

    Snapshot child() {
      SnapshotParameters before = parent.parameters;
      SnapshotParameters after =
          new SnapshotParameters(
              before.set(),
              SET_NAME,
              before.shard(),
              2,
              before.windowEndMillis(),
              before.windowEndMillis() + 3_600_000);
      return Snapshot.build(
          parent.hashes("http://example.com/key-", changes, parent.keys + changes),
          parentSnapshot().header().universe(),
          after);
    }

    Snapshot parentSnapshot() {
      try {
        return Snapshot.read(resource(parent.fileName));
      } catch (SnapshotException e) {
        throw new AssertionError(e);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("goldenDeltas")
  void theWriterGivesTheGoldenDeltas(GoldenDelta golden) {
    assertThat(SnapshotDelta.between(golden.parentSnapshot(), golden.child()).toBytes())
        .isEqualTo(resource(golden.fileName));
  }

  @ParameterizedTest
  @MethodSource("goldenDeltas")
  void theReaderAppliesTheGoldenDeltas(GoldenDelta golden) throws Exception {
    SnapshotDelta delta = SnapshotDelta.read(resource(golden.fileName));
    delta.verify();
    assertThat(delta.applyTo(golden.parentSnapshot()).toBytes())
        .isEqualTo(golden.child().toBytes());
  }

  /** The bytes that docs/format/delta-v1.md explains. */
  @Test
  void theExampleOfTheSpecificationIsTheGoldenDelta() throws Exception {
    Snapshot parent = Snapshot.read(resource(SIXTY_FOUR.fileName));
    List<Long> before = valuesOf(parent);
    List<Long> after = valuesOf(new GoldenDelta("", SIXTY_FOUR, 2).child());
    assertThat(after).contains(20_763L, 37_168L).doesNotContain(before.get(6), before.get(21));
    assertThat(before).doesNotContain(20_763L, 37_168L);
    SnapshotDelta delta = SnapshotDelta.read(resource("sixty-four.delta"));
    assertThat(delta.addedCount()).isEqualTo(2);
    assertThat(delta.removedCount()).isEqualTo(2);
    assertThat(delta.header().changes().addedBits()).isEqualTo(EXAMPLE_ADDED_BITS);
    byte[] file = delta.toBytes();
    int payloadBytes = delta.header().payloadBytes();
    assertThat(HexFormat.of().formatHex(file, file.length - payloadBytes, file.length))
        .isEqualTo(EXAMPLE_PAYLOAD);
  }

  @ParameterizedTest
  @MethodSource("goldens")
  void theWriterGivesTheGoldenBytes(Golden golden) {
    assertThat(Snapshot.build(golden.hashes(), golden.parameters).toBytes())
        .isEqualTo(resource(golden.fileName()));
  }

  @ParameterizedTest
  @MethodSource("goldens")
  void theReaderAcceptsTheGoldenBytes(Golden golden) throws Exception {
    Snapshot snapshot = Snapshot.read(resource(golden.fileName()));
    snapshot.verify();
    assertThat(snapshot.header().parameters()).isEqualTo(golden.parameters);
    for (long hash : golden.hashes()) {
      assertThat(snapshot.mightContain(hash)).isTrue();
    }
    long[] strange = golden.hashes("http://example.com/strange-", 0, 1000);
    long present = Arrays.stream(strange).filter(snapshot::mightContain).count();
    double expected = strange.length * golden.parameters.set().falsePositiveRate();
    assertThat((double) present).isLessThan(expected + 3 * Math.sqrt(expected) + 1);
  }

  /** Every version stays readable: a new one brings a directory of its own. */
  @Test
  void theReaderAcceptsTheFilesOfEveryVersion() throws Exception {
    Path here = Path.of(SnapshotGoldenTest.class.getResource(DIRECTORY).toURI()).getParent();
    for (int version = 1; version <= SnapshotFormat.VERSION; version++) {
      try (Stream<Path> files = Files.list(here.resolve("golden-v" + version))) {
        List<Path> snapshots = files.filter(file -> file.toString().endsWith(".snapshot")).toList();
        assertThat(snapshots).hasSizeGreaterThanOrEqualTo(5);
        for (Path file : snapshots) {
          Snapshot snapshot = Snapshot.read(file);
          snapshot.verify();
          assertThat(snapshot.header().formatVersion()).isEqualTo(version);
        }
      }
    }
  }

  @Test
  void theManifestHasTheGoldenBytes() throws Exception {
    Golden shard2 = SHARD_2_OF_4;
    Snapshot snapshot = Snapshot.read(resource(shard2.fileName()));
    List<ManifestShard> shards = new ArrayList<>();
    for (int shard = 0; shard < 4; shard++) {
      shards.add(
          shard == 2
              ? ManifestShard.of(2, shard2.hashes().length, BlobReference.to(snapshot))
              : ManifestShard.empty(shard));
    }
    SnapshotParameters parameters = shard2.parameters;
    Manifest manifest =
        Manifest.of(
                SET_NAME,
                parameters.sequence(),
                parameters.windowStartMillis(),
                parameters.windowEndMillis(),
                parameters.set(),
                shards)
            .withTimes(1_700_003_661_000L, null);
    byte[] golden = resource("manifest.json");
    assertThat(new String(manifest.toJson(), StandardCharsets.UTF_8))
        .isEqualTo(new String(golden, StandardCharsets.UTF_8));
    SnapshotSet set =
        SnapshotSet.open(Manifest.fromJson(golden), blob -> ByteBuffer.wrap(snapshot.toBytes()));
    for (long hash : shard2.hashes()) {
      assertThat(set.mightContain(hash)).isTrue();
    }
  }

  /** A chain, with blobs elsewhere and a signature, which nobody checks here. */
  @Test
  void theManifestOfAChainHasTheGoldenBytes() throws Exception {
    Golden parent = SHARD_2_OF_4;
    Snapshot base = Snapshot.read(resource(parent.fileName));
    SnapshotDelta delta = SnapshotDelta.read(resource("shard-2-of-4.delta"));
    List<ManifestShard> shards = new ArrayList<>();
    for (int shard = 0; shard < 4; shard++) {
      shards.add(
          shard == 2
              ? new ManifestShard(
                  2,
                  delta.header().hashCount(),
                  BlobReference.to(base),
                  List.of(BlobReference.to(delta)))
              : ManifestShard.empty(shard));
    }
    SnapshotParameters parameters = delta.header().parameters();
    Manifest manifest =
        Manifest.of(
                SET_NAME,
                parameters.sequence(),
                parameters.windowStartMillis(),
                parameters.windowEndMillis(),
                parameters.set(),
                shards)
            .withTimes(1_700_007_261_000L, 1_700_017_261_000L)
            .withBlobs(URI.create("https://snapshots.example.com/golden/blobs"))
            .withSignature(ManifestSignature.of("0123456789abcdef", new byte[64]));
    byte[] golden = resource("manifest-of-chain.json");
    assertThat(new String(manifest.toJson(), StandardCharsets.UTF_8))
        .isEqualTo(new String(golden, StandardCharsets.UTF_8));
    assertThat(Manifest.fromJson(golden)).isEqualTo(manifest);
  }

  private static List<Long> valuesOf(Snapshot snapshot) {
    List<Long> values = new ArrayList<>();
    snapshot.values().forEachRemaining((long value) -> values.add(value));
    return values;
  }

  private static byte[] resource(String name) {
    try (InputStream in = SnapshotGoldenTest.class.getResourceAsStream(DIRECTORY + name)) {
      assertThat(in).as(name).isNotNull();
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
