package io.firstseen.benchmarks.cuckoo;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The time to insert all keys into an empty filter, and to delete them again, in milliseconds for
 * all keys together.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 3)
@Measurement(iterations = 5)
@Fork(
    value = 1,
    jvmArgsAppend = {"-Xms4g", "-Xmx4g"})
@State(Scope.Thread)
public class UpdateBenchmark {
  @Param({
    "FIRSTSEEN",
    "FIRSTSEEN_SIZED",
    "FIRSTSEEN_AT_ONCE",
    "FIRSTSEEN_SIZED_AT_ONCE",
    "CUCKOOFILTER4J",
    "CUCKOO16"
  })
  public Peer peer;

  @Param({"1000000", "10000000"})
  public int keys;

  @Param({"0.0001"})
  public double rate;

  private long[] all;
  private Peer.Subject full;

  @Setup
  public void draw() {
    all = new SplittableRandom(20261120).longs(keys).toArray();
  }

  /** Fills a filter to delete from. */
  @Setup(Level.Invocation)
  public void fill() {
    full = peer.create(keys, rate);
    if (deletes) {
      full.insertAll(all);
    }
  }

  @Param({"false"})
  public boolean deletes;

  @Benchmark
  public Object insertOrDelete() {
    if (deletes) {
      if (full.deleteAll(all) != all.length) {
        throw new IllegalStateException("a key that was inserted is not there");
      }
    } else {
      full.insertAll(all);
    }
    return full;
  }
}
