package io.firstseen.fuzz;

import static io.firstseen.fuzz.Fail.require;
import static io.firstseen.fuzz.Fail.requireSame;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.MalformedSnapshotException;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.UnsupportedSnapshotException;
import java.io.UncheckedIOException;

/**
 * Snapshots are either rejected with an exception that names the problem, or readable to their end.
 * A verified snapshot is the canonical form of its values. Queries do not assume that the input is
 * valid.
 */
class SnapshotFuzzTest {
  /** One table entry per bucket, and at most one value of 8 bytes per bit. */
  private static final long FACTOR = 64;

  @FuzzTest
  void snapshot(byte[] input) throws Exception {
    Bounds.hold(input.length, FACTOR, () -> read(input));
    byte[] mended = Checksums.mendSnapshot(input);
    Bounds.hold(input.length, FACTOR, () -> read(mended));
  }

  private static void read(byte[] file) throws SnapshotException {
    Snapshot snapshot;
    try {
      snapshot = Snapshot.read(file);
    } catch (MalformedSnapshotException | UnsupportedSnapshotException e) {
      return;
    }
    Shards shards = snapshot.header().parameters().set().shards();
    long first =
        shards.bits() == 0 ? 0 : (long) snapshot.header().parameters().shard() << -shards.bits();
    for (long suffix : new long[] {0, 1, 1L << 40, -1L}) {
      snapshot.mightContain(first | suffix >>> shards.bits());
    }
    try {
      snapshot.verify();
    } catch (MalformedSnapshotException e) {
      return;
    }
    Snapshot again;
    try {
      again = Section.whole(snapshot).applyTo(null, snapshot.header().parameters());
    } catch (UncheckedIOException e) {
      // The snapshot can be read, but it has more hashes than may be published.
      require(snapshot.header().hashCount() - snapshot.header().count() > 1L << 40, e.getMessage());
      return;
    } catch (MalformedSnapshotException e) {
      // The snapshot has too many hashes for its rate. Only writers check this.
      return;
    }
    requireSame("a verified snapshot and the snapshot of its values", again.toBytes(), file);
  }
}
