package io.firstseen.benchmarks.cuckoo;

import io.firstseen.benchmarks.shared.Median;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * Compares filters that start small and grow, by turns: bits a key, measured rate, and processor
 * time of an operation. The shipped filter, the spike of sorted pages, and the {@link AlephFilter}
 * if its classes are named. Arguments: keys, rate, rounds; 1,000,000, 0.001 and 3 if none are
 * given.
 */
public final class GrowthFigures {
  private static final long SEED = 20261124;
  private static final int STRANGERS = 4_000_000;
  private static final int SAMPLES = 64;

  /** Nanoseconds of processor time an operation. */
  private enum Operation {
    INSERTION,
    /** An insertion of the slowest of {@link #SAMPLES} parts of the keys, but the first quarter. */
    SLOWEST_PART,
    HIT,
    MISS,
    DELETION
  }

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final long[] keys;
  private final long[] strangers;
  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  private GrowthFigures(int keys) {
    this.keys = new SplittableRandom(SEED).longs(keys).toArray();
    this.strangers = new SplittableRandom(SEED + 1).longs(STRANGERS).toArray();
  }

  public static void main(String[] arguments) {
    int keys = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1_000_000;
    double rate = arguments.length > 1 ? Double.parseDouble(arguments[1]) : 0.001;
    int rounds = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 3;
    new GrowthFigures(keys).run(rate, rounds);
  }

  private void run(double rate, int rounds) {
    Map<String, Supplier<GrowingFilter>> filters = new LinkedHashMap<>();
    filters.put("shipped", () -> GrowingFilter.shipped(keys.length, rate));
    for (int buckets : new int[] {1024, 2048, 4096}) {
      filters.put(
          "sorted pages, at most %,d buckets".formatted(buckets),
          () -> GrowingFilter.sortedPages(keys.length, rate, buckets));
    }
    if (AlephFilter.isThere()) {
      int bits = AlephFilter.fewestFingerprintBits(keys, rate, strangers);
      filters.put(
          "Aleph filter, told %d bits".formatted(bits), () -> new AlephFilter(keys.length, bits));
    }
    out.printf(Locale.ROOT, "%,d keys, rate %s, %d rounds by turns%n", keys.length, rate, rounds);
    filters.forEach((name, filter) -> growth(name, filter.get()));
    Map<String, Map<Operation, List<Double>>> times = new LinkedHashMap<>();
    for (int round = 0; round <= rounds; round++) {
      for (Map.Entry<String, Supplier<GrowingFilter>> filter : filters.entrySet()) {
        Map<Operation, Double> once = times(filter.getValue().get());
        if (round > 0) {
          Map<Operation, List<Double>> all =
              times.computeIfAbsent(filter.getKey(), name -> new LinkedHashMap<>());
          once.forEach((what, ns) -> all.computeIfAbsent(what, o -> new ArrayList<>()).add(ns));
        }
      }
    }
    times.forEach(
        (name, all) -> {
          StringBuilder line = new StringBuilder("  %-34s".formatted(name));
          all.forEach(
              (what, ns) ->
                  line.append(
                      String.format(
                          Locale.ROOT,
                          " %s %.0f (%.0f to %.0f);",
                          what.name().toLowerCase(Locale.ROOT).replace('_', ' '),
                          Median.of(ns.stream().mapToDouble(d -> d).toArray()),
                          ns.stream().mapToDouble(d -> d).min().orElseThrow(),
                          ns.stream().mapToDouble(d -> d).max().orElseThrow())));
          out.println(line + " ns");
        });
  }

  /** Bits a key while it grows from an eighth of the keys to all, and the rate then. */
  private void growth(String name, GrowingFilter filter) {
    double sum = 0;
    double least = Double.MAX_VALUE;
    double most = 0;
    int samples = 0;
    for (int i = 0; i < keys.length; i++) {
      filter.insert(keys[i]);
      if ((i + 1) % (keys.length / SAMPLES) == 0 && i >= keys.length / 8) {
        double bits = filter.bitsPerKey();
        sum += bits;
        least = Math.min(least, bits);
        most = Math.max(most, bits);
        samples++;
      }
    }
    for (long key : keys) {
      if (!filter.mightContain(key)) {
        throw new IllegalStateException(name + " has lost a key");
      }
    }
    out.printf(
        Locale.ROOT,
        "  %-34s bits a key: %.2f; from an eighth of the keys on mean %.2f, %.2f to %.2f;"
            + " measured rate %.6f%n",
        name,
        filter.bitsPerKey(),
        sum / samples,
        least,
        most,
        (double) found(filter) / strangers.length);
  }

  private long found(GrowingFilter filter) {
    long found = 0;
    for (long stranger : strangers) {
      found += filter.mightContain(stranger) ? 1 : 0;
    }
    return found;
  }

  private Map<Operation, Double> times(GrowingFilter filter) {
    Map<Operation, Double> times = new LinkedHashMap<>();
    long start = threads.getCurrentThreadCpuTime();
    long slowest = 0;
    long before = start;
    int part = keys.length / SAMPLES;
    for (int i = 0; i < keys.length; i++) {
      filter.insert(keys[i]);
      if ((i + 1) % part == 0) {
        long now = threads.getCurrentThreadCpuTime();
        slowest = i < keys.length / 4 ? 0 : Math.max(slowest, now - before);
        before = now;
      }
    }
    start = add(times, Operation.INSERTION, start, keys.length);
    times.put(Operation.SLOWEST_PART, (double) slowest / part);
    long hits = 0;
    for (long key : keys) {
      hits += filter.mightContain(key) ? 1 : 0;
    }
    start = add(times, Operation.HIT, start, keys.length);
    hits += found(filter);
    start = add(times, Operation.MISS, start, strangers.length);
    for (long key : keys) {
      hits += filter.delete(key) ? 1 : 0;
    }
    add(times, Operation.DELETION, start, keys.length);
    if (hits < 2L * keys.length || filter.count() != 0) {
      throw new IllegalStateException("a key that was inserted is not there");
    }
    return times;
  }

  private long add(Map<Operation, Double> times, Operation what, long start, int operations) {
    long now = threads.getCurrentThreadCpuTime();
    times.put(what, (double) (now - start) / operations);
    return now;
  }
}
