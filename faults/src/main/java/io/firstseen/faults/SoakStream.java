package io.firstseen.faults;

/**
 * The events of a soak, the same in every process. Of ten events five are of new keys, three are
 * repeats, and two delete one key of each five, maybe again.
 *
 * @param seed of the repeats and deletes
 * @param baseMillis event time of event 0
 * @param eventsPerMilli how many events have the same time
 * @param ttlMillis for how long keys live
 */
record SoakStream(long seed, long baseMillis, int eventsPerMilli, long ttlMillis) {
  private static final int BLOCK = 10;
  private static final int NEW_KEYS = 5;
  private static final int DELETES_FROM = 8;
  private static final int REPEATED_OF = 500_000;
  private static final int DELETED_OF = 100_000;

  /** Whether event {@code number} deletes its key. */
  static boolean isDelete(long number) {
    return number % BLOCK >= DELETES_FROM && number >= BLOCK;
  }

  /** Whether a key is ever deleted. */
  static boolean isDeleted(long key) {
    return key % NEW_KEYS == 0;
  }

  /** The number of the key of event {@code number}. */
  long key(long number) {
    long block = number / BLOCK;
    int place = (int) (number % BLOCK);
    if (place < NEW_KEYS || block == 0) {
      return NEW_KEYS * block + place % NEW_KEYS;
    }
    long random = mixed(seed + number) >>> 1;
    if (place < DELETES_FROM) {
      return NEW_KEYS * block - 1 - random % Math.min(NEW_KEYS * block, REPEATED_OF);
    }
    return NEW_KEYS * (block - 1 - random % Math.min(block, DELETED_OF));
  }

  /** The event that has a key first. */
  static long firstEvent(long key) {
    return key / NEW_KEYS * BLOCK + key % NEW_KEYS;
  }

  /** The event time of event {@code number}. */
  long millis(long number) {
    return baseMillis + number / eventsPerMilli;
  }

  /** The first event at a time. */
  long eventAt(long millis) {
    return (millis - baseMillis) * eventsPerMilli;
  }

  static String text(long key) {
    return "http://soak.example/" + Long.toString(key, 36) + "/" + Long.toHexString(mixed(key));
  }

  /** The finaliser of MurmurHash3. */
  private static long mixed(long value) {
    long x = (value ^ (value >>> 33)) * 0xff51afd7ed558ccdL;
    x = (x ^ (x >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return x ^ (x >>> 33);
  }
}
