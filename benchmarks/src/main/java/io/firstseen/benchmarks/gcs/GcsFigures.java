package io.firstseen.benchmarks.gcs;

import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import io.firstseen.benchmarks.FiguresProgram;
import io.firstseen.benchmarks.shared.Keys;
import io.firstseen.benchmarks.shared.Turns;
import io.firstseen.filters.gcs.GolombCodedSet;
import io.firstseen.filters.gcs.GolombCodedSetWriter;
import io.firstseen.filters.gcs.MergedValues;
import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.gcs.UnsignedSort;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotParameters;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PrimitiveIterator;
import java.util.function.BiConsumer;
import java.util.function.LongPredicate;
import java.util.function.LongUnaryOperator;
import org.fastfilter.gcs.GolombCompressedSet;
import org.fastfilter.xor.Xor16;
import org.fastfilter.xor.XorFuse8;
import picocli.CommandLine.Option;

/**
 * Prints the promised figures of the Golomb-coded set and its peers in the same run: bits per key,
 * queries, building, decoding in order, and merging. Exits with status 1 if a bound is missed.
 */
public final class GcsFigures extends FiguresProgram {
  private static final double REDUNDANCY = 1.475;
  private static final double IN_MEMORY = 1.78;
  private static final int[] RATE_BITS = {10, 13, 20};
  private static final int WARM_UP_TURNS = 3;
  private static final int BUILT_KEYS = 1 << 26;
  private static final int MERGED_KEYS = 10_000_000;

  @Option(
      names = "--keys",
      paramLabel = "LOG2",
      split = ",",
      defaultValue = "20,23",
      description = "sets of 2^LOG2 keys (${DEFAULT-VALUE})")
  private int[] logKeyCounts;

  // Uses the results, so that the JIT cannot remove the measured work.
  private long used;

  public static void main(String[] arguments) {
    exit(new GcsFigures(), arguments);
  }

  @Override
  protected void measure(Path work) throws Exception {
    anyCount();
    for (int logKeys : logKeyCounts) {
      for (int rateBits : RATE_BITS) {
        sizesAndQueries(logKeys, rateBits);
      }
      building(logKeys);
    }
    merging();
    if (used == 0) {
      figures.miss();
    }
  }

  private void anyCount() {
    figures.title(
        "Bits per key over log2(1 / rate) for numbers of keys that are not powers of " + "two");
    for (int count : new int[] {10_001, 14_142, 20_000, 70_691, 500_000, 1_500_000, 9_999_999}) {
      for (int rateBits : RATE_BITS) {
        long[] keys = Keys.first(count);
        GolombCodedSet set = GolombCodedSet.ofHashes(keys, universe(count, rateBits));
        String name = String.format("%,d keys, 2^-%d, ", count, rateBits);
        double payload = (double) set.payloadBits() / count - rateBits;
        figures.atMost(name + "codes", payload, REDUNDANCY, "bits");
        figures.atMost(
            name + "with bucket starts",
            payload + 8.0 * set.bucketStarts().remaining() / count,
            IN_MEMORY,
            "bits");
      }
    }
  }

  private void sizesAndQueries(int logKeys, int rateBits) throws Exception {
    int count = 1 << logKeys;
    long[] keys = Keys.first(count);
    GolombCodedSet set = GolombCodedSet.ofHashes(Keys.mixed(keys), universe(count, rateBits));
    String name = "2^" + logKeys + " keys, 2^-" + rateBits + ": ";
    figures.title("Bits a key, " + name);
    double valueCount = set.count();
    figures.atMost(
        name + "payload", set.payloadBits() / valueCount, log2OfMeanGap(set) + REDUNDANCY, "bits");
    figures.atMost(
        name + "bucket starts", 8 * set.bucketStarts().remaining() / valueCount, 0.305, "bits");
    double fileBits = 8.0 * fileBytes(keys, rateBits) / count;
    figures.atMost(
        name + "file in all", fileBits, rateBits == 10 ? 11.80 : Double.POSITIVE_INFINITY, "bits");
    GolombCompressedSet peer = GolombCompressedSet.construct(keys, rateBits);
    figures.plain(name + "GolombCompressedSet", (double) peer.getBitCount() / count, "bits");

    QueryTimes times = new QueryTimes(count);
    times.add("ours", key -> set.mightContain(Keys.mix(key)));
    times.addBatch(
        "ours, many at once",
        (asked, found) -> {
          for (int i = 0; i < asked.length; i++) {
            asked[i] = Keys.mix(asked[i]);
          }
          set.mightContainEach(asked, 0, asked.length, found);
        });
    times.add("GolombCompressedSet", peer::mayContain);
    BloomFilter<Long> bloom =
        BloomFilter.create(Funnels.longFunnel(), count, Math.scalb(1.0, -rateBits));
    for (long key : keys) {
      bloom.put(key);
    }
    times.add("Guava BloomFilter", key -> bloom.mightContain(key));
    if (rateBits == 10) {
      XorFuse8 fuse = XorFuse8.construct(keys);
      times.add("XorFuse8 (2^-8, 9.8 bits)", fuse::mayContain);
      Xor16 xor = Xor16.construct(keys);
      times.add("Xor16 (2^-16, 19.7 bits)", xor::mayContain);
    }
    Map<String, double[]> measured = times.measure();
    measured.forEach(
        (subject, nanos) -> {
          figures.plain(name + "hit, " + subject, nanos[0], "ns");
          figures.plain(name + "miss, " + subject, nanos[1], "ns");
        });
    double[] ours = measured.get("ours");
    double[] peers = measured.get("GolombCompressedSet");
    figures.atMost(name + "hit, share of GolombCompressedSet's", ours[0] / peers[0], 0.55, "");
    figures.atMost(name + "miss, share of GolombCompressedSet's", ours[1] / peers[1], 0.55, "");
    double[] atOnce = measured.get("ours, many at once");
    figures.plain(name + "hit, many at once, share of it", atOnce[0] / peers[0], "");
    figures.plain(name + "miss, many at once, share of it", atOnce[1] / peers[1], "");
    double queriesPerMicro = 1000 / ours[0];
    double nanos = nanos(5, () -> used += set.toArray().length);
    figures.atLeast(
        name + "decoded in order",
        1000.0 * set.count() / nanos,
        Math.min(50, 5 * queriesPerMicro),
        "M values/s");
  }

  private void building(int logKeys) throws Exception {
    int count = 1 << logKeys;
    long[] keys = Keys.first(count);
    String name = "2^" + logKeys + " keys, 2^-10: ";
    figures.title("Building from unsorted hashes, " + name);
    // Enough rounds to warm up the JIT, and more rounds for smaller sets, so that all are measured
    // equally long.
    int rounds = (BUILT_KEYS >>> logKeys) | 1;
    Map<String, Runnable> work = new LinkedHashMap<>();
    work.put("ours", () -> used += GolombCodedSet.ofHashes(keys, universe(count, 10)).count());
    work.put(
        "GolombCompressedSet", () -> used += GolombCompressedSet.construct(keys, 10).getBitCount());
    long[] copy = new long[count];
    work.put("Arrays.sort", () -> Arrays.sort(copy));
    Map<String, Double> millis =
        Turns.medians(
            work.keySet(),
            Math.max(WARM_UP_TURNS, rounds / 2),
            rounds,
            (subject, round) -> {
              if (subject.equals("Arrays.sort")) {
                System.arraycopy(keys, 0, copy, 0, count);
              }
              double took = Turns.millis(work.get(subject));
              used += copy[0];
              return took;
            });
    double ourMillis = millis.get("ours");
    double peerMillis = millis.get("GolombCompressedSet");
    double sortMillis = millis.get("Arrays.sort");
    figures.plain(name + "ours", ourMillis, "ms");
    figures.plain(name + "GolombCompressedSet", peerMillis, "ms");
    figures.plain(name + "Arrays.sort of the hashes alone", sortMillis, "ms");
    figures.atLeast(name + "faster than GolombCompressedSet", peerMillis / ourMillis, 2, "times");
    figures.atLeast(name + "faster than Arrays.sort", sortMillis / ourMillis, 1, "times");
  }

  private void merging() throws Exception {
    figures.title("Merging 1 % of changes into 10 million values of 44 bits");
    long[] hashes = Keys.first(MERGED_KEYS);
    GolombCodedSet set = GolombCodedSet.ofHashes(hashes, Universe.ofBits(44, hashes.length));
    long[] some = set.toArray();
    long[] removed = new long[MERGED_KEYS / 200];
    Arrays.setAll(removed, i -> some[i * 199]);
    long[] candidates = new long[MERGED_KEYS / 200];
    Arrays.setAll(candidates, i -> Keys.key((long) MERGED_KEYS + i) >>> 20);
    long[] added =
        Arrays.stream(UnsignedSort.sorted(candidates))
            .distinct()
            .filter(value -> !set.contains(value))
            .toArray();
    long[][] decoded = new long[1][];
    double decode = nanos(5, () -> decoded[0] = set.toArray());
    double encode = nanos(5, () -> used += GolombCodedSet.of(decoded[0], set.universe()).count());
    double merge = nanos(5, () -> used += merged(set, removed, added).count());
    figures.plain("decoding", decode / 1e6, "ms");
    figures.plain("encoding", encode / 1e6, "ms");
    figures.plain("merging", merge / 1e6, "ms");
    figures.atMost("merging, of decoding and encoding once", merge / (decode + encode), 2, "times");
  }

  private static GolombCodedSet merged(GolombCodedSet set, long[] removed, long[] added) {
    GolombCodedSetWriter writer =
        new GolombCodedSetWriter(set.count() - removed.length + added.length, set.universe());
    PrimitiveIterator.OfLong values =
        MergedValues.union(
            MergedValues.difference(set.iterator(), Arrays.stream(removed).iterator()),
            Arrays.stream(added).iterator());
    while (values.hasNext()) {
      writer.add(values.nextLong());
    }
    return writer.toSet();
  }

  private static double log2OfMeanGap(GolombCodedSet set) {
    return Math.log(set.universe().range().doubleValue() / set.count()) / Math.log(2);
  }

  private static Universe universe(int keys, int rateBits) {
    return Universe.forRate(keys, Math.scalb(1.0, -rateBits));
  }

  private static int fileBytes(long[] keys, int rateBits) {
    SetParameters parameters =
        SetParameters.of(
            KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), Math.scalb(1.0, -rateBits));
    return Snapshot.build(keys, new SnapshotParameters(parameters, "figures", 0, 1, 0, 0))
        .toBytes()
        .length;
  }

  private static double nanos(int rounds, Runnable work) throws Exception {
    return 1e6
        * Turns.medians(List.of(work), 2, rounds, (each, round) -> Turns.millis(each)).get(work);
  }

  /**
   * Nanoseconds per query of several sets that hold the first keys of one sequence. The sets take
   * turns in one run, so that changes of the machine's speed affect all of them. The median of all
   * turns counts.
   */
  private static final class QueryTimes {
    private static final int WARM_UP_TURNS = 3;
    private static final int TURNS = 9;
    private static final int QUERIES = 600_000;
    private static final int BATCH = 240;

    private final int keys;

    /** How many of the keys from a first one on each subject finds. */
    private final Map<String, LongUnaryOperator> subjects = new LinkedHashMap<>();

    private long found;

    QueryTimes(int keys) {
      this.keys = keys;
    }

    void add(String name, LongPredicate subject) {
      subjects.put(name, firstKey -> oneByOne(subject, firstKey));
    }

    /** Adds a subject that is queried for many keys at once; it may change the array of keys. */
    void addBatch(String name, BiConsumer<long[], boolean[]> subject) {
      subjects.put(name, firstKey -> inBatches(subject, firstKey));
    }

    /** Measures, for each subject, the nanoseconds of a hit and of a miss. */
    Map<String, double[]> measure() throws Exception {
      Map<String, List<double[]>> turns =
          Turns.measure(
              subjects.keySet(),
              WARM_UP_TURNS,
              TURNS,
              (name, turn) ->
                  new double[] {
                    nanosPerQuery(subjects.get(name), 0), nanosPerQuery(subjects.get(name), keys)
                  });
      if (found == 0) {
        throw new IllegalStateException("no key was found");
      }
      Map<String, double[]> medians = new LinkedHashMap<>();
      turns.forEach(
          (name, times) ->
              medians.put(
                  name,
                  new double[] {
                    Turns.median(times, each -> each[0]), Turns.median(times, each -> each[1])
                  }));
      return medians;
    }

    private double nanosPerQuery(LongUnaryOperator subject, long firstKey) {
      long start = System.nanoTime();
      found += subject.applyAsLong(firstKey);
      return (double) (System.nanoTime() - start) / QUERIES;
    }

    private long oneByOne(LongPredicate subject, long firstKey) {
      long answers = 0;
      int next = 0;
      for (int i = 0; i < QUERIES; i++) {
        next = Keys.next(next, keys);
        answers += subject.test(Keys.key(firstKey + next)) ? 1 : 0;
      }
      return answers;
    }

    private long inBatches(BiConsumer<long[], boolean[]> subject, long firstKey) {
      long[] asked = new long[BATCH];
      boolean[] answered = new boolean[BATCH];
      long answers = 0;
      int next = 0;
      for (int i = 0; i < QUERIES; i += BATCH) {
        for (int j = 0; j < BATCH; j++) {
          next = Keys.next(next, keys);
          asked[j] = Keys.key(firstKey + next);
        }
        subject.accept(asked, answered);
        for (boolean answer : answered) {
          answers += answer ? 1 : 0;
        }
      }
      return answers;
    }
  }
}
