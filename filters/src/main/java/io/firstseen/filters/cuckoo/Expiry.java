package io.firstseen.filters.cuckoo;

/**
 * How long a filter keeps its keys, and what time it is.
 *
 * <p>Time is cut into epochs, {@value #EPOCHS} to a time to live, and a filter knows of each key
 * only in which epoch its time lies. A key is forgotten when the epoch that now lies in begins at
 * least the time to live after the end of the key's own: so no earlier than the time to live after
 * its time, and no later than that plus one epoch. Instants are milliseconds; what they count from
 * does not matter.
 *
 * <p>Every operation on a page first forgets what is due there, so answers do not depend on when
 * {@link PagedFilter#expire} was called, which frees the room of keys that nobody asks for.
 *
 * <p>A later filter may have another time to live than the one that stored a key: the key is then
 * kept for the new one after the end of its epoch, which is as long as it was when it was stored.
 */
public final class Expiry {
  /** Epochs in a time to live. */
  public static final int EPOCHS = 8;

  public static final long MIN_TTL_MILLIS = 1000;

  /** Some thousand years. */
  public static final long MAX_TTL_MILLIS = 1L << 47;

  /** Instants beyond are taken for this one, or for its negative. */
  private static final long MAX_INSTANT = 1L << 60;

  private final long ttlMillis;
  private final long epochMillis;
  private final boolean sinceLastSeen;
  private final long phaseMillis;
  private long nowMillis;
  private long endMillis;
  private long dueMillis;
  private long expired;

  /** As the other constructor, with an epoch that begins at 0. */
  public Expiry(long ttlMillis, boolean sinceLastSeen) {
    this(ttlMillis, sinceLastSeen, 0);
  }

  /**
   * The time at which nothing has expired yet.
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

  /** The time to live, a multiple of {@value #EPOCHS}. */
  public long ttlMillis() {
    return ttlMillis;
  }

  /** Length of an epoch. */
  public long epochMillis() {
    return epochMillis;
  }

  /** Whether a repeat renews a key. */
  public boolean sinceLastSeen() {
    return sinceLastSeen;
  }

  /** The beginning of the epoch that an instant lies in. */
  public long epochOf(long millis) {
    long instant = Math.max(-MAX_INSTANT, Math.min(millis, MAX_INSTANT));
    return instant - Math.floorMod(instant - phaseMillis, epochMillis);
  }

  /** Turns to an instant, which is also the time of the keys that come next. */
  public void advanceTo(long newNowMillis) {
    boolean sameEpoch = newNowMillis >= nowMillis && newNowMillis < nowMillis + epochMillis;
    turnTo(sameEpoch ? nowMillis : epochOf(newNowMillis));
  }

  private void turnTo(long epoch) {
    nowMillis = epoch;
    dueMillis = epoch - ttlMillis;
    endMillis = epoch + epochMillis;
  }

  /** Sets the time of the keys that come next; before now counts as now. */
  public void keysOf(long timeMillis) {
    if (timeMillis >= endMillis || timeMillis < endMillis - epochMillis) {
      endMillis = Math.max(epochOf(timeMillis), nowMillis) + epochMillis;
    }
  }

  /** Beginning of the epoch that now lies in. */
  public long nowMillis() {
    return nowMillis;
  }

  /** Number of keys forgotten so far because their time was up. */
  public long expired() {
    return expired;
  }

  /** End of the epoch of the keys that come next. */
  public long endMillis() {
    return endMillis;
  }

  /** Whether keys of an epoch that ended at this instant are to be forgotten. */
  public boolean isDue(long end) {
    return end <= dueMillis;
  }

  /** The latest end of an epoch whose keys are to be forgotten. */
  long dueMillis() {
    return dueMillis;
  }

  void countExpired(int keys) {
    expired += keys;
  }
}
