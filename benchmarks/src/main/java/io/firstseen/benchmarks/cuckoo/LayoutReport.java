package io.firstseen.benchmarks.cuckoo;

import io.firstseen.benchmarks.cuckoo.GeometrySimulation.Geometry;
import io.firstseen.filters.cuckoo.CuckooFilter;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Prints where the bits of a page go, and how many a key other layouts of pages would take: the
 * figures behind docs/adr/0017.
 */
public final class LayoutReport {
  private static final long SEED = 20261124;
  private static final double[] RATES = {0.01, 0.001, 0.0001};

  /**
   * As {@code Repacking.SURE_LOAD}: loads that buckets of 0, 1, … 8 slots almost certainly reach.
   */
  private static final double[] SURE_LOAD = {0, 0.25, 0.86, 0.94, 0.97, 0.98, 0.985, 0.99, 0.99};

  private static final int PAGE_BYTES = 48 + 16 + 8;
  private static final int DIRECTORY_BYTES = 4 + 1;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  private LayoutReport() {}

  public static void main(String[] arguments) {
    LayoutReport report = new LayoutReport();
    int most = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 10_000_000;
    for (int keys = 1_000_000; keys <= most; keys *= 10) {
      report.whereBitsGo(keys);
    }
    report.firstRefusals();
    report.layouts();
  }

  private void print(String format, Object... values) {
    out.printf(Locale.ROOT, format, values);
  }

  private static double log2(double x) {
    return Math.log(x) / Math.log(2);
  }

  /** The shipped filter, as it grew. */
  private void whereBitsGo(int keys) {
    print("%nWhere the bits of the shipped filter go, %,d keys%n", keys);
    for (double rate : RATES) {
      CuckooFilter filter = CuckooFilter.forCapacity(keys, rate);
      new SplittableRandom(SEED).longs(keys).forEach(filter::insert);
      double[] sums = new double[4];
      int identityBits = filter.shape().identityBits();
      filter.forEachPage(
          page -> {
            sums[0] += 8.0 * page.bodyBytes();
            sums[1] += (double) page.count() * (identityBits - 9 - page.depth());
            sums[2] += 8.0 * page.heapBytes();
          });
      double asked = log2(1 / rate);
      double identity = identityBits - log2(keys);
      double slot = sums[1] / keys;
      print(
          "  %.4f: log2(1/rate) %.2f + two buckets 1.00 + P rounded up %.2f (P = %d, rate %.6f) +"
              + " log2 of keys a bucket %.2f = slot %.2f; + free slots %.2f (utilisation %.3f) +"
              + " objects and array headers %.2f + directory %.2f = %.2f%n",
          rate,
          asked,
          identity - asked - 1,
          identityBits,
          filter.predictedFalsePositiveRate(),
          slot - identity,
          slot,
          sums[0] / keys - slot,
          filter.load(),
          (sums[2] - sums[0]) / keys,
          (8.0 * filter.sizeBytes() - sums[2]) / keys,
          8.0 * filter.sizeBytes() / keys);
    }
  }

  private void firstRefusals() {
    print("%nLoad at the first refusal, 100 pages: mean, least; slots visited for a key%n");
    for (int slots : new int[] {512, 1024, 2048, 4096}) {
      print("  %,5d slots:", slots);
      for (int width : new int[] {2, 4}) {
        int bucketBits = Integer.numberOfTrailingZeros(slots / width);
        double[] load =
            GeometrySimulation.firstFailure(
                new Geometry(bucketBits, 1, 8, true, 0, 8), width, 100, SEED);
        print("  buckets of %d: %.3f %.3f", width, load[0], load[1]);
      }
      for (int window : new int[] {2, 3}) {
        double[] load = WindowedTable.firstFailure(slots + 1 - window, window, 100, SEED);
        print("  windows of %d: %.3f %.3f, %.1f", window, load[0], load[1], load[2]);
      }
      print("%n");
    }
  }

  /** How a layout spends bits on a page. */
  private interface Layout {
    /** Keys a bucket (position) at the estimate; 0 if the law alone decides. */
    double tunedKeysABucket();

    /** The most keys a bucket before a page splits. */
    double splitAt();

    /** Keys that name one fingerprint: a stranger matches {@code names · n / fingerprints}. */
    int names();

    /** Bits of a page's body, from bits of its fingerprints below prefix and bucket. */
    double bodyBits(int keys, int buckets, int restBits);
  }

  /** Buckets of 2 to 8 slots, each page as narrow as is sure to hold its keys. */
  private record Buckets(double tunedKeysABucket, int splitWidth, double savedBits)
      implements Layout {
    @Override
    public double splitAt() {
      return SURE_LOAD[splitWidth] * splitWidth;
    }

    @Override
    public int names() {
      return 2;
    }

    @Override
    public double bodyBits(int keys, int buckets, int restBits) {
      int width = 2;
      while (width < splitWidth && keys > SURE_LOAD[width] * width * buckets) {
        width++;
      }
      return (double) buckets * width * (restBits - (width == 4 ? savedBits : 0));
    }
  }

  /** Windows of two slots; slots from as many as positions to twice as many, in steps. */
  private record Windows(double tunedKeysABucket, int steps) implements Layout {
    private static final double FULL = 0.95;

    @Override
    public double splitAt() {
      return 1.8;
    }

    @Override
    public int names() {
      return 2;
    }

    @Override
    public double bodyBits(int keys, int buckets, int restBits) {
      int step = (int) Math.ceil(Math.max(0, keys / (FULL * buckets) - 1) * steps);
      return Math.ceil(buckets * (1 + (double) step / steps)) * (restBits + 1);
    }
  }

  private record Quotients() implements Layout {
    @Override
    public double tunedKeysABucket() {
      return 0;
    }

    @Override
    public double splitAt() {
      return QuotientPages.KEYS_A_BUCKET;
    }

    @Override
    public int names() {
      return 1;
    }

    @Override
    public double bodyBits(int keys, int buckets, int restBits) {
      // A body grows when it is full, so on the mean it is half a step smaller than a new one.
      int before = Math.max(0, keys - keys / 64);
      return 8.0 * (QuotientPage.bodyBytes(buckets, restBits, before) - BitVector.SPARE);
    }
  }

  private void layouts() {
    List<Layout> layouts =
        List.of(
            new Buckets(0, 8, 0),
            new Buckets(0.93 * 4, 4, 0),
            new Buckets(0.93 * 4, 4, 1),
            new Windows(0.93, 8),
            new Windows(0.93, 16),
            new Quotients());
    List<String> names =
        List.of(
            "buckets of 2 to 8, P bits (shipped)",
            "buckets of 2 to 4, made full at the estimate",
            "the same, buckets of 4 sorted",
            "windows of 2, steps of 1/8, made full",
            "windows of 2, steps of 1/16, made full",
            "sorted pages (quotients)");
    for (double rate : RATES) {
      print(
          "%nBits a key at the estimate, and the mean from half to twice of it; rate %.4f%n", rate);
      for (int i = 0; i < layouts.size(); i++) {
        print("  %-46s", names.get(i));
        for (long keys : new long[] {1_000_000, 10_000_000, 100_000_000, 1_000_000_000}) {
          double[] bits = bits(layouts.get(i), i == 0 ? 512 : 0, keys, rate);
          print("  %5.2f %5.2f", bits[0], bits[1]);
        }
        print("%n");
      }
    }
  }

  /**
   * @param fixedBuckets buckets of a page; 0 for a number that makes the law exact, or the pages
   *     full, at the estimate
   */
  private static double[] bits(Layout layout, int fixedBuckets, long estimate, double rate) {
    double fingerprints = layout.names() * estimate / rate;
    int buckets = fixedBuckets;
    int restBits;
    if (fixedBuckets > 0) {
      restBits = (int) Math.ceil(log2(fingerprints / buckets));
    } else {
      int mostBuckets = (int) (4096 / Math.max(1, layout.splitAt() / 2));
      if (layout.tunedKeysABucket() > 0) {
        double most = layout.tunedKeysABucket();
        int depth = (int) Math.ceil(log2(estimate / (most * mostBuckets)));
        buckets = (int) Math.ceil(estimate / (most * Math.scalb(1.0, depth)));
        restBits = depth + (int) Math.ceil(log2(layout.names() * most / rate));
      } else {
        restBits = (int) Math.ceil(log2(fingerprints / mostBuckets));
        buckets = (int) Math.ceil(Math.scalb(fingerprints, -restBits) / 64) * 64;
      }
    }
    double sum = 0;
    int samples = 0;
    for (double times = 0.5; times < 2; times *= 1.01) {
      sum += bitsAt(layout, buckets, restBits, (long) (estimate * times));
      samples++;
    }
    return new double[] {bitsAt(layout, buckets, restBits, estimate), sum / samples};
  }

  private static double bitsAt(Layout layout, int buckets, int restBits, long keys) {
    int depth = 0;
    while (keys / Math.scalb(1.0, depth) > layout.splitAt() * buckets * 1.1) {
      depth++;
    }
    double mean = keys / Math.scalb(1.0, depth);
    int pages = 400;
    double bits = 0;
    long held = 0;
    SplittableRandom random = new SplittableRandom(SEED);
    for (int page = 0; page < pages; page++) {
      int count = (int) Math.max(1, Math.round(mean + Math.sqrt(mean) * gaussian(random)));
      held += count;
      bits += pageBits(layout, buckets, restBits, depth, count, random);
    }
    return bits / held;
  }

  private static double pageBits(
      Layout layout, int buckets, int restBits, int depth, int keys, SplittableRandom random) {
    if (keys <= layout.splitAt() * buckets) {
      return layout.bodyBits(keys, buckets, restBits - depth)
          + 8.0 * (PAGE_BYTES + DIRECTORY_BYTES);
    }
    int low = (int) Math.round(keys / 2.0 + Math.sqrt(keys) / 2 * gaussian(random));
    return pageBits(layout, buckets, restBits, depth + 1, low, random)
        + pageBits(layout, buckets, restBits, depth + 1, keys - low, random);
  }

  private static double gaussian(SplittableRandom random) {
    return Math.sqrt(-2 * Math.log(1 - random.nextDouble()))
        * Math.cos(2 * Math.PI * random.nextDouble());
  }
}
