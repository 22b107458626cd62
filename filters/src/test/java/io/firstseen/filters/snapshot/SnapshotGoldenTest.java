package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Files that were written once. A writer must give the same bytes, a reader must accept them; a
 * change of the bytes is a new format version with its own files.
 */
class SnapshotGoldenTest {
  private static final String DIRECTORY = "golden-v1/";
  private static final String SET_NAME = "golden";

  static final Canonicaliser STRIPPING = Canonicaliser.of("url-2").stripping("gclid,utm_*");

  private static List<Golden> goldens() {
    KeyHash secret = KeyHash.parse("000102030405060708090a0b0c0d0e0f");
    return List.of(
        golden("empty", 0, KeyHash.fixed(), Canonicaliser.NONE, 1, 0, 0.001),
        golden("one", 1, KeyHash.fixed(), Canonicaliser.NONE, 1, 0, 0.001),
        golden("sixty-four", 64, KeyHash.fixed(), Canonicaliser.NONE, 1, 0, 0.001),
        golden("sixty-five", 65, secret, Canonicaliser.NONE, 1, 0, 0.1),
        golden("shard-2-of-4", 4000, KeyHash.xxh3(42), Canonicaliser.of("url-2"), 4, 2, 0x1p-20),
        golden("stripped-parameters", 64, secret, STRIPPING, 1, 0, 0.001));
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

  /** Every version stays readable: a new version adds its own directory. */
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

  static byte[] resource(String name) {
    try (InputStream in = SnapshotGoldenTest.class.getResourceAsStream(DIRECTORY + name)) {
      assertThat(in).as(name).isNotNull();
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
