package io.firstseen.benchmarks.cuckoo;

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

/**
 * The time of one look-up in a filter with its expected number of keys.
 *
 * <p>Keys are computed, since an array of them would take cache from the filter.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
    value = 1,
    jvmArgsAppend = {"-Xms4g", "-Xmx4g"})
@State(Scope.Thread)
public class LookupBenchmark {
  /** The step between successive keys; prime and large, so that no key is near the previous key. */
  private static final int STRIDE = 7_368_787;

  @Param({"FIRSTSEEN", "GUAVA_BLOOM", "CUCKOOFILTER4J", "CUCKOO16"})
  public Peer peer;

  @Param({"1000000", "10000000"})
  public int keys;

  @Param({"0.0001"})
  public double rate;

  private Peer.Subject filter;
  private int next;

  /** Fills the filter. */
  @Setup
  public void fill() {
    filter = peer.create(keys, rate);
    for (int i = 0; i < keys; i++) {
      filter.insert(key(i));
    }
  }

  @Benchmark
  public boolean hit() {
    return filter.mightContain(key(step()));
  }

  @Benchmark
  public boolean miss() {
    return filter.mightContain(key(step() + (long) keys));
  }

  private int step() {
    next += STRIDE % keys;
    next -= next < keys ? 0 : keys;
    return next;
  }

  /** The i-th key of a pseudorandom sequence of distinct keys. */
  private static long key(long i) {
    long z = i * 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
