package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PrimitiveIterator;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Damaged files, a million in the slow tier: bits flipped, bytes cut, inserted and removed, numbers
 * forged, half of them with corrected checksums. Each file is rejected with a typed error or has
 * its original content; no file needs more memory than twice its length and a mebibyte, and reading
 * always ends. The same number of blobs and manifests are damaged: the references to them are
 * corrected, so that only their contents and the root reveal the damage, and no reader reaches a
 * different set.
 */
class SnapshotMutationTest {
  private static final int SCALE = Integer.getInteger("firstseen.scale", 1);
  private static final int MUTATIONS = SCALE == 1 ? 15_000 : 100_000 * SCALE;
  private static final long SPARE_BYTES = 1 << 20;
  // All 8-byte numbers in the header that state a count or length.
  private static final int[] AMOUNTS = {72, 80, 88, 96, 104, 112, 120, 192, 200};

  private final SplittableRandom random = new SplittableRandom(91);
  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private int refusedOnOpening;
  private int refusedOnVerifying;
  private int accepted;

  @Test
  void damagedFilesAreRefusedOrHoldTheSame() throws Exception {
    List<Snapshot> originals = new ArrayList<>();
    for (int count : new int[] {0, 1, 2, 36, 37, 38, 75, 150, 300}) {
      for (double rate : new double[] {0.1, 0.001, 0x1p-40}) {
        originals.add(snapshot(count, rate));
      }
    }
    // Once beforehand, so that loading classes does not count.
    for (int i = 0; i < 1000; i++) {
      Snapshot original = originals.get(i % originals.size());
      readsSafely(mutated(original.toBytes()), original);
    }
    for (int i = 0; i < MUTATIONS; i++) {
      Snapshot original = originals.get(i % originals.size());
      byte[] mutated = mutated(original.toBytes());
      long before = threads.getCurrentThreadAllocatedBytes();
      readsSafely(mutated, original);
      long allocated = threads.getCurrentThreadAllocatedBytes() - before;
      long allowed = 2L * mutated.length + SPARE_BYTES;
      if (allocated > allowed) {
        assertThat(allocated).as("bytes allocated for mutation %d", i).isZero();
      }
    }
    assertThat(refusedOnOpening).isGreaterThan(MUTATIONS / 2);
    assertThat(refusedOnVerifying).isGreaterThan(MUTATIONS / 50);
    assertThat(accepted).isGreaterThan(MUTATIONS / 100);
  }

  private Snapshot snapshot(int count, double rate) {
    return Snapshot.build(
        SnapshotTest.hashes(random, count, 4, 3), SnapshotTest.parameters(4, 3, rate));
  }

  private void readsSafely(byte[] bytes, Snapshot original) {
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
    assertThat(values(snapshot)).isEqualTo(values(original));
  }

  @Test
  void damagedBlobsAndManifestsAreRefusedOrLeadToTheSame() throws Exception {
    PublishedSet publisher = new PublishedSet("test", SnapshotTest.parameters(4, 3, 0.01).set());
    TreeSet<Long> live = new TreeSet<>();
    random.longs(200).forEach(live::add);
    publisher.newBase = (since, bytes) -> false;
    publisher.newList = (since, bytes) -> false;
    Manifest first = publisher.window(0, live);
    SnapshotSet held = SnapshotSet.of(first, publisher.snapshots());
    Manifest manifest = first;
    for (int window = 1; window <= 4; window++) {
      // In the second window, with a list that holds a section of each shard since its base.
      boolean lists = window == 2;
      publisher.newList = (since, bytes) -> lists;
      live.removeIf(hash -> random.nextInt(20) == 0);
      random.longs(10).forEach(live::add);
      manifest = publisher.window(window, live);
    }
    Chain chain = new Chain(publisher, manifest, held);
    int sameSet = 0;
    int refused = 0;
    for (int i = 0; i < MUTATIONS / 5; i++) {
      int kind = i % 4;
      byte[] good = chain.blob(kind);
      byte[] bytes = mutated(good);
      if (random.nextInt(4) > 0) {
        ForgedFile.mendEnd(bytes);
      }
      boolean fromHeld = random.nextBoolean();
      long before = threads.getCurrentThreadAllocatedBytes();
      boolean reached = chain.reaches(kind, bytes, fromHeld);
      long allocated = threads.getCurrentThreadAllocatedBytes() - before;
      // A manifest may state 65,536 shards, each with a leaf in the tree.
      if (i > 1000 && allocated > (kind == 3 ? 32 : 2) * SPARE_BYTES) {
        assertThat(allocated).as("bytes allocated for mutation %d", i).isZero();
      }
      sameSet += reached ? 1 : 0;
      refused += reached ? 0 : 1;
    }
    assertThat(refused).isGreaterThan(MUTATIONS / 10);
    assertThat(sameSet).isGreaterThan(MUTATIONS / 200);
  }

  /** A chain of blobs in which any may be replaced, with all references to it. */
  private record Chain(PublishedSet publisher, Manifest manifest, SnapshotSet held) {
    private static final int PACK = 0;
    private static final int BASE = 1;
    private static final int LIST = 2;
    private static final int SHARD = 2;

    private BlobReference base() {
      return publisher.list().shards().get(SHARD).base();
    }

    byte[] blob(int kind) throws SnapshotException {
      return switch (kind) {
        case PACK -> publisher.load(manifest.pack()).array();
        case BASE -> publisher.load(base()).array();
        case LIST -> publisher.load(publisher.listReference()).array();
        default -> manifest.toBytes();
      };
    }

    /** Returns false if it is rejected; fails if it leads to a different set. */
    boolean reaches(int kind, byte[] bytes, boolean fromHeld) throws IOException {
      Map<String, byte[]> forged = new HashMap<>();
      BlobLoader loader =
          blob -> {
            byte[] replaced = forged.get(blob.digest());
            return replaced == null ? publisher.load(blob) : ByteBuffer.wrap(replaced);
          };
      SnapshotSet set;
      try {
        Manifest mutated =
            switch (kind) {
              case PACK -> withPack(bytes, forged);
              case BASE -> withBase(bytes, forged);
              case LIST -> withList(bytes, forged);
              default -> Manifest.read(bytes);
            };
        set = CatchUp.to(mutated, fromHeld ? List.of(held) : List.of(), loader).set();
      } catch (SnapshotException e) {
        assertThat(e.getMessage()).hasSizeLessThan(2_500);
        return false;
      }
      for (int shard = 0; shard < 4; shard++) {
        assertThat(values(set.snapshot(shard))).isEqualTo(values(publisher.snapshots()[shard]));
      }
      return true;
    }

    private Manifest withBase(byte[] base, Map<String, byte[]> forged) throws IOException {
      List<BaseList.Shard> shards = new ArrayList<>(publisher.list().shards());
      shards.set(SHARD, new BaseList.Shard(put(base, forged), shards.get(SHARD).sections()));
      return withList(new BaseList("test", publisher.list().sequence(), shards).toBytes(), forged);
    }

    private Manifest withList(byte[] list, Map<String, byte[]> forged) throws IOException {
      Pack newest = new ManifestBlobs(manifest, publisher).newestPack();
      Pack pack =
          new Pack(
              "test",
              newest.sequence(),
              newest.before(),
              newest.keptFrom(),
              put(list, forged),
              basesBytes(list),
              newest.packsSince(),
              newest.sections());
      return withPack(pack.toBytes(), forged);
    }

    /** The fields that a reader of the list expects, so that it continues. */
    private long basesBytes(byte[] list) {
      try {
        return list.length
            + BaseList.read(ByteBuffer.wrap(list), "test", manifest.parameters().shards().count())
                .bases()
                .stream()
                .mapToLong(BlobReference::bytes)
                .sum();
      } catch (SnapshotException e) {
        return list.length;
      }
    }

    private Manifest withPack(byte[] pack, Map<String, byte[]> forged) throws SnapshotException {
      BlobReference reference = put(pack, forged);
      return Manifest.of(
          "test",
          manifest.sequence(),
          manifest.windowStartMillis(),
          manifest.windowEndMillis(),
          manifest.parameters(),
          manifest.count(),
          manifest.root(),
          reference,
          manifest.packBytes() - manifest.pack().bytes() + reference.bytes());
    }

    private static BlobReference put(byte[] blob, Map<String, byte[]> forged)
        throws SnapshotException {
      if (blob.length == 0) {
        throw new MalformedSnapshotException("no reference names an empty blob");
      }
      BlobReference reference = BlobReference.to(blob);
      forged.put(reference.digest(), blob);
      return reference;
    }
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
