package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.firstseen.filters.gcs.Universe;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.PrimitiveIterator;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Damaged files, a million in the slow tier: bits flipped, bytes cut, inserted and removed, numbers
 * forged, half of them with checksums that fit again. Each is refused by a typed error or holds
 * what it held before; none costs memory beyond twice its length and a mebibyte, and all come to an
 * end. A third of them are deltas, whose parents are whole: what they give for a child is what they
 * gave, and costs memory for parent and child besides.
 */
class SnapshotMutationTest {
  private static final int MUTATIONS = 100_000 * Integer.getInteger("firstseen.scale", 1);
  private static final long SPARE_BYTES = 1 << 20;
  // All numbers of 8 bytes in the header that say how much there is of something.
  private static final int[] AMOUNTS = {72, 80, 88, 96, 104, 112, 120, 192, 200};

  private final SplittableRandom random = new SplittableRandom(91);
  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private int refusedOnOpening;
  private int refusedOnVerifying;
  private int refusedOnApplying;
  private int accepted;
  private int applied;

  @Test
  void damagedFilesAreRefusedOrHoldTheSame() throws Exception {
    List<Original> originals = new ArrayList<>();
    for (int count : new int[] {0, 1, 2, 36, 37, 38, 75, 150, 300}) {
      for (double rate : new double[] {0.1, 0.001, 0x1p-40}) {
        originals.add(new Original(snapshot(count, rate), null, null));
      }
    }
    for (int count : new int[] {0, 1, 38, 150, 300}) {
      for (double rate : new double[] {0.1, 0.001, 0x1p-40}) {
        originals.add(delta(count, rate));
      }
    }
    // Once beforehand, so that loading classes does not count.
    for (int i = 0; i < 1000; i++) {
      Original original = originals.get(i % originals.size());
      readsSafely(mutated(original.bytes()), original);
    }
    for (int i = 0; i < MUTATIONS; i++) {
      Original original = originals.get(i % originals.size());
      byte[] mutated = mutated(original.bytes());
      long before = threads.getCurrentThreadAllocatedBytes();
      readsSafely(mutated, original);
      long allocated = threads.getCurrentThreadAllocatedBytes() - before;
      long allowed = 2L * mutated.length + SPARE_BYTES;
      if (original.delta != null) {
        allowed += 4L * original.parent.asByteBuffer().limit() + 8L * mutated.length;
      }
      if (allocated > allowed) {
        assertThat(allocated).as("bytes allocated for mutation %d", i).isZero();
      }
    }
    assertThat(refusedOnOpening).isGreaterThan(MUTATIONS / 2);
    assertThat(refusedOnVerifying).isGreaterThan(MUTATIONS / 50);
    assertThat(refusedOnApplying).isGreaterThan(MUTATIONS / 100);
    assertThat(accepted).isGreaterThan(MUTATIONS / 100);
    assertThat(applied).isGreaterThan(MUTATIONS / 200);
  }

  /** A snapshot, or a delta and the snapshots before and after it. */
  private record Original(Snapshot snapshot, Snapshot parent, SnapshotDelta delta) {

    byte[] bytes() {
      return delta == null ? snapshot.toBytes() : delta.toBytes();
    }
  }

  private Snapshot snapshot(int count, double rate) {
    return Snapshot.build(
        SnapshotTest.hashes(random, count, 4, 3), SnapshotTest.parameters(4, 3, rate));
  }

  private Original delta(int count, double rate) {
    long[] hashes = SnapshotTest.hashes(random, count + count / 3, 4, 3);
    SnapshotParameters parameters = SnapshotTest.parameters(4, 3, rate);
    Snapshot parent = Snapshot.build(Arrays.copyOf(hashes, count), parameters);
    Universe universe = parent.header().universe();
    long[] left = Arrays.copyOfRange(hashes, count / 3, hashes.length);
    Snapshot child = Snapshot.build(left, universe, parameters);
    return new Original(child, parent, SnapshotDelta.between(parent, child));
  }

  private void readsSafely(byte[] bytes, Original original) {
    if (original.delta != null) {
      appliesSafely(bytes, original);
      return;
    }
    Snapshot snapshot;
    try {
      snapshot = Snapshot.read(bytes);
    } catch (MalformedSnapshotException | UnsupportedSnapshotException e) {
      refusedOnOpening++;
      return;
    } catch (SnapshotException e) {
      throw new AssertionError("refused without a type", e);
    }
    SnapshotParameters parameters = snapshot.header().parameters();
    long ofShard = (long) parameters.shard() << 1 << (63 - parameters.set().shards().bits());
    for (int i = 0; i < 4; i++) {
      snapshot.mightContain(ofShard | random.nextLong() >>> parameters.set().shards().bits());
    }
    try {
      snapshot.verify();
    } catch (MalformedSnapshotException e) {
      refusedOnVerifying++;
      assertEnds(snapshot);
      return;
    }
    accepted++;
    assertThat(values(snapshot)).isEqualTo(values(original.snapshot));
  }

  private void appliesSafely(byte[] bytes, Original original) {
    SnapshotDelta delta;
    try {
      delta = SnapshotDelta.read(bytes);
    } catch (MalformedSnapshotException | UnsupportedSnapshotException e) {
      refusedOnOpening++;
      return;
    } catch (SnapshotException e) {
      throw new AssertionError("refused without a type", e);
    }
    Snapshot child;
    try {
      child = delta.applyTo(original.parent);
    } catch (MalformedSnapshotException e) {
      refusedOnApplying++;
      return;
    } catch (SnapshotException e) {
      // It says that it changes another set.
      assertThat(e).hasMessageMatching("the delta (changes the set|cannot be applied: ).*");
      refusedOnApplying++;
      return;
    }
    applied++;
    assertThat(values(child)).isEqualTo(values(original.snapshot));
  }

  private static void assertEnds(Snapshot snapshot) {
    PrimitiveIterator.OfLong values = snapshot.values();
    try {
      while (values.hasNext()) {
        values.nextLong();
      }
    } catch (UncheckedIOException e) {
      assertThat(e).hasMessageNotContaining("null");
    }
  }

  private static long[] values(Snapshot snapshot) {
    long[] values = new long[(int) snapshot.header().count()];
    PrimitiveIterator.OfLong iterator = snapshot.values();
    for (int i = 0; i < values.length; i++) {
      values[i] = iterator.nextLong();
    }
    return values;
  }

  private byte[] mutated(byte[] file) {
    byte[] bytes = file.clone();
    for (int change = random.nextInt(3); change >= 0; change--) {
      bytes =
          switch (random.nextInt(6)) {
            case 0, 1 -> flipped(bytes);
            case 2 -> Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
            case 3 -> spliced(bytes, random.nextInt(9), 0);
            case 4 -> spliced(bytes, 0, random.nextInt(9));
            default -> forged(bytes);
          };
    }
    return random.nextBoolean() ? mended(bytes) : bytes;
  }

  private byte[] flipped(byte[] bytes) {
    if (bytes.length > 0) {
      int bit = random.nextInt(bytes.length * 8);
      bytes[bit / 8] ^= (byte) (1 << bit % 8);
    }
    return bytes;
  }

  /** Replaces some bytes at a random place by others, so that the length changes. */
  private byte[] spliced(byte[] bytes, int inserted, int removed) {
    int at = random.nextInt(bytes.length + 1);
    int rest = Math.min(bytes.length, at + removed);
    byte[] result = new byte[bytes.length - (rest - at) + inserted];
    System.arraycopy(bytes, 0, result, 0, at);
    for (int i = 0; i < inserted; i++) {
      result[at + i] = (byte) random.nextInt();
    }
    System.arraycopy(bytes, rest, result, at + inserted, bytes.length - rest);
    return result;
  }

  private byte[] forged(byte[] bytes) {
    if (bytes.length < 208) {
      return bytes;
    }
    ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int field = AMOUNTS[random.nextInt(AMOUNTS.length)];
    long near = file.getLong(field) + random.nextInt(5) - 2;
    long far = -1L >>> random.nextInt(64);
    file.putLong(field, random.nextBoolean() ? near : far);
    return bytes;
  }

  /** Makes both checksums fit again, where there is still a header. */
  private static byte[] mended(byte[] bytes) {
    if (bytes.length < 218) {
      return bytes;
    }
    ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int headerBytes = Math.min(bytes.length, Math.max(218, file.getShort(10) & 0xFFFF));
    ForgedFile.mend(bytes, headerBytes);
    return bytes;
  }
}
