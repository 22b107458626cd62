package io.firstseen.filters.snapshot;

import io.firstseen.filters.gcs.Universe;
import java.util.PrimitiveIterator;
import org.jspecify.annotations.Nullable;

/**
 * The data that a shard publishes for a window that changed its keys.
 *
 * @param setDigest the digest of the published set of these keys
 * @param section the change from the previously published set, or the whole set
 * @param base the base of the set, or null; not null if the section is the whole set
 * @param chain the chain after the window, from which {@link ChainRule} decides on the next cut
 */
@SuppressWarnings("ArrayRecordComponent")
public record ShardCut(
    String setDigest, Section section, byte @Nullable [] base, ShardChain chain) {

  /**
   * The keys of a shard, before and after a window.
   *
   * @param <E> thrown if they cannot be read
   */
  public interface Keys<E extends Exception> {

    /** Returns the number of keys after the window. */
    long count();

    /**
     * Translates the change of the keys into a change of values; called once.
     *
     * @param universe the values of the published sets
     * @param section receives the differences; null if they are not needed
     * @return the set of values after the change
     */
    Values change(Universe universe, @Nullable SectionWriter section) throws E;

    /** Returns the distinct values after the change, in ascending order. */
    PrimitiveIterator.OfLong values(Universe universe);
  }

  /**
   * A set of values.
   *
   * @param digest its {@link SetDigest}
   * @param count the number of distinct values
   */
  public record Values(String digest, long count) {}

  /**
   * Applies a change, and creates section and base as {@link ChainRule} decides.
   *
   * @param chain the published chain before the window; null if the shard has published nothing
   */
  public static <E extends Exception> ShardCut of(
      Keys<E> keys,
      @Nullable ShardChain chain,
      ChainRule rule,
      String setName,
      int shard,
      long windowEndMillis)
      throws E {
    long count = keys.count();
    boolean canContinue = rule.canContinue(chain, count);
    int headroomBits = canContinue ? chain.headroomBits() : ChainRule.headroomBits(chain, count);
    Universe universe = canContinue ? chain.universe() : rule.universe(count, headroomBits);
    SectionWriter writer = canContinue ? new SectionWriter(universe, chain.count()) : null;
    Values values = keys.change(universe, writer);
    Section section = canContinue ? writer.finish(count) : null;
    if (canContinue && !rule.needsBase(chain, section.length(), windowEndMillis)) {
      return new ShardCut(values.digest, section, null, chain.with(values.count, section.length()));
    }
    Section whole = Section.whole(keys.values(universe), universe, values.count, count);
    byte[] base = Base.write(setName, shard, whole);
    ShardChain begun =
        new ShardChain(
            universe, headroomBits, values.count, count, base.length, windowEndMillis, 0);
    boolean isSmaller = canContinue && section.length() < whole.length();
    return new ShardCut(values.digest, isSmaller ? section : whole, base, begun);
  }
}
