package io.firstseen.benchmarks.cuckoo;

import io.firstseen.benchmarks.shared.Keys;
import io.firstseen.benchmarks.shared.NanosBenchmark;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * The time of one look-up in a filter with its expected number of keys.
 *
 * <p>Keys are computed, since an array of them would take cache from the filter.
 */
@Fork(
    value = 1,
    jvmArgsAppend = {"-Xms4g", "-Xmx4g"})
public class LookupBenchmark extends NanosBenchmark {
  @Param({"FIRSTSEEN", "GUAVA_BLOOM", "CUCKOOFILTER4J", "CUCKOO16"})
  public Peer peer;

  @Param({"1000000", "10000000"})
  public int keys;

  @Param({"0.0001"})
  public double rate;

  private Peer.Subject filter;
  private int next;

  @Setup
  public void fill() {
    filter = peer.create(keys, rate);
    for (int i = 0; i < keys; i++) {
      filter.insert(Keys.key(i));
    }
  }

  @Benchmark
  public boolean hit() {
    return filter.mightContain(Keys.key(step()));
  }

  @Benchmark
  public boolean miss() {
    return filter.mightContain(Keys.key(step() + (long) keys));
  }

  private int step() {
    next = Keys.next(next, keys);
    return next;
  }
}
