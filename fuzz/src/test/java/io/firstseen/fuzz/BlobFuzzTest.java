package io.firstseen.fuzz;

import static io.firstseen.fuzz.Fail.requireSame;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.Base;
import io.firstseen.filters.snapshot.BaseList;
import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.MalformedSnapshotException;
import io.firstseen.filters.snapshot.Pack;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.filters.snapshot.UnsupportedSnapshotException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Blobs (packs, bases and lists of bases) and their sections are either rejected with an exception
 * that names the problem, or written back unchanged. A section that can be applied is the canonical
 * form of its change.
 */
class BlobFuzzTest {
  /**
   * A shard of a list needs one byte of input and three small objects; applied sections become
   * sets.
   */
  private static final long FACTOR = 1_024;

  /**
   * The maximum number of sections per blob that are applied, because each gives a set with a
   * digest.
   */
  private static final int MAX_APPLIED = 3;

  /** A set with few values may have 65,536 buckets: building it takes 0.8 MB in all. */
  private static final long SPARE_BYTES = MAX_APPLIED * (4L << 20);

  private static final int SHARDS = 16;
  private static final SnapshotParameters PARAMETERS =
      new SnapshotParameters(
          new SetParameters(
              KeyHash.Algorithm.SIPHASH_2_4, 1, Canonicaliser.NONE, 1, new Shards(1), 0.01),
          "test",
          0,
          1,
          0,
          1);
  private static final Snapshot PARENT =
      Snapshot.build(
          new SplittableRandom(5).longs(30).toArray(), new Universe(2, 2_500), PARAMETERS);

  @FuzzTest
  void blob(byte[] input) throws Exception {
    Bounds.hold(input.length, FACTOR, SPARE_BYTES, () -> read(input));
    byte[] mended = Checksums.mendBlob(input);
    Bounds.hold(input.length, FACTOR, SPARE_BYTES, () -> read(mended));
  }

  @FuzzTest
  void section(byte[] input) throws Exception {
    Bounds.hold(input.length, FACTOR, SPARE_BYTES, () -> readSection(input));
  }

  private static void read(byte[] blob) throws SnapshotException {
    ByteBuffer bytes = ByteBuffer.wrap(blob);
    try {
      BlobFrame frame = BlobFrame.read(bytes);
      Pack.peekSequence(bytes);
      switch (frame.kind()) {
        case PACK -> {
          Pack pack = Pack.read(bytes, frame.setName(), SHARDS);
          requireSame("a pack", pack.toBytes(), blob);
          apply(new ArrayList<>(pack.sections().values()));
        }
        case BASE -> {
          int shard = Base.shardOf(bytes, frame.setName());
          Section section = Base.read(bytes, frame.setName(), shard);
          requireSame("a base", Base.write(frame.setName(), shard, section), blob);
          apply(List.of(section));
        }
        case BASE_LIST -> {
          BaseList list = BaseList.read(bytes, frame.setName());
          requireSame("a list of bases", list.toBytes(), blob);
          apply(list.shards().stream().flatMap(shard -> shard.sections().stream()).toList());
        }
      }
    } catch (MalformedSnapshotException | UnsupportedSnapshotException e) {
      return;
    }
  }

  private static void readSection(byte[] bytes) throws SnapshotException {
    try {
      apply(List.of(Section.read(ByteBuffer.wrap(bytes))));
    } catch (MalformedSnapshotException | UnsupportedSnapshotException e) {
      return;
    }
  }

  private static void apply(List<Section> all) {
    List<Section> sections = all.subList(0, Math.min(MAX_APPLIED, all.size()));
    for (Section section : sections) {
      try {
        section.verify();
        Snapshot parent = section.isWhole() ? null : PARENT;
        Snapshot child = section.applyTo(parent, PARAMETERS);
        child.verify();
        Section again = section.isWhole() ? Section.whole(child) : Section.between(PARENT, child);
        requireSame("a section", bytes(again), bytes(section));
      } catch (MalformedSnapshotException e) {
        // Refused.
      }
    }
    if (!sections.isEmpty()) {
      try {
        Section.applyAll(PARENT, sections, PARAMETERS).verify();
      } catch (MalformedSnapshotException e) {
        // Refused.
      }
    }
  }

  private static byte[] bytes(Section section) {
    byte[] bytes = new byte[section.length()];
    section.toByteBuffer().get(bytes);
    return bytes;
  }
}
