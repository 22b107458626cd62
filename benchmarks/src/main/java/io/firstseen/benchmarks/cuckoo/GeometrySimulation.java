package io.firstseen.benchmarks.cuckoo;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Simulates a paged cuckoo filter of any geometry, with one word per slot, to choose the geometry
 * of {@code io.firstseen.filters.cuckoo}.
 *
 * <p>The model is that of the filter: P-bit fingerprints (identities), and pages that grow by one
 * slot per bucket, split by a stored bit, and are repacked into the narrowest width that holds
 * them.
 */
final class GeometrySimulation {
  /** The parameters to choose. */
  record Geometry(
      int bucketBits, int minWidth, int splitWidth, boolean repack, int listMax, int coreBits) {
    int buckets() {
      return 1 << bucketBits;
    }

    @Override
    public String toString() {
      return "%4d buckets, widths %d-%d, %s, list to %4d, core %d"
          .formatted(
              buckets(), minWidth, splitWidth, repack ? "repacked" : "as split", listMax, coreBits);
    }
  }

  /** Bytes of a page besides its body: object, array header, spare word. */
  static final int PAGE_OVERHEAD_BYTES = 40 + 16 + 8;

  private final Geometry geometry;
  private final int identityBits;
  private final int[] steps;
  private Page[] directory;
  private int directoryDepth;
  private long count;
  private long suppressed;

  GeometrySimulation(Geometry geometry, int identityBits) {
    this.geometry = geometry;
    this.identityBits =
        Math.max(identityBits, geometry.bucketBits() + geometry.coreBits() + MIN_SPLIT_BITS);
    this.directory = new Page[] {new Page(0, 0, 0)};
    this.steps = new int[1 << geometry.coreBits()];
    for (int core = 0; core < steps.length; core++) {
      steps[core] = (mix(core) >>> (Integer.SIZE - geometry.bucketBits())) | 1;
    }
  }

  /** The number of splits that the shortest identities must allow. */
  private static final int MIN_SPLIT_BITS = 3;

  private static int mix(int x) {
    int mixed = x * 0x9E3779B1;
    mixed ^= mixed >>> 15;
    return mixed * 0x85EBCA77;
  }

  static int identityBitsFor(long expectedKeys, double falsePositiveRate) {
    return (int) Math.ceil(Math.log(2 * expectedKeys / falsePositiveRate) / Math.log(2));
  }

  int identityBits() {
    return identityBits;
  }

  /** Adds a key like a dedup: not if its identity is present. */
  void addIfAbsent(long hash) {
    long identity = hash >>> (Long.SIZE - identityBits);
    if (((identity >>> geometry.bucketBits()) & (steps.length - 1)) == 0) {
      identity |= 1L << geometry.bucketBits();
    }
    Page page = pageOf(identity);
    if (page.contains(identity)) {
      suppressed++;
      return;
    }
    while (!page.insert(identity)) {
      page = page.grown(identity);
    }
    count++;
  }

  private Page pageOf(long identity) {
    return directory[(int) (identity >>> (identityBits - directoryDepth))];
  }

  private void place(Page page) {
    while (directoryDepth < page.depth) {
      Page[] deeper = new Page[directory.length * 2];
      for (int i = 0; i < deeper.length; i++) {
        deeper[i] = directory[i / 2];
      }
      directory = deeper;
      directoryDepth++;
    }
    int span = 1 << (directoryDepth - page.depth);
    Arrays.fill(directory, page.prefix * span, (page.prefix + 1) * span, page);
  }

  List<Page> pages() {
    List<Page> pages = new ArrayList<>();
    for (int i = 0; i < directory.length; i += 1 << (directoryDepth - directory[i].depth)) {
      pages.add(directory[i]);
    }
    return pages;
  }

  long count() {
    return count;
  }

  long suppressed() {
    return suppressed;
  }

  double utilisation() {
    return (double) count / pages().stream().mapToLong(Page::slots).sum();
  }

  double bitsPerKey() {
    double bytes = 16 + 4.0 * directory.length;
    for (Page page : pages()) {
      bytes += PAGE_OVERHEAD_BYTES + page.bodyBytes();
    }
    return bytes * 8 / count;
  }

  int widest() {
    return pages().stream().mapToInt(page -> page.width).max().orElse(0);
  }

  /** The mean and the minimum load at which pages of one width first refuse a key. */
  static double[] firstFailure(Geometry geometry, int width, int pages, long seed) {
    double sum = 0;
    double worst = 1;
    for (int i = 0; i < pages; i++) {
      GeometrySimulation simulation = new GeometrySimulation(geometry, 40);
      Page page = simulation.new Page(0, 0, width);
      SplittableRandom random = new SplittableRandom(seed + i);
      while (page.insert((random.nextLong() >>> 24) | 1L << geometry.bucketBits())) {}
      double load = (double) page.used / page.slots();
      sum += load;
      worst = Math.min(worst, load);
    }
    return new double[] {sum / pages, worst};
  }

  /** A list (width 0) or a table. */
  final class Page {
    final int depth;
    final int prefix;
    final int width;
    private final long[] slots;
    private int used;

    Page(int depth, int prefix, int width) {
      this.depth = depth;
      this.prefix = prefix;
      this.width = width;
      this.slots = new long[width == 0 ? geometry.listMax() : geometry.buckets() * width];
    }

    long slots() {
      return width == 0 ? used : slots.length;
    }

    double bodyBytes() {
      return width == 0
          ? used * identityBits / 8.0
          : slots.length * (double) (identityBits - geometry.bucketBits() - depth) / 8;
    }

    private int bucket(long identity) {
      return (int) identity & (geometry.buckets() - 1);
    }

    private long slot(long identity) {
      int bits = identityBits - geometry.bucketBits() - depth;
      return (identity >>> geometry.bucketBits()) & ((1L << bits) - 1);
    }

    private int other(int bucket, long slot) {
      return bucket ^ steps[(int) slot & (steps.length - 1)];
    }

    boolean contains(long identity) {
      int bucket = bucket(identity);
      long slot = slot(identity);
      if (width == 0) {
        long twin = identity ^ steps[(int) slot & (steps.length - 1)];
        for (int i = 0; i < used; i++) {
          if (slots[i] == identity || slots[i] == twin) {
            return true;
          }
        }
        return false;
      }
      return holds(bucket, slot) || holds(other(bucket, slot), slot);
    }

    private boolean holds(int bucket, long slot) {
      for (int i = bucket * width; i < (bucket + 1) * width; i++) {
        if (slots[i] == slot) {
          return true;
        }
      }
      return false;
    }

    private int room(int bucket) {
      for (int i = bucket * width; i < (bucket + 1) * width; i++) {
        if (slots[i] == 0) {
          return i;
        }
      }
      return -1;
    }

    boolean insert(long identity) {
      if (width == 0) {
        if (used == slots.length) {
          return false;
        }
        slots[used++] = identity;
        return true;
      }
      int bucket = bucket(identity);
      long slot = slot(identity);
      int[] queue = new int[geometry.buckets()];
      int[] parentSlot = new int[geometry.buckets()];
      int[] parent = new int[geometry.buckets()];
      boolean[] reached = new boolean[geometry.buckets()];
      int size = 0;
      for (int root : new int[] {bucket, other(bucket, slot)}) {
        int room = room(root);
        if (room >= 0) {
          slots[room] = slot;
          used++;
          return true;
        }
        reached[root] = true;
        parent[size] = -1;
        queue[size++] = root;
      }
      for (int at = 0; at < size; at++) {
        for (int i = queue[at] * width; i < (queue[at] + 1) * width; i++) {
          int to = other(queue[at], slots[i]);
          if (reached[to]) {
            continue;
          }
          int room = room(to);
          if (room < 0) {
            reached[to] = true;
            parent[size] = at;
            parentSlot[size] = i;
            queue[size++] = to;
            continue;
          }
          int from = i;
          for (int node = at; ; node = parent[node]) {
            slots[room] = slots[from];
            room = from;
            if (parent[node] < 0) {
              break;
            }
            from = parentSlot[node];
          }
          slots[room] = slot;
          used++;
          return true;
        }
      }
      return false;
    }

    /** Replaces this page by a wider one or by its two halves. Returns the page for an identity. */
    Page grown(long identity) {
      if (width == 0) {
        for (int next = geometry.minWidth(); ; next++) {
          Page table = new Page(depth, prefix, next);
          int stored = 0;
          while (stored < used && table.insert(slots[stored])) {
            stored++;
          }
          if (stored == used) {
            place(table);
            return table;
          }
        }
      }
      int tagBits = identityBits - geometry.bucketBits() - geometry.coreBits();
      if (width < geometry.splitWidth() || depth >= tagBits) {
        Page wider = new Page(depth, prefix, width + 1);
        for (int bucket = 0; bucket < geometry.buckets(); bucket++) {
          System.arraycopy(slots, bucket * width, wider.slots, bucket * (width + 1), width);
        }
        wider.used = used;
        place(wider);
        return wider;
      }
      Page low = half(0);
      Page high = half(1);
      place(low);
      place(high);
      return pageOf(identity);
    }

    private Page half(int side) {
      int childBits = identityBits - geometry.bucketBits() - depth - 1;
      Page half = new Page(depth + 1, prefix << 1 | side, width);
      for (int bucket = 0; bucket < geometry.buckets(); bucket++) {
        for (int i = bucket * width; i < (bucket + 1) * width; i++) {
          if (slots[i] != 0 && slots[i] >>> childBits == side) {
            half.slots[half.room(bucket)] = slots[i] & ((1L << childBits) - 1);
            half.used++;
          }
        }
      }
      for (int narrow = geometry.minWidth(); geometry.repack() && narrow < width; narrow++) {
        if (half.used > 0.99 * narrow * geometry.buckets()) {
          continue;
        }
        Page repacked = new Page(depth + 1, half.prefix, narrow);
        boolean fits = true;
        for (int i = 0; i < half.slots.length && fits; i++) {
          fits =
              half.slots[i] == 0
                  || repacked.insert(half.slots[i] << geometry.bucketBits() | i / width);
        }
        if (fits) {
          return repacked;
        }
      }
      return half;
    }
  }
}
