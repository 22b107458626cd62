package io.firstseen.faults;

import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.key.Shards;

/**
 * What decides the stream of events, and what a filter makes of it. The same settings give the same
 * events and outcomes in every process.
 *
 * @param seed of the events
 * @param baseMillis event time of event 0; event n is n ms later
 * @param partitions of the topic of events
 * @param windowMillis length of a window; {@code baseMillis} is a multiple of it
 * @param capacity of the filter
 * @param falsePositiveRate of the filter at its capacity
 */
record StreamSettings(
    long seed,
    long baseMillis,
    int partitions,
    int windowMillis,
    long capacity,
    double falsePositiveRate) {
  /** The dedup shards, the jobs' default. */
  static final int SHARDS = 128;

  CuckooShape shape() {
    return CuckooShape.forCapacity((capacity - 1) / SHARDS + 1, falsePositiveRate);
  }

  /**
   * What a key is to the filter, by the specification of its state: two keys with the same
   * fingerprint are one to it.
   */
  long fingerprint(long hash) {
    Shards shards = new Shards(SHARDS);
    int bits = shape().identityBits();
    long identity = shards.suffix(hash) >>> (Long.SIZE - bits);
    int core = (int) (identity >>> 9) & 0xff;
    if (core == 0) {
      core = 1;
      identity |= 1L << 9;
    }
    int step = core * 0x9E3779B1;
    step ^= step >>> 15;
    step *= 0x85EBCA77;
    step = (step >>> 23) | 1;
    // The lower of the two names of the identity, behind the shard's number.
    return ((long) shards.shardOf(hash) << bits) | Math.min(identity, identity ^ step);
  }
}
