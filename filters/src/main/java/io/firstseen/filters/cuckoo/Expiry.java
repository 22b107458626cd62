package io.firstseen.filters.cuckoo;

/**
 * How long a filter keeps its keys, and the current time.
 *
 * <p>Time is divided into epochs, {@value #EPOCHS} to a time to live, and a filter stores for each
 * key only the epoch of its time. A key is forgotten when the current epoch begins at least the
 * time to live after the end of the key's epoch. This is no earlier than the time to live after the
 * key's time, and at most one epoch later. Instants are milliseconds from any origin.
 *
 * <p>Every operation on a page first forgets the keys that are due there, so results do not depend
 * on when {@link PagedFilter#expire} is called. {@link PagedFilter#expire} frees the space of keys
 * that are not accessed.
 *
 * <p>The time to live may be changed later. A stored key is then kept for the new time to live
 * after the end of its epoch, whose length does not change. {@link #forgetUntil} ensures that keys
 * which were due under the previous time to live stay forgotten.
 */
public final class Expiry {
  /** Epochs in a time to live. */
  public static final int EPOCHS = 8;

  public static final long MIN_TTL_MILLIS = 1000;

  /** About 4,500 years. */
  public static final long MAX_TTL_MILLIS = 1L << 47;

  /** Instants beyond this one, or its negative, are replaced by it. */
  private static final long MAX_INSTANT = 1L << 60;

  private final long ttlMillis;
  private final long epochMillis;
  private final boolean sinceLastSeen;
  private final long phaseMillis;
  private long nowMillis;
  private long endMillis;
  private long dueMillis;
  private long forgottenMillis = Long.MIN_VALUE;
  private long expired;

  /** As the other constructor, with an epoch that begins at 0. */
  public Expiry(long ttlMillis, boolean sinceLastSeen) {
    this(ttlMillis, sinceLastSeen, 0);
  }

  /**
   * Creates an expiry at the earliest time, at which no key has expired.
   *
   * @param ttlMillis time to live, in [{@value #MIN_TTL_MILLIS}, {@value #MAX_TTL_MILLIS}]; rounded
   *     up to a multiple of {@value #EPOCHS}
   * @param sinceLastSeen whether {@link PagedFilter#insertIfAbsent} of a key that is present renews
   *     it
   * @param phaseMillis an instant at which an epoch begins; filters that differ in it do not forget
   *     at the same instants
   */
  public Expiry(long ttlMillis, boolean sinceLastSeen, long phaseMillis) {
    if (ttlMillis < MIN_TTL_MILLIS || ttlMillis > MAX_TTL_MILLIS) {
      throw new IllegalArgumentException(
          "ttlMillis must be in ["
              + MIN_TTL_MILLIS
              + ", "
              + MAX_TTL_MILLIS
              + "], got "
              + ttlMillis);
    }
    this.epochMillis = (ttlMillis + EPOCHS - 1) / EPOCHS;
    this.ttlMillis = epochMillis * EPOCHS;
    this.sinceLastSeen = sinceLastSeen;
    this.phaseMillis = Math.floorMod(phaseMillis, epochMillis);
    turnTo(epochOf(-MAX_INSTANT));
  }

  /** Returns the time to live, a multiple of {@value #EPOCHS}. */
  public long ttlMillis() {
    return ttlMillis;
  }

  /** Returns the length of an epoch. */
  public long epochMillis() {
    return epochMillis;
  }

  /** Returns whether a duplicate renews a key. */
  public boolean sinceLastSeen() {
    return sinceLastSeen;
  }

  /** Returns the start of the epoch of an instant. */
  public long epochOf(long millis) {
    long instant = Math.max(-MAX_INSTANT, Math.min(millis, MAX_INSTANT));
    return instant - Math.floorMod(instant - phaseMillis, epochMillis);
  }

  /** Advances to an instant, which is also the time of the next keys. */
  public void advanceTo(long newNowMillis) {
    boolean sameEpoch = newNowMillis >= nowMillis && newNowMillis < nowMillis + epochMillis;
    turnTo(sameEpoch ? nowMillis : epochOf(newNowMillis));
  }

  private void turnTo(long epoch) {
    nowMillis = epoch;
    dueMillis = Math.max(epoch - ttlMillis, forgottenMillis);
    endMillis = epoch + epochMillis;
  }

  /**
   * Makes all keys due whose epoch ended by an instant, however long the time to live is. Used for
   * keys that were due before the time to live was changed.
   */
  public void forgetUntil(long lastEndMillis) {
    forgottenMillis = Math.max(forgottenMillis, lastEndMillis);
    dueMillis = Math.max(dueMillis, forgottenMillis);
  }

  /**
   * Returns the latest instant of {@link #forgetUntil}; the earliest instant of all if there is
   * none.
   */
  public long forgottenMillis() {
    return forgottenMillis;
  }

  /** Sets the time of the next keys; a time before now counts as now. */
  public void keysOf(long timeMillis) {
    if (timeMillis >= endMillis || timeMillis < endMillis - epochMillis) {
      endMillis = Math.max(epochOf(timeMillis), nowMillis) + epochMillis;
    }
  }

  /** Returns the start of the current epoch. */
  public long nowMillis() {
    return nowMillis;
  }

  /** Returns the number of keys that have expired so far. */
  public long expired() {
    return expired;
  }

  /** Returns the end of the epoch of the next keys. */
  public long endMillis() {
    return endMillis;
  }

  /** Returns whether keys of an epoch that ended at this instant are to be forgotten. */
  public boolean isDue(long end) {
    return end <= dueMillis;
  }

  /** Returns the latest end of an epoch whose keys are to be forgotten. */
  long dueMillis() {
    return dueMillis;
  }

  /** Returns the instant that counts as the end of the epoch before a page's oldest. */
  long floorMillis() {
    return nowMillis - 2 * ttlMillis;
  }

  /** Sets the instants of a repeated change. */
  void setTo(long newDueMillis, long newFloorMillis, long newEndMillis) {
    dueMillis = newDueMillis;
    nowMillis = newFloorMillis + 2 * ttlMillis;
    endMillis = newEndMillis;
  }

  void countExpired(int keys) {
    expired += keys;
  }
}
