package io.firstseen.benchmarks.cuckoo;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Time of one look-up in a filter that holds its expected number of keys. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
    value = 1,
    jvmArgsAppend = {"-Xms4g", "-Xmx4g"})
@State(Scope.Thread)
public class LookupBenchmark {
  private static final int ASKED = 1 << 20;

  @Param({"FIRSTSEEN", "GUAVA_BLOOM", "CUCKOOFILTER4J", "CUCKOO16"})
  public Peer peer;

  @Param({"1000000", "10000000"})
  public int keys;

  @Param({"0.0001"})
  public double rate;

  private Peer.Subject filter;
  private long[] present;
  private long[] absent;
  private int next;

  /** Fills the filter. */
  @Setup
  public void fill() {
    filter = peer.create(keys, rate);
    SplittableRandom random = new SplittableRandom(20261120);
    present = new long[ASKED];
    for (int i = 0; i < keys; i++) {
      long key = random.nextLong();
      filter.insert(key);
      // The first million, and later every other one in a random place.
      if (i < ASKED) {
        present[i] = key;
      } else if (random.nextBoolean()) {
        present[random.nextInt(ASKED)] = key;
      }
    }
    absent = random.longs(ASKED).toArray();
  }

  @Benchmark
  public boolean hit() {
    next = (next + 1) & (ASKED - 1);
    return filter.mightContain(present[next < keys ? next : next - keys / 2]);
  }

  @Benchmark
  public boolean miss() {
    next = (next + 1) & (ASKED - 1);
    return filter.mightContain(absent[next]);
  }
}
