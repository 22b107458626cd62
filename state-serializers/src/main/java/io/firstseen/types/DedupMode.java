package io.firstseen.types;

import java.util.Arrays;
import java.util.stream.Collectors;

/** How sure a dedup is that it has seen a key before; fixed for the life of its state. */
public enum DedupMode {
  /**
   * A cuckoo filter decides alone. It takes a key seen for the first time for a repeat at the
   * false-positive rate, and holds a key in one to three bytes.
   */
  APPROXIMATE("approximate"),

  /**
   * The filter stands in front of the set of the live keys' 64-bit hashes: what it does not hold is
   * new, without a look at the set; what it holds is looked up there. Nothing is dropped but a key
   * whose hash is that of another live key: at n live keys a new one with a probability of n /
   * 2^64, any of n keys with n^2 / 2^65 (0.03 % for 100 million keys, 2.7 % for a billion).
   */
  EXACT("exact"),

  /**
   * As {@link #EXACT}, with the keys themselves in the set, next to their hashes: nothing is
   * dropped at all, and each key's bytes are kept.
   */
  EXACT_KEYS("exact-keys");

  private final String id;

  DedupMode(String id) {
    this.id = id;
  }

  /** The name in options and in state. */
  public String id() {
    return id;
  }

  /** Whether a set of the live keys stands behind the filter. */
  public boolean isExact() {
    return this != APPROXIMATE;
  }

  /**
   * The mode of a name.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static DedupMode of(String id) {
    for (DedupMode mode : values()) {
      if (mode.id.equals(id)) {
        return mode;
      }
    }
    throw new IllegalArgumentException(
        "mode must be one of "
            + Arrays.stream(values()).map(DedupMode::id).collect(Collectors.joining(", "))
            + ", got '"
            + id
            + "'");
  }
}
