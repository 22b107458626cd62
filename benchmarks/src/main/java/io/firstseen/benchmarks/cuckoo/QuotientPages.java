package io.firstseen.benchmarks.cuckoo;

import java.util.Arrays;
import java.util.function.Consumer;

/**
 * A filter of {@link QuotientPage}s: a spike, to compare with the shipped cuckoo filter.
 *
 * <p>The fingerprint of a key for life is a tag of t bits and one of b buckets, where b need not be
 * a power of two: b · 2^t fingerprints are possible, and a filter with n keys finds a stranger with
 * probability 1 − exp(−n / (b · 2^t)). The leading bits of the tag choose the page. A page that has
 * {@value #KEYS_A_BUCKET} keys a bucket splits by the next bit of the tag.
 */
final class QuotientPages {
  /** Keys a bucket at which a page splits. */
  static final double KEYS_A_BUCKET = 1.25;

  /** Buckets and bits of the tag. */
  record Shape(int buckets, int tagBits) {
    /** The least shape whose rate is at most the asked one at an expected number of keys. */
    static Shape forCapacity(long keys, double rate, int mostBuckets) {
      double fingerprints = keys / rate;
      int tagBits = 0;
      while (Math.scalb((double) mostBuckets, tagBits) < fingerprints) {
        tagBits++;
      }
      int buckets = (int) Math.ceil(Math.scalb(fingerprints, -tagBits) / QuotientPage.BLOCK);
      return new Shape(buckets * QuotientPage.BLOCK, tagBits);
    }

    double predictedFalsePositiveRate(long keys) {
      return -Math.expm1(-keys / Math.scalb((double) buckets, tagBits));
    }

    int mostKeys() {
      return (int) (buckets * KEYS_A_BUCKET);
    }
  }

  private final Shape shape;
  private QuotientPage[] directory;
  private int directoryDepth;
  private long count;

  QuotientPages(Shape shape) {
    this.shape = shape;
    this.directory =
        new QuotientPage[] {new QuotientPage(0, 0, shape.buckets(), shape.tagBits(), 0)};
  }

  private long tag(long hash) {
    return hash >>> (Long.SIZE - shape.tagBits());
  }

  private int bucket(long hash) {
    long rest = hash << shape.tagBits() >>> Integer.SIZE;
    return (int) ((rest * shape.buckets()) >>> Integer.SIZE);
  }

  private QuotientPage page(long tag) {
    return directory[(int) (tag >>> (shape.tagBits() - directoryDepth))];
  }

  private long slot(long tag, QuotientPage page) {
    return tag & (1L << (shape.tagBits() - page.depth)) - 1;
  }

  boolean mightContain(long hash) {
    long tag = tag(hash);
    QuotientPage page = page(tag);
    return page.contains(bucket(hash), slot(tag, page));
  }

  void insert(long hash) {
    long tag = tag(hash);
    QuotientPage page = page(tag);
    page.insert(bucket(hash), slot(tag, page));
    count++;
    if (page.count() >= shape.mostKeys() && page.depth < shape.tagBits() - 1) {
      for (QuotientPage half : page.halves()) {
        place(half);
      }
    }
  }

  boolean delete(long hash) {
    long tag = tag(hash);
    QuotientPage page = page(tag);
    boolean deleted = page.remove(bucket(hash), slot(tag, page));
    count -= deleted ? 1 : 0;
    return deleted;
  }

  private void place(QuotientPage page) {
    if (directoryDepth < page.depth) {
      QuotientPage[] deeper = new QuotientPage[directory.length * 2];
      for (int i = 0; i < deeper.length; i++) {
        deeper[i] = directory[i / 2];
      }
      directory = deeper;
      directoryDepth++;
    }
    int span = 1 << (directoryDepth - page.depth);
    Arrays.fill(directory, page.prefix * span, (page.prefix + 1) * span, page);
  }

  long count() {
    return count;
  }

  Shape shape() {
    return shape;
  }

  void forEachPage(Consumer<QuotientPage> visitor) {
    for (int i = 0; i < directory.length; i += 1 << (directoryDepth - directory[i].depth)) {
      visitor.accept(directory[i]);
    }
  }

  /** Bytes on the heap with all overheads. */
  long sizeBytes() {
    long[] bytes = {16 + 4L * directory.length};
    forEachPage(page -> bytes[0] += page.heapBytes());
    return bytes[0];
  }
}
