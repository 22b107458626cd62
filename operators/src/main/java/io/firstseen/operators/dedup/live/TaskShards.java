package io.firstseen.operators.dedup.live;

import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.cuckoo.Expiry;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.near.NearRule;
import io.firstseen.operators.dedup.pages.LoadedPage;
import io.firstseen.operators.dedup.pages.LogRotation;
import io.firstseen.operators.dedup.pages.RunningCheckpoints;
import io.firstseen.operators.dedup.pages.ShardPages;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.DoubleStream;
import org.apache.flink.metrics.MetricGroup;
import org.jspecify.annotations.Nullable;

/** The shards of a task: their sums, their sweep, and their part in checkpoints. */
public final class TaskShards {
  private final CuckooShape shape;
  private final Shards shards;
  private final @Nullable NearRule near;
  private final KeyClock clock;
  private final @Nullable RunningCheckpoints checkpoints;
  private final @Nullable LogRotation rotation;
  private final ShardPages[] byNumber;
  private final List<ShardPages> all = new ArrayList<>();

  @SuppressWarnings("UnusedVariable") // Keeps the prefetching reads from being optimised away.
  private long touched;

  private int sweptShard;

  private long sweptIdentity;

  /**
   * @param checkpoints null unless the backend keeps its state as objects on the heap
   * @param rotation null if it does
   */
  public TaskShards(
      CuckooShape shape,
      Shards shards,
      @Nullable NearRule near,
      KeyClock clock,
      @Nullable RunningCheckpoints checkpoints,
      @Nullable LogRotation rotation) {
    this.shape = shape;
    this.shards = shards;
    this.near = near;
    this.clock = clock;
    this.checkpoints = checkpoints;
    this.rotation = rotation;
    this.byNumber = new ShardPages[shards.count()];
  }

  public void add(ShardPages shard) {
    byNumber[shard.number] = shard;
    all.add(shard);
  }

  /** Returns the shard of a hash, prepared for operations on the last event. */
  public ShardPages of(long hash) {
    return ready(byNumber[shards.shardOf(hash)]);
  }

  private ShardPages ready(ShardPages shard) {
    clock.set(shard);
    shard.makeRoom();
    return shard;
  }

  /** Returns the number of this task's shards. */
  public int count() {
    return all.size();
  }

  /**
   * Returns one of this task's shards, by its index in [0, {@link #count}); prepared as by {@link
   * #of}.
   */
  public ShardPages get(int place) {
    return ready(all.get(place));
  }

  /**
   * Prefetches the memory that the operations on some hashes will read, of pages that are loaded.
   * It works level by level for all hashes: first the entries of the page tables, then the pages,
   * then their bodies. Only loads that depend on each other then wait for each other.
   *
   * <p>The pages are not stored but looked up again in each step, because with G1 storing a
   * reference into an old object waits for all earlier loads.
   */
  public void prefetch(long[] hashes, int count) {
    long read = 0;
    for (int i = 0; i < count; i++) {
      LoadedPage loaded = loaded(hashes[i]);
      read += loaded == null ? 0 : loaded.touch();
    }
    for (int i = 0; i < count; i++) {
      LoadedPage loaded = loaded(hashes[i]);
      read += loaded == null ? 0 : loaded.page.touch();
    }
    for (int i = 0; i < count; i++) {
      LoadedPage loaded = loaded(hashes[i]);
      read += loaded == null ? 0 : loaded.page.touch(identity(hashes[i]));
    }
    touched += read;
  }

  private LoadedPage loaded(long hash) {
    return byNumber[shards.shardOf(hash)].table.get(identity(hash));
  }

  private long identity(long hash) {
    return shape.identity(shards.suffix(hash));
  }

  /** Makes the sweep begin after a part of all pages, in [0, 1). */
  void sweepFrom(double part) {
    double place = part * all.size();
    sweptShard = (int) place;
    sweptIdentity = (long) Math.scalb(place - sweptShard, shape.identityBits());
  }

  /**
   * Forgets the expired keys of the next page and returns memory that it does not need. Skips empty
   * shards.
   *
   * @return the part of all identities that belong to the page and the skipped shards
   */
  double sweepPage() {
    double part = 0;
    for (int visits = 0; visits < all.size(); visits++) {
      ShardPages shard = all.get(sweptShard);
      boolean isEmpty = shard.keys() == 0 && shard.table.pageCount() == 1;
      long from = sweptIdentity;
      if (!isEmpty) {
        ready(shard).sweep(from);
      }
      // The page may have been merged.
      sweptIdentity = isEmpty ? 0 : shard.table.nextPage(from);
      if (sweptIdentity == 0) {
        sweptShard = (sweptShard + 1) % all.size();
      }
      double end = sweptIdentity == 0 ? Math.scalb(1.0, shape.identityBits()) : sweptIdentity;
      part += Math.scalb(end - from, -shape.identityBits()) / all.size();
      if (!isEmpty) {
        break;
      }
    }
    return part;
  }

  /** Writes all changed pages to state, so that the next checkpoint has no log. */
  public void writeAll() {
    all.forEach(ShardPages::writeAll);
  }

  /** Updates the state; must be called before each checkpoint. */
  public void flush(long checkpoint) {
    for (ShardPages shard : all) {
      clock.set(shard);
      shard.flush();
      clock.write(shard);
    }
    if (rotation != null) {
      rotation.checkpointed();
    }
    if (checkpoints != null) {
      int[] pagesOfShard = new int[shards.count()];
      all.forEach(shard -> pagesOfShard[shard.number] = shard.table.pageCount());
      checkpoints.begin(checkpoint, pagesOfShard);
    }
  }

  /** Records that a checkpoint is written or was aborted. */
  public void checkpointEnded(long checkpoint) {
    if (checkpoints != null) {
      checkpoints.end(checkpoint);
    }
  }

  public void register(MetricGroup metrics) {
    metrics.gauge("keys", this::keys);
    metrics.gauge("load", this::load);
    metrics.gauge("predictedFalsePositiveRate", this::predictedFalsePositiveRate);
    metrics.gauge("pages", this::pageCount);
    metrics.gauge("pageBytes", () -> sum(ShardPages::bytes));
    if (rotation != null) {
      metrics.gauge("pageLogBytes", rotation::bytes);
    }
    metrics.gauge("pageSplits", () -> sum(ShardPages::splits));
    if (clock.hasTtl()) {
      metrics.gauge("expired", () -> sum(TaskShards::expired));
    }
  }

  private double load() {
    long identities = sum(ShardPages::keys);
    return identities == 0 ? 0 : (double) identities / sum(ShardPages::slots);
  }

  private static long expired(ShardPages shard) {
    Expiry expiry = shard.expiry();
    return expiry == null ? 0 : expiry.expired();
  }

  /** Returns the keys in all shards: identities, or texts with a rule for near-duplicates. */
  public long keys() {
    long identities = sum(ShardPages::keys);
    return near == null ? identities : identities / near.hashes();
  }

  public long pageCount() {
    return sum(shard -> shard.table.pageCount());
  }

  /**
   * Returns the mean of the shards' predicted false-positive rates, since a key falls into each
   * shard with equal probability.
   */
  public double predictedFalsePositiveRate() {
    DoubleStream rates = all.stream().mapToDouble(shard -> shard.predictedFalsePositiveRate(near));
    return (near == null ? rates.average() : rates.max()).orElse(0);
  }

  private long sum(ToLongFunction<ShardPages> figure) {
    return all.stream().mapToLong(figure).sum();
  }
}
