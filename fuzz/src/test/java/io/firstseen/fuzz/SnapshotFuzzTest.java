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
 * Snapshots: refused by an exception that says what is wrong, or readable to their end; and what
 * verifies is the one form of its values. A query takes no input for granted.
 */
class SnapshotFuzzTest {
  /** An entry of a table for each bucket, and a value of 8 bytes for each bit at most. */
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
      // It can be read, but it has more hashes than may be published.
      require(snapshot.header().hashCount() - snapshot.header().count() > 1L << 40, e.getMessage());
      return;
    } catch (MalformedSnapshotException e) {
      // Its hashes are too many for the rate. Only writers see to that.
      return;
    }
    requireSame("a verified snapshot and that of its values", again.toBytes(), file);
  }
}
