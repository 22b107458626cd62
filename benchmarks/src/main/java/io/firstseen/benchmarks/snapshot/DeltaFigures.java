package io.firstseen.benchmarks.snapshot;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDelta;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotParameters;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Deltas of a set in which some keys are replaced by as many new ones. Compares their bytes with
 * the information-theoretic minimum, log2 C(range, added) + log2 C(n, removed) bits per shard, and
 * with the full set. Checks that every delta, applied, gives the bytes of the full snapshot. Exits
 * with status 1 if a payload is more than 10 % above the minimum. The argument is the number of
 * keys, 10 million by default.
 */
public final class DeltaFigures {
  private static final long SEED = 20261121;
  private static final int SHARDS = 16;
  private static final double RATE = 0.001;
  private static final double[] CHANGED = {0.0001, 0.001, 0.01, 0.1};
  private static final double MOST = 1.10;

  private DeltaFigures() {}

  public static void main(String[] arguments) throws SnapshotException {
    int keys = arguments.length == 0 ? 10_000_000 : Integer.parseInt(arguments[0]);
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    out.printf(Locale.ROOT, "%,d keys, %d shards, rate %s%n%n", keys, SHARDS, RATE);
    out.println(
        "| added and removed | payload bytes | fewest | payload / fewest | bits a change | bytes"
            + " with headers | full bytes | delta / full | apply, ns a value |");
    out.println("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    boolean missed = false;
    for (double changed : CHANGED) {
      missed |= line(out, keys, changed) > MOST;
    }
    if (missed) {
      System.exit(1);
    }
  }

  private static double line(PrintStream out, int keys, double changed) throws SnapshotException {
    SetParameters set =
        SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(SHARDS), RATE);
    SplittableRandom random = new SplittableRandom(SEED);
    double fewestBits = 0;
    long payloadBytes = 0;
    long deltaBytes = 0;
    long fullBytes = 0;
    long changes = 0;
    long nanos = 0;
    for (int shard = 0; shard < SHARDS; shard++) {
      int before = keys / SHARDS;
      int change = (int) Math.round(before * changed);
      long ofShard = (long) shard << (64 - set.shards().bits());
      long[] hashes =
          random
              .longs(before + change)
              .map(hash -> hash >>> set.shards().bits() | ofShard)
              .toArray();
      Snapshot parent =
          Snapshot.build(
              Arrays.copyOf(hashes, before), new SnapshotParameters(set, "f", shard, 1, 0, 1));
      Snapshot child =
          Snapshot.build(
              Arrays.copyOfRange(hashes, change, hashes.length),
              parent.header().universe(),
              new SnapshotParameters(set, "f", shard, 2, 1, 2));
      SnapshotDelta delta = SnapshotDelta.between(parent, child);
      long begin = System.nanoTime();
      Snapshot applied = delta.applyTo(parent);
      nanos += System.nanoTime() - begin;
      if (!Arrays.equals(applied.toBytes(), child.toBytes())) {
        throw new IllegalStateException("a delta must lead to the bytes of the full snapshot");
      }
      fewestBits +=
          log2Choose(delta.header().universe().range().doubleValue(), delta.addedCount())
              + log2Choose((double) parent.header().count(), delta.removedCount());
      payloadBytes += delta.header().payloadBytes();
      deltaBytes += delta.asByteBuffer().remaining();
      fullBytes += child.asByteBuffer().remaining();
      changes += delta.addedCount() + delta.removedCount();
    }
    double fewestBytes = fewestBits / 8;
    out.printf(
        Locale.ROOT,
        "| %s %% | %,d | %,.0f | %.4f | %.2f | %,d | %,d | %.4f | %.0f |%n",
        100 * changed,
        payloadBytes,
        fewestBytes,
        payloadBytes / fewestBytes,
        8.0 * payloadBytes / changes,
        deltaBytes,
        fullBytes,
        (double) deltaBytes / fullBytes,
        (double) nanos / keys);
    return payloadBytes / fewestBytes;
  }

  /** The binary logarithm of the number of ways to choose {@code k} of {@code n} things, k << n. */
  private static double log2Choose(double n, long k) {
    double sum = 0;
    for (long i = 0; i < k; i++) {
      sum += Math.log((n - i) / (k - i));
    }
    return sum / Math.log(2);
  }
}
