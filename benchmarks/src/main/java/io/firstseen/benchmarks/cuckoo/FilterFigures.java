package io.firstseen.benchmarks.cuckoo;

import io.firstseen.filters.cuckoo.CuckooFilter;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Prints the promised figures of the cuckoo filter other than speed against peers: its
 * false-positive rate against theory, bits per key, load while it grows, the longest insertion, and
 * the cost of a copy. Exits with status 1 if a bound is missed.
 */
public final class FilterFigures {
  private static final long SEED = 20261120;
  private static final int PROBES = 4_000_000;
  private static final double[] RATES = {0.01, 0.001, 0.0001};
  private static final double[] MAX_BITS = {11.8, 15.2, 19.6};

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  private boolean missed;

  private FilterFigures() {}

  public static void main(String[] arguments) {
    FilterFigures figures = new FilterFigures();
    for (int keys : new int[] {1_000_000, 10_000_000}) {
      figures.ratesAndBits(keys);
    }
    figures.utilisation();
    figures.longestInsertion();
    figures.copy();
    System.exit(figures.missed ? 1 : 0);
  }

  private void ratesAndBits(int estimate) {
    out.printf(Locale.ROOT, "%nRate against the law, estimate %,d, %,d probes%n", estimate, PROBES);
    for (int i = 0; i < RATES.length; i++) {
      CuckooFilter filter = CuckooFilter.forCapacity(estimate, RATES[i]);
      List<long[]> inserted = new ArrayList<>();
      SplittableRandom keys = new SplittableRandom(SEED);
      long before = 0;
      for (long until : new long[] {1_000, estimate / 8, estimate / 2, estimate, 2L * estimate}) {
        long[] more = keys.longs(until - before).toArray();
        for (long key : more) {
          filter.insert(key);
        }
        inserted.add(more);
        before = until;
        rate(filter, RATES[i], "keys in");
        if (until == estimate) {
          double bits = 8.0 * filter.sizeBytes() / filter.count();
          say(
              bits <= MAX_BITS[i],
              "  bits a key at the estimate: %.2f, at most %.1f",
              bits,
              MAX_BITS[i]);
        }
      }
      boolean delete = false;
      for (long[] some : inserted) {
        for (long key : some) {
          delete = !delete;
          if (delete && !filter.delete(key)) {
            say(false, "  a live key was not there");
          }
        }
      }
      rate(filter, RATES[i], "keys left of twice as many");
    }
  }

  private void rate(CuckooFilter filter, double asked, String what) {
    SplittableRandom strangers = new SplittableRandom(SEED + 1);
    long found = 0;
    for (int i = 0; i < PROBES; i++) {
      found += filter.mightContain(strangers.nextLong()) ? 1 : 0;
    }
    double predicted = filter.predictedFalsePositiveRate();
    double sigmas = (found - predicted * PROBES) / Math.sqrt(predicted * (1 - predicted) * PROBES);
    say(
        Math.abs(sigmas) <= 5,
        "  %.4f asked, %,11d %s: measured %.6f, predicted %.6f, %+.1f sigma",
        asked,
        filter.count(),
        what,
        (double) found / PROBES,
        predicted,
        sigmas);
  }

  private void utilisation() {
    out.printf(Locale.ROOT, "%nUtilisation from 20 thousand to 4 million keys%n");
    for (double rate : RATES) {
      CuckooFilter filter = CuckooFilter.forCapacity(4_000_000, rate);
      SplittableRandom keys = new SplittableRandom(SEED);
      double[] mean = {0, 0};
      int[] samples = {0, 0};
      double least = 1;
      // The filter grows by doubling, so a mean over keys is dominated by the last two doublings;
      // show a mean over growth factors, too.
      double nextByFactor = 20_000;
      while (filter.count() < 4_000_000) {
        filter.insert(keys.nextLong());
        boolean byKeys = filter.count() >= 20_000 && filter.count() % 20_000 == 0;
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
      double meanByKeys = mean[0] / samples[0];
      double meanByFactor = mean[1] / samples[1];
      say(
          Math.min(meanByKeys, meanByFactor) >= 0.90 && least >= 0.80,
          "  rate %.4f: mean over the keys %.3f, over the doublings %.3f, at least 0.90; least %.3f,"
              + " at least 0.80",
          rate,
          meanByKeys,
          meanByFactor,
          least);
    }
  }

  /**
   * Measures CPU time of the inserting thread, which excludes the garbage collector and other
   * programs. An insertion does the same work in each round, so one that is slow in a single round
   * was delayed by the virtual machine or the processor.
   */
  private void longestInsertion() {
    out.printf(
        Locale.ROOT,
        "%nProcessor time of single insertions, growing to 10 million keys, rate 0.001%n");
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    Map<Integer, Integer> slowRounds = new HashMap<>();
    for (int round = 1; round <= 3; round++) {
      CuckooFilter filter = CuckooFilter.forCapacity(10_000_000, 0.001);
      SplittableRandom keys = new SplittableRandom(SEED);
      long[] histogram = new long[Long.SIZE];
      long longest = 0;
      for (int i = 0; i < 10_000_000; i++) {
        long key = keys.nextLong();
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
          line.append(String.format(Locale.ROOT, " <%,d ns: %,d", 1L << bits, histogram[bits]));
        }
      }
      out.printf(Locale.ROOT, "  round %d: longest %,d us;%s%n", round, longest / 1000, line);
    }
    long slow = slowRounds.values().stream().filter(rounds -> rounds > 1).count();
    say(
        slow == 0,
        "  insertions that took more than 1 ms: %d in one round only, %d in more, at most 0",
        slowRounds.size() - slow,
        slow);
  }

  private void copy() {
    out.printf(Locale.ROOT, "%nCopy for a checkpoint%n");
    for (int keys : new int[] {1_000_000, 10_000_000}) {
      for (double rate : RATES) {
        CuckooFilter filter = CuckooFilter.forCapacity(keys, rate);
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < keys; i++) {
          filter.insert(random.nextLong());
        }
        long best = Long.MAX_VALUE;
        for (int round = 0; round < 20; round++) {
          long start = System.nanoTime();
          CuckooFilter copy = filter.copy();
          best = Math.min(best, System.nanoTime() - start);
          if (copy.count() != filter.count()) {
            say(false, "  the copy is not equal");
          }
        }
        out.printf(
            Locale.ROOT,
            "  %,d keys, rate %.4f: %,d pages of %,d bytes, copied in %,d us, %.0f ns a page%n",
            keys,
            rate,
            filter.pageCount(),
            filter.sizeBytes() / filter.pageCount(),
            best / 1000,
            (double) best / filter.pageCount());
      }
    }
  }

  private void say(boolean reached, String format, Object... values) {
    missed |= !reached;
    out.println(String.format(Locale.ROOT, format, values) + (reached ? "" : "   MISSED"));
  }
}
