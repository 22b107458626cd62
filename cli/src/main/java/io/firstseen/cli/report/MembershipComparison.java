package io.firstseen.cli.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

/**
 * Fills every kind of set with the same keys, queries each for the same absent keys, and times them
 * on this machine.
 *
 * <p>The exact set is queried with keys, all others with hashes; the cost of hashing is measured
 * separately.
 */
public final class MembershipComparison {
  /** The most probes. */
  public static final int MAX_PROBES = 100_000_000;

  private static final long SEED = 20261122;

  private static final OperationTimer FILLING = new OperationTimer(2, 3);
  private static final OperationTimer ASKING = new OperationTimer(2, 5);

  /** The fewest additions in a timed round: a small set is filled several times. */
  private static final int MIN_ADDITIONS = 20_000;

  /** The look-ups in a timed round, fewer if there are few probes, or keys are very long. */
  private static final int MAX_LOOKUPS = 1 << 17;

  private static final int MIN_LOOKUPS = 1_000;

  /** The maximum bytes of a round's copies of keys. */
  private static final long MAX_SAMPLE_BYTES = 1 << 25;

  // From the layout in ExactKeySet, rounded up: a reference, a string and the header of its array;
  // a node and its share of the table while that doubles.
  private static final long KEPT_KEY_BYTES = 48;
  private static final long SET_ENTRY_BYTES = 56;

  private final ComparedKeys keys;
  private final Consumer<String> progress;
  private final int lookups;
  private final long[] absentHashes;

  /**
   * Chooses a timed round's keys; each round uses other keys, since repeated ones would be cached.
   */
  private final SplittableRandom random = new SplittableRandom(SEED);

  private MembershipComparison(ComparedKeys keys, int probes, Consumer<String> progress) {
    this.keys = keys;
    this.progress = progress;
    long sampledKeyBytes = KEPT_KEY_BYTES + keys.keyBytes() / keys.count();
    long wanted = Math.min(MAX_LOOKUPS, Math.max(MIN_LOOKUPS, probes));
    this.lookups = (int) Math.min(wanted, MAX_SAMPLE_BYTES / sampledKeyBytes);
    this.absentHashes = new long[probes];
  }

  /**
   * About how many bytes of heap a comparison needs.
   *
   * @param keys the number of distinct keys
   * @param keyBytes the bytes of all of them
   */
  public static double heapBytes(double keys, double keyBytes, int probes) {
    // The keys with their hashes, and a copy of the keys in the exact set.
    return keys * (2 * KEPT_KEY_BYTES + SET_ENTRY_BYTES + Long.BYTES)
        + 2 * keyBytes
        + (double) probes * Long.BYTES
        + 2 * MAX_SAMPLE_BYTES;
  }

  /**
   * Makes the comparison. Takes from seconds to minutes, in proportion to keys, probes and rates.
   *
   * @param keys at least one
   * @param falsePositiveRates the rates that sets are made for
   * @param probes how many absent keys each set is queried for, in [1, {@link #MAX_PROBES}]
   * @param progress receives the name of each step as it begins
   * @throws IllegalArgumentException if a set cannot hold that many keys at such a rate
   */
  public static MembershipReport run(
      ComparedKeys keys, List<Double> falsePositiveRates, int probes, Consumer<String> progress) {
    for (double rate : falsePositiveRates) {
      HashedStructure.requirePossible(keys.count(), rate);
    }
    return new MembershipComparison(keys, probes, progress).run(falsePositiveRates);
  }

  private MembershipReport run(List<Double> rates) {
    List<SetFigures> sets = new ArrayList<>();
    sets.add(exactSet());
    for (double rate : rates) {
      for (HashedStructure structure : HashedStructure.values()) {
        sets.add(hashedSet(structure, rate));
      }
    }
    return new MembershipReport(
        keys.count(),
        keys.keyBytes(),
        absentHashes.length,
        keys.keyHash().algorithm(),
        hashNanos(),
        sets);
  }

  private SetFigures exactSet() {
    return new Subject<String[], ExactKeySet>(
            "exact",
            "exact hash set",
            () -> fresh(keys.count(), i -> keys.keys()[i]),
            ExactKeySet::of,
            () -> fresh(lookups, i -> randomKey()),
            () -> fresh(lookups, i -> keys.absentKeyCandidate(random.nextInt(absentHashes.length))))
        .measure(0, this::findAbsentKeys);
  }

  /** Takes the candidates that the exact set does not hold, so it has no false positives. */
  private int findAbsentKeys(ExactKeySet exact) {
    int found = 0;
    for (long i = 0; found < absentHashes.length; i++) {
      String candidate = keys.absentKeyCandidate(i);
      if (!exact.contains(candidate)) {
        absentHashes[found++] = keys.hashOf(candidate);
      }
    }
    return 0;
  }

  private SetFigures hashedSet(HashedStructure structure, double rate) {
    return new Subject<long[], ComparedSet<long[]>>(
            structure.id(),
            structure.title(),
            keys::hashes,
            hashes -> structure.fill(hashes, rate),
            () -> randomOf(keys.hashes()),
            () -> randomOf(absentHashes))
        .measure(rate, set -> set.claimed(absentHashes));
  }

  private double hashNanos() {
    long[] hashes = new long[lookups];
    return ASKING.medianNanos(
        lookups,
        () ->
            Stream.generate(() -> ComparedKeys.bytesOf(randomKey()))
                .limit(lookups)
                .toArray(byte[][]::new),
        sample -> {
          for (int i = 0; i < sample.length; i++) {
            hashes[i] = keys.keyHash().hash(sample[i]);
          }
        });
  }

  private String randomKey() {
    return keys.keys()[random.nextInt(keys.count())];
  }

  private long[] randomOf(long[] hashes) {
    return random.ints(lookups, 0, hashes.length).mapToLong(i -> hashes[i]).toArray();
  }

  private static String[] fresh(int count, IntFunction<String> keys) {
    String[] fresh = new String[count];
    Arrays.setAll(fresh, i -> ComparedKeys.fresh(keys.apply(i)));
    return fresh;
  }

  /**
   * One kind of set under measurement.
   *
   * @param <K> what the set is queried with
   * @param <S> the kind of set
   */
  private final class Subject<K, S extends ComparedSet<K>> {
    private final String id;
    private final String title;
    private final Supplier<K> allKeys;
    private final Function<K, S> filling;
    private final Supplier<K> hits;
    private final Supplier<K> misses;
    private S set;

    Subject(
        String id,
        String title,
        Supplier<K> allKeys,
        Function<K, S> filling,
        Supplier<K> hits,
        Supplier<K> misses) {
      this.id = id;
      this.title = title;
      this.allKeys = allKeys;
      this.filling = filling;
      this.hits = hits;
      this.misses = misses;
    }

    SetFigures measure(double requestedRate, ToIntFunction<S> falsePositives) {
      String name =
          requestedRate == 0 ? title : title + " at " + Percent.chosen(requestedRate) + " %";
      progress.accept(name + ": filling");
      double addNanos = addNanos();
      progress.accept(name + ": querying absent keys");
      int claimedAbsentKeys = falsePositives.applyAsInt(set);
      progress.accept(name + ": timing");
      double hitNanos = ASKING.medianNanos(lookups, hits, probes -> ask(probes, lookups));
      double missNanos = ASKING.medianNanos(lookups, misses, probes -> ask(probes, 0));
      return new SetFigures(
          id,
          title,
          requestedRate,
          keys.count(),
          set.sizeBytes(),
          set.predictedFalsePositiveRate(),
          claimedAbsentKeys,
          absentHashes.length,
          addNanos,
          hitNanos,
          missNanos);
    }

    private double addNanos() {
      int fillings = fillings();
      return FILLING.medianNanos(
          Math.multiplyExact(fillings, keys.count()),
          () -> {
            // Free the old set first; two may not fit into the heap.
            set = null;
            return Stream.generate(allKeys).limit(fillings).toList();
          },
          copies -> copies.forEach(copy -> set = filling.apply(copy)));
    }

    /** How often a set is filled in a round; each time with other keys. */
    private int fillings() {
      long roomFor = MAX_SAMPLE_BYTES / (KEPT_KEY_BYTES * keys.count() + keys.keyBytes());
      int wanted = (MIN_ADDITIONS + keys.count() - 1) / keys.count();
      return (int) Math.max(1, Math.min(wanted, roomFor));
    }

    private void ask(K probes, int leastClaimed) {
      int claimed = set.claimed(probes);
      if (claimed < leastClaimed) {
        throw new IllegalStateException(
            "the %s claimed %d of %d keys that it holds".formatted(title, claimed, leastClaimed));
      }
    }
  }
}
