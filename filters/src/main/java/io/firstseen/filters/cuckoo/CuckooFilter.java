package io.firstseen.filters.cuckoo;

import io.firstseen.filters.MembershipFilter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.function.Consumer;

/**
 * A cuckoo filter on the heap: inserts, looks up and deletes keys by their 64-bit hashes.
 *
 * <p>Grows from nothing to any number of keys by one page at a time. The false-positive rate at
 * {@code n} keys is {@code 2 n / 2^P}, whatever the growth and the deletions. At the expected
 * number of keys it is at most the target rate; with more keys it follows the same formula. The
 * same operations give the same bytes. Not safe for use by several threads.
 */
public final class CuckooFilter implements MembershipFilter {
  private final CuckooShape shape;
  private final PagedFilter operations;
  private final HeapPages pages;
  private long count;

  /** Creates an empty filter. */
  public CuckooFilter(CuckooShape shape) {
    this(shape, new HeapPages(shape));
  }

  CuckooFilter(CuckooShape shape, HeapPages pages) {
    this.shape = shape;
    this.operations = new PagedFilter(shape);
    this.pages = pages;
    pages.forEach(page -> count += page.count());
  }

  /**
   * Creates an empty filter for an expected number of keys; see {@link CuckooShape#forCapacity}.
   */
  public static CuckooFilter forCapacity(long expectedKeys, double falsePositiveRate) {
    return new CuckooFilter(CuckooShape.forCapacity(expectedKeys, falsePositiveRate));
  }

  /**
   * Creates an empty filter with space preallocated for an expected number of keys; it can grow
   * further like any other filter. Look-ups return the same results as in a filter created by
   * {@link #forCapacity}.
   */
  public static CuckooFilter sized(long expectedKeys, double falsePositiveRate) {
    CuckooShape shape = CuckooShape.forCapacity(expectedKeys, falsePositiveRate);
    return new CuckooFilter(shape, HeapPages.sized(shape, expectedKeys));
  }

  /** See {@link PagedFilter#insert}. */
  public InsertionResult insert(long hash) {
    return counted(operations.insert(pages, hash));
  }

  /** See {@link PagedFilter#insertIfAbsent}. */
  public InsertionResult insertIfAbsent(long hash) {
    return counted(operations.insertIfAbsent(pages, hash));
  }

  private InsertionResult counted(InsertionResult insertion) {
    count += insertion == InsertionResult.STORED ? 1 : 0;
    return insertion;
  }

  /** See {@link PagedFilter#mightContain}. */
  @Override
  public boolean mightContain(long hash) {
    return operations.mightContain(pages, hash);
  }

  /** See {@link PagedFilter#delete}. */
  public boolean delete(long hash) {
    boolean deleted = operations.delete(pages, hash);
    count -= deleted ? 1 : 0;
    return deleted;
  }

  /**
   * Inserts keys. The result is byte for byte the same filter as after inserting one key after the
   * other with {@link #insert}. Works page by page, which is faster if the filter is larger than
   * the processor's caches.
   *
   * @return how many were {@code STORED}
   */
  public long insertAll(long[] hashes) {
    long before = count;
    HashesByPage.forEach(hashes, pages::minDepth, this::insert);
    return count - before;
  }

  /**
   * Deletes keys. The result holds the same identities as after deleting one key after the other
   * with {@link #delete}, but may have pages of other sizes. Works page by page like {@link
   * #insertAll}.
   *
   * @return how many of them had a copy to delete
   */
  public long deleteAll(long[] hashes) {
    long before = count;
    HashesByPage.forEach(hashes, pages::minDepth, this::delete);
    return before - count;
  }

  /**
   * Returns the number of stored identities (fingerprints): insertions that were {@code STORED}
   * less deletions.
   */
  public long count() {
    return count;
  }

  /** Returns the shape, which gives the length of the identities. */
  public CuckooShape shape() {
    return shape;
  }

  /**
   * Returns the probability that {@link #mightContain} is true for a key that was never inserted.
   */
  @Override
  public double predictedFalsePositiveRate() {
    return shape.predictedFalsePositiveRate(count());
  }

  /** Returns the share of slots that are used, in [0, 1]. */
  public double load() {
    long[] slots = {0};
    pages.forEach(page -> slots[0] += page.slots());
    return slots[0] == 0 ? 0 : (double) count() / slots[0];
  }

  /**
   * Returns the number of bytes on the heap with all overheads, estimated for compressed object
   * pointers.
   */
  @Override
  public long sizeBytes() {
    long[] bytes = {pages.directoryBytes()};
    pages.forEach(page -> bytes[0] += page.heapBytes());
    return bytes[0];
  }

  /** Returns the number of pages. */
  public int pageCount() {
    return pages.pageCount();
  }

  /**
   * Visits every page once, in the order of the prefixes. The visitor receives the filter's pages
   * themselves: read or copy them before the next change of the filter.
   */
  public void forEachPage(Consumer<CuckooPage> visitor) {
    pages.forEach(visitor);
  }

  /**
   * Returns an equal filter at a cost in proportion to the pages, not the bytes: pages are shared.
   */
  public CuckooFilter copy() {
    return new CuckooFilter(shape, pages.copy(shape));
  }

  /**
   * Writes the filter in the form of {@code docs/format/filter-state-v1.md}; the same operations
   * give the same bytes. Does not close the stream.
   *
   * @throws IllegalStateException if a page is more than 8 splits deeper than log2 of the number of
   *     pages; this does not happen with nearly uniform hashes
   */
  public void writeTo(OutputStream out) throws IOException {
    CuckooFormat.writeFilter(this, out);
  }

  /**
   * Reads one filter and no byte after it. The stream should be buffered.
   *
   * @throws MalformedFilterException if the bytes are not a serialised filter
   */
  public static CuckooFilter readFrom(InputStream in) throws IOException {
    return CuckooFormat.readFilter(in);
  }
}
