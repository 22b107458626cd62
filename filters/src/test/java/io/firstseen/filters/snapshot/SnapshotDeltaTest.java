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
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SnapshotDeltaTest {
  private static final SetParameters SET =
      SetParameters.of(KeyHash.fixed(), Canonicaliser.URL, new Shards(4), 0.001);

  private static final Universe MILLION = new Universe(1, 1 << 20);
  private static final Universe UNIVERSE = new Universe(32, 1L << 35);

  @TempDir Path directory;

  private final long[] hashes = SnapshotTest.hashes(new SplittableRandom(211), 1000, 4, 1);
  private final Snapshot parent = snapshot(1, Arrays.copyOf(hashes, 900));
  private final Snapshot child = snapshot(2, Arrays.copyOfRange(hashes, 10, 1000));
  private final SnapshotDelta delta = SnapshotDelta.between(parent, child);

  @Test
  void makesTheChildByteForByte() throws Exception {
    assertThat(delta.addedCount()).isEqualTo(100);
    assertThat(delta.removedCount()).isEqualTo(10);
    assertThat(delta.parentCount()).isEqualTo(900);
    assertThat(delta.header().parentDigest()).isEqualTo(parent.header().setDigest());
    assertThat(delta.header().setDigest()).isEqualTo(child.header().setDigest());
    assertThat(delta.header().parameters()).isEqualTo(child.header().parameters());
    SnapshotDelta read = SnapshotDelta.read(delta.toBytes());
    assertThat(read.header()).isEqualTo(delta.header());
    assertThat(read.applyTo(parent).toBytes()).isEqualTo(child.toBytes());
    assertThat(read.applyTo(Snapshot.read(parent.toBytes())).digest()).isEqualTo(child.digest());
  }

  @Test
  void isReferredToWithItsParent() {
    BlobReference reference = BlobReference.to(delta);
    assertThat(reference)
        .isEqualTo(
            new BlobReference(
                Sha256.hex(delta.toBytes()),
                delta.toBytes().length,
                990,
                child.header().setDigest(),
                parent.header().setDigest(),
                2));
    ManifestShard chain =
        new ManifestShard(1, 990, BlobReference.to(parent), List.of(BlobReference.to(delta)));
    assertThat(chain.newest()).isEqualTo(reference);
  }

  @Test
  void leadsFromAndToTheEmptySet() throws Exception {
    Snapshot empty = snapshot(3, new long[0]);
    SnapshotDelta clear = SnapshotDelta.between(parent, empty);
    assertThat(clear.applyTo(parent).toBytes()).isEqualTo(empty.toBytes());
    SnapshotDelta fill = SnapshotDelta.between(empty, child);
    assertThat(fill.applyTo(empty).toBytes()).isEqualTo(child.toBytes());
    SnapshotDelta nothing = SnapshotDelta.between(parent, parent);
    assertThat(nothing.header().payloadBytes()).isZero();
    assertThat(nothing.applyTo(parent).toBytes()).isEqualTo(parent.toBytes());
  }

  @Test
  void doesNotApplyToAnotherParent() {
    assertThatThrownBy(() -> delta.applyTo(child))
        .isExactlyInstanceOf(SnapshotException.class)
        .hasMessage(
            "the delta changes the set "
                + parent.header().setDigest()
                + ", it cannot be applied to the set "
                + child.header().setDigest());
    Snapshot longer =
        Snapshot.build(
            Arrays.copyOf(hashes, 900), new Universe(32, 1L << 36), parameters(SET, "test", 1, 1));
    assertThatThrownBy(() -> SnapshotDelta.between(longer, child))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(
            "the same universe, the parent has Universe[buckets=32, width=68719476736] and the"
                + " child Universe[buckets=32, width=34359738368]");
    Snapshot renamed =
        Snapshot.build(Arrays.copyOf(hashes, 900), UNIVERSE, parameters(SET, "other", 1, 1));
    assertThatThrownBy(() -> delta.applyTo(renamed))
        .isExactlyInstanceOf(SnapshotException.class)
        .hasMessage(
            "the delta cannot be applied: parent and child must have the same set, the parent has"
                + " other and the child test");
  }

  /** The same set in another shard has the same digest. */
  @Test
  void doesNotApplyToAnotherShard() {
    long[] moved = Arrays.stream(hashes, 0, 900).map(hash -> hash ^ 3L << 62).toArray();
    Snapshot other = Snapshot.build(moved, UNIVERSE, parameters(SET, "test", 2, 1));
    assertThat(other.header().setDigest()).isEqualTo(parent.header().setDigest());
    assertThatThrownBy(() -> delta.applyTo(other))
        .isExactlyInstanceOf(SnapshotException.class)
        .hasMessageContaining("must have the same shard, the parent has 2 and the child 1");
  }

  @Test
  void readsFromAFileAndNamesItWhenItRefuses() throws Exception {
    Path file = Files.write(directory.resolve("a.delta"), delta.toBytes());
    assertThat(SnapshotDelta.read(file).digest()).isEqualTo(delta.digest());
    assertThatThrownBy(() -> Snapshot.read(file))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessage(file + ": this is a delta; a snapshot is needed");
    Path snapshot = Files.write(directory.resolve("a.snapshot"), parent.toBytes());
    assertThatThrownBy(() -> SnapshotDelta.read(snapshot))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessage(snapshot + ": this is a snapshot; a delta is needed");
  }

  @Test
  void theWriterRefusesWhatCanBeNoDelta() {
    String digest = child.header().setDigest();
    SnapshotParameters parameters = parameters(SET, "test", 1, 2);
    assertRefused(
        "numbers must be ascending and distinct, got 3 after 4",
        writer -> {
          writer.add(4);
          writer.add(3);
        });
    assertRefused("a number must be at most 899, got 900", writer -> writer.remove(900));
    assertRefused("a number must be at most 1048575", writer -> writer.add(1 << 20));
    SnapshotDeltaWriter tooMany = new SnapshotDeltaWriter(parameters, MILLION, 0, digest);
    tooMany.remove(0);
    assertThatThrownBy(() -> tooMany.finish(0, digest))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("hashCount must be at least count (-1)");
    SnapshotDeltaWriter fewHashes = new SnapshotDeltaWriter(parameters, MILLION, 900, digest);
    assertThatThrownBy(() -> fewHashes.finish(899, digest))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("hashCount must be at least count (900), and 0 if that is 0, got 899");
    SnapshotDeltaWriter few =
        new SnapshotDeltaWriter(parameters, new Universe(1, 899_999), 900, digest);
    assertThatThrownBy(() -> few.finish(900, digest))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("900 keys at the rate 0.001 need more than 899999 values");
  }

  /** What applying takes besides the child: decoding buffers, which do not grow with the sets. */
  @Test
  void appliesInConstantMemoryBesidesParentAndChild() throws Exception {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    for (int count : new int[] {20_000, 640_000}) {
      long[] all = SnapshotTest.hashes(new SplittableRandom(212), count + count / 50, 4, 1);
      Universe universe = Universe.ofBits(40, count);
      Snapshot before = snapshot(1, Arrays.copyOf(all, count), universe);
      Snapshot after = snapshot(2, Arrays.copyOfRange(all, count / 50, all.length), universe);
      SnapshotDelta changes = SnapshotDelta.between(before, after);
      // Once beforehand, so that loading classes does not count.
      assertThat(changes.applyTo(before).digest()).isEqualTo(after.digest());
      long begin = threads.getCurrentThreadAllocatedBytes();
      changes.applyTo(before);
      long allocated = threads.getCurrentThreadAllocatedBytes() - begin;
      // The codes as they grow, the sections together, the file; an array of values were 8 bytes
      // a value more, twice the file.
      assertThat(allocated).isLessThan(5L * after.toBytes().length + 100_000);
    }
  }

  private static void assertRefused(String sentence, Consumer<SnapshotDeltaWriter> changes) {
    String digest = Sha256.hex(new byte[0]);
    SnapshotDeltaWriter writer =
        new SnapshotDeltaWriter(parameters(SET, "test", 1, 2), MILLION, 900, digest);
    changes.accept(writer);
    assertThatThrownBy(() -> writer.finish(1000, digest))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(sentence);
  }

  private static Snapshot snapshot(long sequence, long[] hashes) {
    return snapshot(sequence, hashes, UNIVERSE);
  }

  private static Snapshot snapshot(long sequence, long[] hashes, Universe universe) {
    return Snapshot.build(hashes, universe, parameters(SET, "test", 1, sequence));
  }

  private static SnapshotParameters parameters(
      SetParameters set, String name, int shard, long sequence) {
    return new SnapshotParameters(
        set, name, shard, sequence, 1000 * sequence, 1000 * sequence + 1000);
  }
}
