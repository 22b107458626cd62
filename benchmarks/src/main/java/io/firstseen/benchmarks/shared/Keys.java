package io.firstseen.benchmarks.shared;

import java.util.Arrays;
import java.util.stream.LongStream;

/** Pseudorandom 64-bit keys that are computed, since an array of them would fill the caches. */
public final class Keys {
  /** The step between successive keys; prime and large, so that no key is near the previous key. */
  private static final int STRIDE = 7_368_787;

  private Keys() {}

  /** The i-th key of a pseudorandom sequence of distinct keys. */
  public static long key(long i) {
    long z = i * 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /** The place to ask after another, in [0, count). */
  public static int next(int place, int count) {
    int next = place + STRIDE % count;
    return next < count ? next : next - count;
  }

  public static long[] first(int count) {
    return LongStream.range(0, count).map(Keys::key).toArray();
  }

  /** Hashes a key. The peers hash their input; ours gets a hash, whose cost must be included. */
  public static long mix(long key) {
    long hash = (key ^ (key >>> 33)) * 0xFF51AFD7ED558CCDL;
    hash = (hash ^ (hash >>> 33)) * 0xC4CEB9FE1A85EC53L;
    return hash ^ (hash >>> 33);
  }

  public static long[] mixed(long[] keys) {
    long[] hashes = new long[keys.length];
    Arrays.setAll(hashes, i -> mix(keys[i]));
    return hashes;
  }
}
