package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SectionTest {
  private static final SetParameters SET =
      SetParameters.of(KeyHash.fixed(), Canonicaliser.URL, new Shards(4), 0.1);
  private static final Universe UNIVERSE = new Universe(32, 1L << 35);
  private static final Universe SMALL = new Universe(4, 1500);

  private final long[] hashes = SnapshotTest.hashes(new SplittableRandom(211), 1000, 4, 1);
  private final Snapshot parent = snapshot(1, Arrays.copyOf(hashes, 900));
  private final Snapshot child = snapshot(2, Arrays.copyOfRange(hashes, 10, 1000));
  private final Section change = Section.between(parent, child);

  @Test
  void makesTheChildByteForByte() throws Exception {
    assertThat(change.isWhole()).isFalse();
    assertThat(change.addedCount()).isEqualTo(100);
    assertThat(change.removedCount()).isEqualTo(10);
    Section read = reread(change);
    assertThat(read.length()).isEqualTo(change.length());
    assertThat(read.addedCount()).isEqualTo(100);
    assertThat(read.removedCount()).isEqualTo(10);
    assertThat(read.applyTo(parent, parameters(2)).toBytes()).isEqualTo(child.toBytes());
    assertThat(read.applyTo(Snapshot.read(parent.toBytes()), parameters(2)).digest())
        .isEqualTo(child.digest());
  }

  @Test
  void aSnapshotWithTooManyHashesIsRefused() throws Exception {
    long most = child.header().count() + (1L << 40);
    assertThat(reread(Section.whole(withHashes(most))).isWhole()).isTrue();
    assertThat(reread(Section.between(parent, withHashes(most))).isWhole()).isFalse();
    Snapshot forged = withHashes(most + 1);
    for (ThrowingCallable making :
        List.<ThrowingCallable>of(
            () -> Section.whole(forged), () -> Section.between(parent, forged))) {
      assertThatThrownBy(making)
          .isInstanceOf(UncheckedIOException.class)
          .cause()
          .isInstanceOf(MalformedSnapshotException.class)
          .hasMessageContaining("more than the number of values, 990, got " + (most + 1));
    }
  }

  private Snapshot withHashes(long hashCount) throws SnapshotException {
    int headerBytes = ForgedFile.headerBytes(child.header().parameters().setName());
    return Snapshot.read(
        ForgedFile.of(child.toBytes(), headerBytes, file -> file.putLong(72, hashCount)));
  }

  @Test
  void aWholeSetNeedsNoParent() throws Exception {
    Section whole = reread(Section.whole(child));
    assertThat(whole.isWhole()).isTrue();
    assertThat(whole.addedCount()).isEqualTo(child.header().count());
    assertThat(whole.removedCount()).isZero();
    assertThat(whole.applyTo(null, parameters(2)).toBytes()).isEqualTo(child.toBytes());
    assertThat(whole.applyTo(parent, parameters(2)).toBytes()).isEqualTo(child.toBytes());
  }

  @Test
  void isTheWholeSetIfTheUniversesDiffer() throws Exception {
    Snapshot wider =
        Snapshot.build(
            Arrays.copyOfRange(hashes, 10, 1000), new Universe(32, 1L << 36), parameters(2));
    Section section = Section.between(parent, wider);
    assertThat(section.isWhole()).isTrue();
    assertThat(section.applyTo(parent, parameters(2)).toBytes()).isEqualTo(wider.toBytes());
  }

  @Test
  void hasTheSpecifiedBytes() throws Exception {
    Universe universe = new Universe(1, 400);
    SetParameters set = SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), 0.01);
    SnapshotParameters parameters = new SnapshotParameters(set, "test", 0, 1, 0, 1);
    // The values 100, twice, and 300.
    long[] hashes = {1L << 62, (1L << 62) + 1, 3L << 62};
    Snapshot before = Snapshot.build(hashes, universe, parameters);
    // m = floor(200 · ln 2 + 1/2) = 139, s = 7, c = 117. 100: 0, 100 in 7 bits.
    // 199 = 139 + 60: 10, 60 in 7 bits.
    assertThat(HexFormat.of().formatHex(bytesOf(Section.whole(before))))
        .isEqualTo("02" + "01" + "01" + "9003" + "02" + "649e00");
    // The value 0 comes, that at place 1 goes.
    hashes[2] = 0;
    Snapshot after = Snapshot.build(hashes, universe, parameters);
    // Added: m = 277, s = 8, c = 235. 0: 0, 0 in 8 bits. Removed: m = 1, s = 0. 1: 10.
    assertThat(HexFormat.of().formatHex(bytesOf(Section.between(before, after))))
        .isEqualTo("01" + "01" + "01" + "01" + "09" + "0040");
  }

  @Test
  void leadsFromAndToTheEmptySet() throws Exception {
    Snapshot empty = snapshot(3, new long[0]);
    Section clear = reread(Section.between(parent, empty));
    assertThat(clear.applyTo(parent, parameters(3)).toBytes()).isEqualTo(empty.toBytes());
    Section fill = reread(Section.between(empty, child));
    assertThat(fill.applyTo(empty, parameters(2)).toBytes()).isEqualTo(child.toBytes());
    Section nothing = reread(Section.between(parent, parent));
    assertThat(nothing.length()).isEqualTo(5);
    assertThat(nothing.applyTo(parent, parameters(1)).toBytes()).isEqualTo(parent.toBytes());
    Section whole = reread(Section.whole(empty));
    assertThat(whole.applyTo(null, parameters(3)).toBytes()).isEqualTo(empty.toBytes());
  }

  @Property(seed = "303", tries = 300, edgeCases = EdgeCasesMode.NONE)
  void changesGiveWhatIsBuiltFromTheHashes(
      @ForAll @Size(max = 80) Set<Long> gone,
      @ForAll @Size(max = 80) Set<Long> come,
      @ForAll @Size(max = 120) Set<Long> stay,
      @ForAll boolean small)
      throws Exception {
    Universe universe = small ? SMALL : UNIVERSE;
    Snapshot before = snapshot(1, hashes(gone, stay), universe);
    Snapshot after = snapshot(2, hashes(come, stay), universe);
    Section section = reread(Section.between(before, after));
    section.verify();
    assertThat(section.applyTo(before, parameters(2)).toBytes()).isEqualTo(after.toBytes());
    Section whole = reread(Section.whole(after));
    whole.verify();
    assertThat(whole.applyTo(null, parameters(2)).toBytes()).isEqualTo(after.toBytes());
  }

  @Property(seed = "304", tries = 300, edgeCases = EdgeCasesMode.NONE)
  void manyAtOnceGiveWhatTheyGiveOneByOne(
      @ForAll @Size(min = 1, max = 12) List<@Size(max = 40) Set<Long>> windows,
      @ForAll @Size(max = 60) Set<Long> first,
      @ForAll boolean small,
      @ForAll @IntRange(min = 0, max = 40) int wholeAt,
      @ForAll boolean fromNothing)
      throws Exception {
    Universe universe = small ? SMALL : UNIVERSE;
    Snapshot begin = fromNothing ? null : snapshot(0, hashes(first, first), universe);
    Snapshot built = begin;
    Snapshot oneByOne = begin;
    Set<Long> live = new HashSet<>(first);
    List<Section> sections = new ArrayList<>();
    for (int window = 0; window < windows.size(); window++) {
      // Existing values are removed, new values are added.
      for (long hash : windows.get(window)) {
        if (!live.remove(hash)) {
          live.add(hash);
        }
      }
      boolean whole = built == null || window == wholeAt;
      if (whole && window == wholeAt) {
        universe = new Universe(universe.buckets(), universe.width() + 1);
      }
      Snapshot next = snapshot(window, hashes(live, live), universe);
      Section section = reread(whole ? Section.whole(next) : Section.between(built, next));
      oneByOne = section.applyTo(oneByOne, parameters(window));
      assertThat(oneByOne.toBytes()).isEqualTo(next.toBytes());
      sections.add(section);
      built = next;
    }
    assertThat(Section.applyAll(begin, sections, parameters(windows.size() - 1)).toBytes())
        .isEqualTo(built.toBytes());
  }

  /** A whole set does not need the previous sections, nor a parent. */
  @Test
  void aWholeSetBeginsAnew() throws Exception {
    List<Section> sections = List.of(change, change, Section.whole(parent), change);
    assertThat(Section.applyAll(null, sections, parameters(2)).toBytes())
        .isEqualTo(child.toBytes());
    assertThat(
            Section.applyAll(null, List.of(change, Section.whole(child)), parameters(2)).toBytes())
        .isEqualTo(child.toBytes());
  }

  @Test
  void aChangeNeedsAParent() {
    assertMalformed("changes; no previous set", () -> change.applyTo(null, parameters(2)));
    assertMalformed(
        "changes; no previous set",
        () -> Section.applyAll(null, List.of(change, change), parameters(2)));
  }

  /** Only the root tells that a parent was the wrong one, if the change fits it. */
  @Test
  void takesAWrongParentAtOnceAsItDoesOneByOne() throws Exception {
    SplittableRandom random = new SplittableRandom(305);
    Section nothing = Section.between(child, child);
    int refused = 0;
    for (int i = 0; i < 200; i++) {
      long[] others = Arrays.copyOf(hashes, i % 2 == 0 ? 900 : 890 + random.nextInt(10));
      // The last 100 are those that the change adds.
      others[random.nextInt(10)] = hashes[850 + random.nextInt(150)];
      Snapshot other = snapshot(1, others);
      byte[] oneByOne = null;
      try {
        oneByOne = change.applyTo(other, parameters(2)).toBytes();
      } catch (MalformedSnapshotException e) {
        refused++;
      }
      byte[] atOnce = null;
      try {
        atOnce = Section.applyAll(other, List.of(change, nothing), parameters(2)).toBytes();
      } catch (MalformedSnapshotException e) {
        // Compared below.
      }
      assertThat(atOnce).isEqualTo(oneByOne);
    }
    assertThat(refused).isBetween(50, 190);
  }

  @Test
  void refusesAnAddedValueThatIsThere() {
    List<Long> values = new ArrayList<>();
    parent.values().forEachRemaining((long value) -> values.add(value));
    for (int place : new int[] {0, 450, 899}) {
      for (int form = 0; form < 4; form++) {
        SectionWriter writer = new SectionWriter(UNIVERSE, 900);
        if (form >= 2) {
          // New values: with 900 of 2^20 values, their neighbours are free.
          writer.add(values.get(place) - 1);
        }
        writer.add(values.get(place));
        if (form % 2 == 1) {
          writer.remove(place);
        }
        Section wrong = writer.finish(902);
        String facts = "added value; got " + values.get(place);
        assertMalformed(facts, () -> wrong.applyTo(parent, parameters(2)));
        assertMalformed(
            facts, () -> Section.applyAll(parent, List.of(wrong, change), parameters(2)));
      }
    }
  }

  @Test
  void refusesMoreRemovalsThanValues() {
    SectionWriter writer = new SectionWriter(UNIVERSE, 900);
    for (int place = 0; place < 900; place++) {
      writer.remove(place);
    }
    Section clear = writer.finish(0);
    Snapshot few = snapshot(1, Arrays.copyOf(hashes, 899));
    assertMalformed("at most 899; removed; got 900", () -> clear.applyTo(few, parameters(2)));
    assertMalformed(
        "at most 0; removed; got 900",
        () -> Section.applyAll(parent, List.of(clear, clear), parameters(2)));
  }

  @Test
  void theWriterRefusesWhatCanBeNoChange() {
    assertRefused(
        "numbers must be ascending and distinct, got 3 after 4",
        writer -> {
          writer.add(4);
          writer.add(3);
        });
    assertRefused("a number must be at most 899, got 900", writer -> writer.remove(900));
    assertRefused("a number must be at most 1048575", writer -> writer.add(1 << 20));
    SectionWriter tooMany = new SectionWriter(UNIVERSE, 0);
    tooMany.remove(0);
    assertThat(tooMany.countAfter()).isEqualTo(-1);
    assertThatThrownBy(() -> tooMany.finish(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("hashCount must be at least count (-1)");
    assertThatThrownBy(() -> new SectionWriter(UNIVERSE, 900).finish(899))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("hashCount", "count (900)", "899");
  }

  private static void assertRefused(String sentence, Consumer<SectionWriter> changes) {
    SectionWriter writer = new SectionWriter(new Universe(1, 1 << 20), 900);
    changes.accept(writer);
    assertThatThrownBy(() -> writer.finish(1000))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(sentence);
  }

  /** The fields are kind, hidden, then the fields of the kind. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "00 | the kind of a section must be 1 or 2, got 0",
        "03 | the kind of a section must be 1 or 2, got 3",
        "- | the kind of a section needs 1 bytes, only 0 are left",
        "01 | the number of hashes that share a value needs 1 bytes, only 0 are left",
        "01818080808020 | the number of hashes that share a value must be in [0, 1099511627776]",
        "0100818080808020 | the number of values must be in [0, 1099511627776]",
        "010000818080808020 | the number of removed values must be in [0, 1099511627776]",
        "0100000009ff | the codes of the added values must have at most the 8 bits of the section",
        "010009000800 | 9 added values cannot have codes of 8 bits",
        "0100010000 | 1 added values cannot have codes of 0 bits",
        "0100000008ff | 0 added values cannot have codes of 8 bits",
        "010000000000 | 0 removed values cannot have codes of 8 bits",
        "0100000900ff | 9 removed values cannot have codes of 8 bits",
        "0200000100 | buckets must be in [1, 2147483648], got 0",
        "0200010000 | width must be in [1, 2^62], got 0",
        "020004ffffffffffffffff7f00 | width must be in [1, 2^62], got 9223372036854775807",
        "0200801080808080808080804000 | buckets · width must be at most 2^64, got 2048 · 46116",
        "0201016400 | a set without values must have no hashes, got 1",
        "0200016409ff | 9 values cannot have codes of 8 bits",
        "020001640000 | 0 values cannot have codes of 8 bits",
        "02008180046401ff | a set of 1 values cannot have 65537 buckets",
      })
  void refusesForgedFields(String hex, String sentence) {
    byte[] forged = HexFormat.of().parseHex(hex.replace("-", ""));
    assertThatThrownBy(() -> Section.read(ByteBuffer.wrap(forged)))
        .isExactlyInstanceOf(
            sentence.contains("1 or 2")
                ? UnsupportedSnapshotException.class
                : MalformedSnapshotException.class)
        .hasMessageContaining(sentence);
  }

  /** Codes that the fields allow but that do not encode any numbers. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // The place 0 in 10 bits, then something else than zeros, or a byte too many.
        "01000001000001 | the bits after the codes, from bit 10, must be 0",
        "0100000100000000 | the codes must end at bit 24, they end at bit 10",
        // A code that extends past the end, and an index after the last one.
        "0100000100ffff | the code at bit 0 must end by bit 16",
        "0100000100a280 | a number must be at most 899",
      })
  void refusesDamagedCodesOfChanges(String hex, String sentence) throws Exception {
    Section section = Section.read(ByteBuffer.wrap(HexFormat.of().parseHex(hex)));
    assertThatThrownBy(() -> section.applyTo(parent, parameters(2)))
        .isExactlyInstanceOf(MalformedSnapshotException.class)
        .hasMessageContaining(sentence);
    assertThatThrownBy(() -> Section.applyAll(parent, List.of(section, section), parameters(2)))
        .isExactlyInstanceOf(MalformedSnapshotException.class)
        .hasMessageContaining(sentence);
  }

  @Test
  void verifyFindsDamagedCodesOfAWholeSet() throws Exception {
    byte[] bytes = bytesOf(Section.whole(child));
    Section.read(ByteBuffer.wrap(bytes)).verify();
    bytes[bytes.length - 1] ^= 1;
    Section damaged = Section.read(ByteBuffer.wrap(bytes));
    assertThatThrownBy(damaged::verify)
        .isExactlyInstanceOf(MalformedSnapshotException.class)
        .hasMessageContaining("the bits after the codes");
  }

  @Test
  void refusesDamagedCodes() throws Exception {
    Snapshot before = snapshot(1, Arrays.copyOf(hashes, 60));
    Snapshot after = snapshot(2, Arrays.copyOfRange(hashes, 10, 70));
    Section nothing = Section.between(after, after);
    for (Section good : List.of(Section.between(before, after), Section.whole(after))) {
      byte[] bytes = bytesOf(good);
      int refused = 0;
      for (int bit = 0; bit < 8 * bytes.length; bit++) {
        byte[] damaged = bytes.clone();
        damaged[bit / 8] ^= (byte) (1 << bit % 8);
        Snapshot one = null;
        try {
          Section section = Section.read(ByteBuffer.wrap(damaged));
          one = section.applyTo(before, parameters(2));
        } catch (MalformedSnapshotException | UnsupportedSnapshotException e) {
          assertThat(e.getMessage()).hasSizeLessThan(300);
          refused++;
        }
        Snapshot many = null;
        try {
          List<Section> both = List.of(Section.read(ByteBuffer.wrap(damaged)), nothing);
          many = Section.applyAll(before, both, parameters(2));
        } catch (MalformedSnapshotException | UnsupportedSnapshotException e) {
          // Compared below.
        }
        // The hidden hashes, in the second byte, are the hidden hashes of the last section.
        if (bit / 8 != 1) {
          assertThat(many == null).as("bit %d", bit).isEqualTo(one == null);
        }
        if (one != null) {
          one.verify();
          assertThat(one.toBytes()).as("bit %d", bit).isNotEqualTo(after.toBytes());
          assertThat(many.header().setDigest()).isEqualTo(one.header().setDigest());
        }
      }
      assertThat(refused).isBetween(10, 8 * bytes.length - 1);
    }
  }

  /**
   * Memory that applying needs in addition to the child: decoding buffers, which do not grow with
   * the sets.
   */
  @Test
  void appliesInConstantMemoryBesidesParentAndChild() throws Exception {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    for (int count : new int[] {20_000, 320_000}) {
      long[] all = SnapshotTest.hashes(new SplittableRandom(212), count + count / 50, 4, 1);
      Universe universe = Universe.ofBits(40, count);
      Snapshot before = snapshot(1, Arrays.copyOf(all, count), universe);
      Snapshot after = snapshot(2, Arrays.copyOfRange(all, count / 50, all.length), universe);
      Section changes = Section.between(before, after);
      // Once beforehand, so that loading classes does not count.
      assertThat(changes.applyTo(before, parameters(2)).digest()).isEqualTo(after.digest());
      long begin = threads.getCurrentThreadAllocatedBytes();
      changes.applyTo(before, parameters(2));
      long allocated = threads.getCurrentThreadAllocatedBytes() - begin;
      // The growing codes, the joined sections, and the file; an array of values would be 8 bytes
      // per value more, twice the file.
      assertThat(allocated).isLessThan(5L * after.toBytes().length + 100_000);
    }
  }

  private static void assertMalformed(String facts, ThrowingCallable reading) {
    assertThatThrownBy(reading)
        .isExactlyInstanceOf(MalformedSnapshotException.class)
        .hasMessageContainingAll(facts.split("; "));
  }

  private static Section reread(Section section) throws SnapshotException {
    return Section.read(ByteBuffer.wrap(bytesOf(section)));
  }

  private static byte[] bytesOf(Section section) {
    byte[] bytes = new byte[section.length()];
    section.toByteBuffer().get(bytes);
    return bytes;
  }

  /** The numbers of both sets as hashes of shard 1. */
  private static long[] hashes(Set<Long> some, Set<Long> others) {
    Set<Long> all = new HashSet<>(some);
    all.addAll(others);
    return all.stream().mapToLong(number -> number >>> 2 | 1L << 62).toArray();
  }

  private static Snapshot snapshot(long sequence, long[] hashes) {
    return snapshot(sequence, hashes, UNIVERSE);
  }

  private static Snapshot snapshot(long sequence, long[] hashes, Universe universe) {
    return Snapshot.build(hashes, universe, parameters(sequence));
  }

  private static SnapshotParameters parameters(long sequence) {
    return new SnapshotParameters(
        SET, "test", 1, sequence, 1000 * sequence, 1000 * sequence + 1000);
  }
}
