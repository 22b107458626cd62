package io.firstseen.cli.report;

import io.firstseen.filters.bloom.BloomShape;
import io.firstseen.filters.cuckoo.CuckooShape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Fills every kind of set with the same keys, queries each set with the same absent keys, and times
 * the operations on this machine.
 *
 * <p>The exact set is queried with keys, all other sets with hashes; the cost of hashing is
 * measured separately.
 */
final class MembershipComparison {
  /** The maximum number of probes. */
  static final int MAX_PROBES = 100_000_000;

  private static final long SEED = 20261122;

  /** The rounds before the measured rounds, for the JIT. */
  private static final int WARM_UP_ROUNDS = 2;

  private static final int FILLING_ROUNDS = 3;
  private static final int ASKING_ROUNDS = 5;

  /** The minimum number of additions in a timed round: a small set is filled several times. */
  private static final int MIN_ADDITIONS = 20_000;

  /** The look-ups in a timed round; fewer for few probes or very long keys. */
  private static final int MAX_LOOKUPS = 1 << 17;

  private static final int MIN_LOOKUPS = 1_000;

  /** The maximum size of a round's copies of keys in bytes. */
  private static final long MAX_SAMPLE_BYTES = 1 << 25;

  // From the layout in ComparedSet, rounded up: a reference, a string and the header of its array;
  // a node and its share of the table while the table doubles.
  private static final long KEPT_KEY_BYTES = 48;
  private static final long SET_ENTRY_BYTES = 56;

  private final ComparedKeys keys;
  private final Consumer<String> progress;
  private final int lookups;
  private final long[] absentHashes;

  /** Chooses different keys for each timed round, because repeated keys would be cached. */
  private final SplittableRandom random = new SplittableRandom(SEED);

  /**
   * Prepares a comparison of at least one key with a number of absent keys in [1, {@link
   * #MAX_PROBES}]; {@code progress} receives the name of each step when it starts.
   */
  MembershipComparison(ComparedKeys keys, int probes, Consumer<String> progress) {
    this.keys = keys;
    this.progress = progress;
    long sampledKeyBytes = KEPT_KEY_BYTES + keys.keyBytes / keys.keys.length;
    long wanted = Math.min(MAX_LOOKUPS, Math.max(MIN_LOOKUPS, probes));
    this.lookups = (int) Math.min(wanted, MAX_SAMPLE_BYTES / sampledKeyBytes);
    this.absentHashes = new long[probes];
  }

  /** The approximate heap in bytes for a number of distinct keys and their total size. */
  static double heapBytes(double keys, double keyBytes, int probes) {
    // The keys with their hashes, and a copy of the keys in the exact set.
    return keys * (2 * KEPT_KEY_BYTES + SET_ENTRY_BYTES + Long.BYTES)
        + 2 * keyBytes
        + (double) probes * Long.BYTES
        + 2 * MAX_SAMPLE_BYTES;
  }

  /**
   * Runs the comparison. Takes from seconds to minutes, in proportion to keys, probes and rates.
   *
   * @param rates the configured false-positive rates of the sets
   * @throws IllegalArgumentException if a set does not support this number of keys at a rate
   */
  MembershipReport run(List<Double> rates) {
    for (double rate : rates) {
      // Checks the rate before the work.
      BloomShape.forCapacity(keys.keys.length, rate);
      CuckooShape.forCapacity(keys.keys.length, rate);
    }
    List<SetFigures> sets = new ArrayList<>();
    sets.add(exactSet());
    for (double rate : rates) {
      for (HashedStructure structure : HashedStructure.values()) {
        sets.add(hashedSet(structure, rate));
      }
    }
    return new MembershipReport(
        keys.keys.length,
        keys.keyBytes,
        absentHashes.length,
        keys.keyHash.algorithm(),
        hashNanos(),
        sets);
  }

  private SetFigures exactSet() {
    return measure(
        "exact",
        "exact hash set",
        0,
        () -> fresh(keys.keys.length, i -> keys.keys[i]),
        ComparedSet::exact,
        this::findAbsentKeys,
        () -> fresh(lookups, i -> randomKey()),
        () -> fresh(lookups, i -> keys.absentKeyCandidate(random.nextInt(absentHashes.length))));
  }

  /** Selects candidates that are not in the exact set, which then has no false positives. */
  private int findAbsentKeys(ComparedSet<String[]> exact) {
    int found = 0;
    for (long i = 0; found < absentHashes.length; i++) {
      String candidate = keys.absentKeyCandidate(i);
      if (exact.claimed().applyAsInt(new String[] {candidate}) == 0) {
        absentHashes[found++] = keys.hashOf(candidate);
      }
    }
    return 0;
  }

  private SetFigures hashedSet(HashedStructure structure, double rate) {
    return measure(
        structure.id,
        structure.title,
        rate,
        () -> keys.hashes,
        hashes -> structure.fill(hashes, rate),
        set -> set.claimed().applyAsInt(absentHashes),
        () -> randomOf(keys.hashes),
        () -> randomOf(absentHashes));
  }

  private double hashNanos() {
    long[] hashes = new long[lookups];
    return medianNanos(
        ASKING_ROUNDS,
        lookups,
        () ->
            Stream.generate(() -> ComparedKeys.bytesOf(randomKey()))
                .limit(lookups)
                .toArray(byte[][]::new),
        sample -> {
          for (int i = 0; i < sample.length; i++) {
            hashes[i] = keys.keyHash.hash(sample[i]);
          }
        });
  }

  private String randomKey() {
    return keys.keys[random.nextInt(keys.keys.length)];
  }

  private long[] randomOf(long[] hashes) {
    return random.ints(lookups, 0, hashes.length).mapToLong(i -> hashes[i]).toArray();
  }

  private static String[] fresh(int count, IntFunction<String> keys) {
    return IntStream.range(0, count)
        .mapToObj(i -> ComparedKeys.fresh(keys.apply(i)))
        .toArray(String[]::new);
  }

  /** Measures one kind of set, with query arguments of type K. */
  private <K> SetFigures measure(
      String id,
      String title,
      double requestedRate,
      Supplier<K> allKeys,
      Function<K, ComparedSet<K>> filling,
      ToIntFunction<ComparedSet<K>> falsePositives,
      Supplier<K> hits,
      Supplier<K> misses) {
    String name =
        requestedRate == 0
            ? title
            : title + " at " + MembershipReport.percent(requestedRate) + " %";
    progress.accept(name + ": filling");
    int fillings = fillings();
    AtomicReference<ComparedSet<K>> last = new AtomicReference<>();
    double addNanos =
        medianNanos(
            FILLING_ROUNDS,
            Math.multiplyExact(fillings, keys.keys.length),
            () -> {
              // Free the old set first, because two sets may not fit into the heap.
              last.set(null);
              return Stream.generate(allKeys).limit(fillings).toList();
            },
            copies -> copies.forEach(copy -> last.set(filling.apply(copy))));
    ComparedSet<K> set = last.get();
    progress.accept(name + ": querying absent keys");
    int claimedAbsentKeys = falsePositives.applyAsInt(set);
    progress.accept(name + ": timing");
    double hitNanos = askNanos(set, hits, lookups, title);
    double missNanos = askNanos(set, misses, 0, title);
    return new SetFigures(
        id,
        title,
        requestedRate,
        keys.keys.length,
        set.sizeBytes().getAsLong(),
        set.predictedFalsePositiveRate().getAsDouble(),
        claimedAbsentKeys,
        absentHashes.length,
        addNanos,
        hitNanos,
        missNanos);
  }

  /** The number of times that a set is filled in a round, each time with different keys. */
  private int fillings() {
    int count = keys.keys.length;
    long roomFor = MAX_SAMPLE_BYTES / (KEPT_KEY_BYTES * count + keys.keyBytes);
    int wanted = (MIN_ADDITIONS + count - 1) / count;
    return (int) Math.max(1, Math.min(wanted, roomFor));
  }

  private <K> double askNanos(
      ComparedSet<K> set, Supplier<K> sample, int leastClaimed, String title) {
    return medianNanos(
        ASKING_ROUNDS,
        lookups,
        sample,
        probes -> {
          int claimed = set.claimed().applyAsInt(probes);
          if (claimed < leastClaimed) {
            throw new IllegalStateException(
                "the %s reported only %d of its %d keys as present"
                    .formatted(title, claimed, leastClaimed));
          }
        });
  }

  /**
   * The median of an odd number of measured rounds, in nanoseconds per operation. The preparation
   * is not timed; the round must use the results of its operations.
   */
  private static <T> double medianNanos(
      int rounds, int operations, Supplier<T> preparation, Consumer<T> round) {
    double[] nanos = new double[rounds];
    for (int i = -WARM_UP_ROUNDS; i < rounds; i++) {
      T prepared = preparation.get();
      long start = System.nanoTime();
      round.accept(prepared);
      long elapsed = System.nanoTime() - start;
      if (i >= 0) {
        nanos[i] = (double) elapsed / operations;
      }
    }
    Arrays.sort(nanos);
    return nanos[rounds / 2];
  }
}
