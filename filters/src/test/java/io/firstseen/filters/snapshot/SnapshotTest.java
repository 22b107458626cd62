package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.PrimitiveIterator;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SnapshotTest {
  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 63, 64, 65, 10_000})
  void holdsEveryHashItWasBuiltFrom(int count) throws Exception {
    for (int shards : new int[] {1, 16, 65_536}) {
      int shard = shards - 1;
      long[] hashes = hashes(new SplittableRandom(21), count, shards, shard);
      Snapshot built = Snapshot.build(hashes, parameters(shards, shard, 0.001));
      for (Snapshot snapshot : List.of(built, Snapshot.read(built.toBytes()))) {
        snapshot.verify();
        assertThat(Arrays.stream(hashes).allMatch(snapshot::mightContain)).isTrue();
        assertThat(snapshot.header()).isEqualTo(built.header());
        assertThat(snapshot.header().hashCount()).isEqualTo(count);
        assertThat(snapshot.header().count()).isEqualTo(valuesOf(snapshot).size());
        assertThat(snapshot.header().parameters()).isEqualTo(parameters(shards, shard, 0.001));
      }
    }
  }

  @Test
  void doesNotDependOnTheOrderNorOnRepeats() {
    long[] hashes = hashes(new SplittableRandom(22), 1000, 2, 1);
    long[] reversedTwice = new long[2000];
    Arrays.setAll(reversedTwice, i -> hashes[999 - i % 1000]);
    long[] before = reversedTwice.clone();
    assertThat(Snapshot.build(reversedTwice, parameters(2, 1, 0.01)).toBytes())
        .isEqualTo(Snapshot.build(hashes, parameters(2, 1, 0.01)).toBytes());
    assertThat(reversedTwice).as("the caller's array").isEqualTo(before);
  }

  @Test
  void orders64BitHashesAsUnsignedNumbers() throws Exception {
    long[] hashes = {-1, 0, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 62};
    Snapshot snapshot = Snapshot.build(hashes, parameters(1, 0, 0.001));
    snapshot.verify();
    assertThat(valuesOf(snapshot)).isSorted().hasSize(5);
  }

  /** 200,000 questions, expected 200 false answers; 3 standard deviations are 43. */
  @Test
  void keepsTheFalsePositiveRate() {
    SplittableRandom random = new SplittableRandom(23);
    double falsePositiveRate = 0.001;
    int count = 16_777;
    Snapshot snapshot =
        Snapshot.build(hashes(random, count, 4, 2), parameters(4, 2, falsePositiveRate));
    assertThat(snapshot.header().universe().rateOf(count)).isBetween(0.00099997, 0.001);
    int questions = 200_000;
    long present =
        Arrays.stream(hashes(random, questions, 4, 2)).filter(snapshot::mightContain).count();
    assertThat(present).isBetween(200L - 43, 200L + 43);
  }

  @Test
  void choosesTheSmallestUniverseThatKeepsTheRate() {
    SetParameters set = parameters(16, 0, 0.001).set();
    assertThat(set.universeFor(0)).isEqualTo(new Universe(1, 1));
    assertThat(set.universeFor(1)).isEqualTo(new Universe(1, 1000));
    assertThat(set.universeFor(36_000)).isEqualTo(new Universe(1000, 36_000));
  }

  /** Hashes share values, so a set can have fewer values than its buckets need. */
  @Test
  void writesNothingThatNoReaderOpens() {
    long[] many = new SplittableRandom(25).longs(560_000).toArray();
    assertThatThrownBy(() -> Snapshot.build(many, new Universe(70_000, 80), parameters(1, 0, 0.1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageMatching("a set of \\d+ values cannot have 70000 buckets");
  }

  @Test
  void refusesARateThatTheHashIsTooShortFor() {
    assertThatThrownBy(
            () ->
                Snapshot.build(
                    hashes(new SplittableRandom(24), 3, 16, 0), parameters(16, 0, 0x1p-60)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(
            "needs 3458764513820540928 values, the hash has 60 bits below the shard");
  }

  @Test
  void refusesAHashOfAnotherShard() {
    Snapshot snapshot = Snapshot.build(new long[] {0}, parameters(16, 0, 0.001));
    assertThatThrownBy(() -> snapshot.mightContain(-1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("shard 0 of 16", "ffffffffffffffff of shard 15");
    assertThatThrownBy(() -> Snapshot.build(new long[] {-1, 0}, parameters(16, 0, 0.001)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("of shard 15");
  }

  @Test
  void readsFromAFileAndNamesItWhenItRefuses() throws Exception {
    long[] hashes = hashes(new SplittableRandom(25), 500, 1, 0);
    Snapshot built = Snapshot.build(hashes, parameters(1, 0, 0.001));
    Path file = Files.write(directory.resolve("a"), built.toBytes());
    Snapshot snapshot = Snapshot.read(file);
    snapshot.verify();
    assertThat(Arrays.stream(hashes).allMatch(snapshot::mightContain)).isTrue();
    assertThat(snapshot.digest()).isEqualTo(built.digest());

    Path noSnapshot = Files.writeString(directory.resolve("b"), "no snapshot at all");
    assertThatThrownBy(() -> Snapshot.read(noSnapshot))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageContainingAll(noSnapshot + ": ", "snapshot", "magic number");
    Path empty = Files.createFile(directory.resolve("c"));
    assertThatThrownBy(() -> Snapshot.read(empty))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageContainingAll(empty + ": ", "at least 218 bytes", "got 0");
    Path missing = directory.resolve("d");
    assertThatThrownBy(() -> Snapshot.read(missing))
        .isExactlyInstanceOf(SnapshotException.class)
        .hasMessageContainingAll(missing.toString(), "no such file");
    assertThatThrownBy(() -> Snapshot.read(directory))
        .isExactlyInstanceOf(SnapshotException.class)
        .hasMessageContainingAll(directory.toString(), "is a directory");
  }

  @Test
  void queriesOnAMappedFileAllocateNothing() throws Exception {
    long[] hashes = hashes(new SplittableRandom(26), 20_000, 1, 0);
    Path file =
        Files.write(
            directory.resolve("a"), Snapshot.build(hashes, parameters(1, 0, 0.001)).toBytes());
    Snapshot snapshot = Snapshot.read(file);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    int present = 0;
    // The first time loads classes.
    for (int round = 0; round < 2; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (long hash : hashes) {
        present += snapshot.mightContain(hash) ? 1 : 0;
      }
      long allocated = threads.getCurrentThreadAllocatedBytes() - before;
      assertThat(allocated).isLessThan(round == 0 ? 1 << 20 : 4096);
    }
    assertThat(present).isEqualTo(2 * hashes.length);
  }

  static SnapshotParameters parameters(int shards, int shard, double falsePositiveRate) {
    return new SnapshotParameters(
        SetParameters.of(KeyHash.fixed(), Canonicaliser.URL, new Shards(shards), falsePositiveRate),
        "phishing",
        shard,
        7,
        1_700_000_000_000L,
        1_700_003_600_000L);
  }

  static long[] hashes(SplittableRandom random, int count, int shards, int shard) {
    int bits = new Shards(shards).bits();
    return random
        .longs(count)
        .map(hash -> bits == 0 ? hash : hash >>> bits | (long) shard << (64 - bits))
        .toArray();
  }

  private static List<Long> valuesOf(Snapshot snapshot) {
    List<Long> values = new ArrayList<>();
    PrimitiveIterator.OfLong iterator = snapshot.values();
    while (iterator.hasNext()) {
      values.add(iterator.nextLong());
    }
    return values;
  }
}
