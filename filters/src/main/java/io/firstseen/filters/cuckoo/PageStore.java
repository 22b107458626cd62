package io.firstseen.filters.cuckoo;

import org.jspecify.annotations.Nullable;

/**
 * Stores the pages of one filter, on the heap or in a state backend.
 *
 * <p>A store finds the page of an identity by the identity's leading bits; the pages that it holds
 * cover every prefix exactly once.
 */
public interface PageStore {
  /** Returns the expiry of the filter's keys; null if they do not expire. */
  default @Nullable Expiry expiry() {
    return null;
  }

  /**
   * Returns whether no page holds an identity, as far as the store knows without reading the page.
   */
  default boolean lacks(long identity) {
    return false;
  }

  /**
   * Inserts an identity without its page, if no page holds the identity and the page does not
   * become wider, as far as the store knows without reading the page. Returns false otherwise.
   */
  default boolean insertAbsent(long identity) {
    return false;
  }

  /** Returns the page that an identity belongs to. */
  CuckooPage get(long identity);

  /**
   * Records that the page of an identity was changed, or replaced by a page of the same depth and
   * prefix and with the same keys.
   */
  void put(long identity, CuckooPage page);

  /** As {@link #put(long, CuckooPage)}, with the change that was made. */
  default void put(long identity, CuckooPage page, PageChange change) {
    put(identity, page);
  }

  /**
   * As {@link #put(long, CuckooPage)}, for a page whose pending insertions were added to its table.
   */
  default void putInserted(long identity, CuckooPage page) {
    put(identity, page);
  }

  /**
   * Returns whether the store keeps a page that results from a split. A page that the store does
   * not keep may be empty.
   *
   * @param id see {@link CuckooPage#id}
   */
  default boolean keeps(int id) {
    return true;
  }

  /** Replaces the page of an identity by the two pages that it was split into. */
  void split(long identity, CuckooPage low, CuckooPage high);

  /** Replaces the page of an identity and its sibling by the page that they were merged into. */
  void merge(long identity, CuckooPage merged);
}
