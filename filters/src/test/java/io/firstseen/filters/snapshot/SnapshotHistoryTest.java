package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Random histories of a shard: windows of adds and removals, with hashes of one value, sets that
 * become empty and sets that outgrow the bits of their values. A base with the sections of all
 * windows applied, one by one or at once, is byte for byte the snapshot that is built from the
 * hashes.
 */
class SnapshotHistoryTest {
  private static final int HISTORIES = Integer.getInteger("firstseen.scale", 1) == 1 ? 400 : 1000;

  private int changes;
  private int bases;
  private int emptied;
  private int sharedValues;
  private int unchangedValues;

  @Test
  void aBaseAndItsSectionsGiveTheFullSnapshot() throws Exception {
    for (int seed = 0; seed < HISTORIES; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      SetParameters set = parameters(random);
      NavigableSet<Long> hashes = new TreeSet<>(Long::compareUnsigned);
      Snapshot held = null;
      List<Section> sinceNothing = new ArrayList<>();
      int windows = 1 + random.nextInt(12);
      for (int window = 1; window <= windows; window++) {
        change(hashes, set, random);
        SnapshotParameters parameters =
            new SnapshotParameters(set, "history", set.shards().count() - 1, window, 0, window);
        if (held == null
            || !held.header().universe().keepsRate(hashes.size(), set.falsePositiveRate())) {
          Universe universe = set.universeFor(hashes.size() + random.nextInt(20));
          held = Snapshot.build(array(hashes), universe, parameters);
          sinceNothing.add(Section.whole(held));
          bases++;
          continue;
        }
        Snapshot full = Snapshot.build(array(hashes), held.header().universe(), parameters);
        Section section = Section.between(held, full);
        Section written = written(held, hashes, parameters);
        assertThat(written.toByteBuffer())
            .as("seed %d, window %d", seed, window)
            .isEqualTo(section.toByteBuffer());
        held = Section.read(written.toByteBuffer()).applyTo(held, parameters);
        sinceNothing.add(section);
        assertThat(held.toBytes()).as("seed %d, window %d", seed, window).isEqualTo(full.toBytes());
        count(held, section);
      }
      held.verify();
      Snapshot atOnce = Section.applyAll(null, sinceNothing, held.header().parameters());
      assertThat(atOnce.toBytes()).as("seed %d", seed).isEqualTo(held.toBytes());
    }
    assertThat(changes).isGreaterThan(4 * HISTORIES);
    assertThat(bases).as("some by growth").isGreaterThan(HISTORIES + HISTORIES / 2);
    assertThat(emptied).isGreaterThan(HISTORIES / 10);
    assertThat(sharedValues).isGreaterThan(HISTORIES);
    assertThat(unchangedValues).as("hashes changed, values did not").isGreaterThan(HISTORIES / 20);
  }

  /**
   * A writer that ignores hashes with a shared value produces a different set, which does not match
   * the root.
   */
  @Test
  void sectionsThatForgetOfSharedValuesMakeAnotherSet() throws Exception {
    int wrongSets = 0;
    for (int seed = 0; seed < HISTORIES; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      SetParameters set = parameters(random);
      NavigableSet<Long> hashes = new TreeSet<>(Long::compareUnsigned);
      change(hashes, set, random);
      Universe universe = set.universeFor(hashes.size());
      SnapshotParameters parameters =
          new SnapshotParameters(set, "history", set.shards().count() - 1, 1, 0, 1);
      Snapshot parent = Snapshot.build(array(hashes), universe, parameters);
      long values = parent.header().count();
      if (values < 2 || values == parent.header().hashCount()) {
        continue;
      }
      // The first of two hashes of one value goes.
      Long before = null;
      int place = 0;
      for (Long hash : hashes) {
        if (before != null && valueOf(hash, set, universe) == valueOf(before, set, universe)) {
          break;
        }
        place += before == null ? 0 : 1;
        before = hash;
      }
      hashes.remove(before);
      Snapshot child = Snapshot.build(array(hashes), universe, parameters);
      SectionWriter wrong = new SectionWriter(universe, values);
      wrong.remove(place);
      Snapshot made = wrong.finish(hashes.size()).applyTo(parent, parameters);
      assertThat(made.header().setDigest()).isNotEqualTo(child.header().setDigest());
      wrongSets++;
    }
    assertThat(wrongSets).isGreaterThan(HISTORIES / 10);
  }

  /** The value of a hash by the definition. */
  private static long valueOf(long hash, SetParameters set, Universe universe) {
    return new BigInteger(Long.toUnsignedString(set.shards().suffix(hash)))
        .multiply(universe.range())
        .shiftRight(64)
        .longValue();
  }

  private void count(Snapshot child, Section section) {
    changes++;
    emptied += child.header().count() == 0 ? 1 : 0;
    sharedValues += child.header().count() < child.header().hashCount() ? 1 : 0;
    boolean unchanged = section.addedCount() + section.removedCount() == 0;
    unchangedValues += unchanged && child.header().count() > 0 ? 1 : 0;
  }

  /** The section as one who has hashes in order makes it, in one pass and without the child. */
  private static Section written(
      Snapshot parent, NavigableSet<Long> hashes, SnapshotParameters parameters) {
    SnapshotHeader header = parent.header();
    SetParameters set = parameters.set();
    Universe universe = header.universe();
    NavigableSet<Long> values = new TreeSet<>(Long::compareUnsigned);
    hashes.forEach(hash -> values.add(valueOf(hash, set, universe)));
    SectionWriter section = new SectionWriter(universe, header.count());
    List<Long> before = new ArrayList<>();
    parent.values().forEachRemaining((long value) -> before.add(value));
    int place = 0;
    for (long value : values) {
      while (place < before.size() && Long.compareUnsigned(before.get(place), value) < 0) {
        section.remove(place++);
      }
      if (place < before.size() && before.get(place) == value) {
        place++;
      } else {
        section.add(value);
      }
    }
    while (place < before.size()) {
      section.remove(place++);
    }
    return section.finish(hashes.size());
  }

  private static SetParameters parameters(SplittableRandom random) {
    Shards shards = new Shards(1 << random.nextInt(5));
    double rate = random.nextBoolean() ? 0.1 : 0x1p-9;
    return SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, shards, rate);
  }

  private static void change(
      NavigableSet<Long> hashes, SetParameters set, SplittableRandom random) {
    int most = 1 << random.nextInt(9);
    boolean clear = random.nextInt(6) == 0;
    List<Long> old = new ArrayList<>(hashes);
    for (Long hash : old) {
      if (clear || random.nextInt(10) == 0) {
        hashes.remove(hash);
      }
    }
    if (!clear) {
      for (int i = random.nextInt(most); i > 0; i--) {
        hashes.add(hash(set, random));
        // Another one that differs in its last bits alone.
        if (random.nextInt(8) == 0 && !hashes.isEmpty()) {
          hashes.add(hashes.first() ^ 1L << random.nextInt(16));
        }
      }
    }
  }

  private static long hash(SetParameters set, SplittableRandom random) {
    int bits = set.shards().bits();
    long shard = set.shards().count() - 1L;
    return bits == 0 ? random.nextLong() : random.nextLong() >>> bits | shard << (64 - bits);
  }

  private static long[] array(NavigableSet<Long> numbers) {
    return numbers.stream().mapToLong(Long::longValue).toArray();
  }
}
