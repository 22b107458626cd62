package io.firstseen.benchmarks.cuckoo;

import io.firstseen.benchmarks.FiguresProgram;
import io.firstseen.benchmarks.shared.OptionChecks;
import io.firstseen.filters.cuckoo.CuckooFilter;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import picocli.CommandLine.Option;

/**
 * Prints the promised figures of the cuckoo filter other than speed against peers: its
 * false-positive rate against theory, bits per key, load while it grows, the longest insertion, and
 * the cost of a copy. Exits with status 1 if a bound is missed.
 */
public final class FilterFigures extends FiguresProgram {
  private static final long SEED = 20261120;
  private static final int PROBES = 4_000_000;
  private static final double[] RATES = {0.01, 0.001, 0.0001};
  private static final double[] MAX_BITS = {11.8, 15.2, 19.6};

  @Option(
      names = "--keys",
      defaultValue = "10000000",
      description =
          "Keys of the large filters; the others are in proportion. The bounds are for the default"
              + " (${DEFAULT-VALUE}).")
  private int keys;

  public static void main(String[] arguments) {
    exit(new FilterFigures(), arguments);
  }

  @Override
  protected void check(OptionChecks checks) {
    checks.atLeast("--keys", 10_000, keys);
  }

  @Override
  protected void measure(Path work) {
    ratesAndBits(keys / 10);
    ratesAndBits(keys);
    utilisation(keys / 5 * 2);
    longestInsertion();
    copy();
  }

  private void ratesAndBits(int estimate) {
    figures.title(
        "Rate relative to the formula, estimate %,d, %,d probes".formatted(estimate, PROBES));
    for (int i = 0; i < RATES.length; i++) {
      CuckooFilter filter = CuckooFilter.forCapacity(estimate, RATES[i]);
      List<long[]> inserted = new ArrayList<>();
      SplittableRandom hashes = new SplittableRandom(SEED);
      long before = 0;
      for (long until : new long[] {1_000, estimate / 8, estimate / 2, estimate, 2L * estimate}) {
        long[] more = hashes.longs(until - before).toArray();
        for (long key : more) {
          filter.insert(key);
        }
        inserted.add(more);
        before = until;
        rate(filter, RATES[i], "keys in");
        if (until == estimate) {
          double bits = 8.0 * filter.sizeBytes() / filter.count();
          figures.atMost("a key at the estimate", bits, MAX_BITS[i], "bits");
        }
      }
      boolean delete = false;
      for (long[] some : inserted) {
        for (long key : some) {
          delete = !delete;
          if (delete && !filter.delete(key)) {
            throw new IllegalStateException("a live key was not there");
          }
        }
      }
      rate(filter, RATES[i], "keys left of twice as many");
    }
  }

  private void rate(CuckooFilter filter, double asked, String what) {
    SplittableRandom probes = new SplittableRandom(SEED + 1);
    long found = 0;
    for (int i = 0; i < PROBES; i++) {
      found += filter.mightContain(probes.nextLong()) ? 1 : 0;
    }
    double predicted = filter.predictedFalsePositiveRate();
    double sigmas = (found - predicted * PROBES) / Math.sqrt(predicted * (1 - predicted) * PROBES);
    figures.atMost(
        "%s asked, %,d %s: measured %.6f, predicted %.6f"
            .formatted(asked, filter.count(), what, (double) found / PROBES, predicted),
        Math.abs(sigmas),
        5,
        "sigma");
  }

  private void utilisation(int most) {
    int step = most / 200;
    figures.title("Utilisation from %,d to %,d keys".formatted(step, most));
    for (double rate : RATES) {
      CuckooFilter filter = CuckooFilter.forCapacity(most, rate);
      SplittableRandom hashes = new SplittableRandom(SEED);
      double[] mean = {0, 0};
      int[] samples = {0, 0};
      double least = 1;
      // The filter grows by doubling, so a mean over keys is dominated by the last two doublings;
      // also show a mean over growth factors.
      double nextByFactor = step;
      while (filter.count() < most) {
        filter.insert(hashes.nextLong());
        boolean byKeys = filter.count() % step == 0;
        boolean byFactor = filter.count() >= nextByFactor;
        if (byKeys || byFactor) {
          double load = filter.load();
          least = Math.min(least, load);
          for (int i = byKeys ? 0 : 1; i < (byFactor ? 2 : 1); i++) {
            mean[i] += load;
            samples[i]++;
          }
        }
        nextByFactor *= byFactor ? 1.005 : 1;
      }
      figures.atLeast("rate %s: mean over the keys".formatted(rate), mean[0] / samples[0], 0.9, "");
      figures.atLeast("mean over the doublings", mean[1] / samples[1], 0.9, "");
      figures.atLeast("least", least, 0.8, "");
    }
  }

  /**
   * Measures CPU time of the inserting thread, which excludes the garbage collector and other
   * programs. An insertion does the same work in each round, so one that is slow in a single round
   * was delayed by the virtual machine or the processor.
   */
  private void longestInsertion() {
    figures.title(
        "Processor time of single insertions, growing to %,d keys, rate 0.001".formatted(keys));
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    Map<Integer, Integer> slowRounds = new HashMap<>();
    for (int round = 1; round <= 3; round++) {
      CuckooFilter filter = CuckooFilter.forCapacity(keys, 0.001);
      SplittableRandom hashes = new SplittableRandom(SEED);
      long[] histogram = new long[Long.SIZE];
      long longest = 0;
      for (int i = 0; i < keys; i++) {
        long key = hashes.nextLong();
        long start = threads.getCurrentThreadCpuTime();
        filter.insert(key);
        long nanos = threads.getCurrentThreadCpuTime() - start;
        histogram[Long.SIZE - Long.numberOfLeadingZeros(nanos)]++;
        longest = Math.max(longest, nanos);
        if (nanos > 1_000_000) {
          slowRounds.merge(i, 1, Integer::sum);
        }
      }
      StringBuilder line = new StringBuilder();
      for (int bits = 0; bits < histogram.length; bits++) {
        if (histogram[bits] > 0) {
          line.append(" <%,d ns: %,d".formatted(1L << bits, histogram[bits]));
        }
      }
      figures.plain("round " + round + ", longest", longest / 1e3, "µs");
      figures.print("   " + line + "\n");
    }
    long slow = slowRounds.values().stream().filter(rounds -> rounds > 1).count();
    figures.plain(
        "insertions that took more than 1 ms in one round", (double) slowRounds.size() - slow, "");
    figures.atMost("in more rounds", (double) slow, 0, "");
  }

  private void copy() {
    figures.title("Copy for a checkpoint");
    for (int count : new int[] {keys / 10, keys}) {
      for (double rate : RATES) {
        CuckooFilter filter = CuckooFilter.forCapacity(count, rate);
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < count; i++) {
          filter.insert(random.nextLong());
        }
        long best = Long.MAX_VALUE;
        for (int round = 0; round < 20; round++) {
          long start = System.nanoTime();
          CuckooFilter copy = filter.copy();
          best = Math.min(best, System.nanoTime() - start);
          if (copy.count() != filter.count()) {
            throw new IllegalStateException("the copy is not equal");
          }
        }
        figures.plain(
            "%,d keys, rate %s: %,d pages of %,d bytes"
                .formatted(
                    count, rate, filter.pageCount(), filter.sizeBytes() / filter.pageCount()),
            best / 1e3,
            "µs");
        figures.plain("of a page", (double) best / filter.pageCount(), "ns");
      }
    }
  }
}
