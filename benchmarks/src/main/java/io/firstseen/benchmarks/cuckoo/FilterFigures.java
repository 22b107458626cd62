package io.firstseen.benchmarks.cuckoo;

import io.firstseen.benchmarks.FiguresProgram;
import io.firstseen.benchmarks.shared.OptionChecks;
import io.firstseen.filters.cuckoo.CuckooFilter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import picocli.CommandLine.Option;

/**
 * Prints the promised figures of the cuckoo filter other than speed against peers: its
 * false-positive rate against theory, bits per key, and load while it grows. Exits with status 1 if
 * a bound is missed.
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
}
