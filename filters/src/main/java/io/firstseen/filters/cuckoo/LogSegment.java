package io.firstseen.filters.cuckoo;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Consecutive changes of a filter's pages, as {@code docs/format/filter-log-v1.md} specifies them.
 * Immutable.
 *
 * <p>Changes are grouped by the leading bits of their identities, and keep their order within a
 * group. A page whose depth is at least the number of these bits has all its changes in one group,
 * so repeating the changes of its group gives the same bytes as before.
 */
public final class LogSegment {
  /** The maximum number of changes. */
  static final int MAX_COUNT = 2048;

  /** The instants of a change with epochs: due, floor, and end of an {@link Expiry}. */
  static final int INSTANTS = 3;

  /** The maximum number of different instants of changes. */
  static final int MAX_INSTANTS = 16;

  static final int KIND_BITS = 2;

  private static final int VERSION = 1;
  private static final int HEADER_BYTES = 6;
  private static final int MAX_GROUP_BITS = 11;

  /** The groups from one group whose start is kept to the next one. */
  private static final int SAMPLED_GROUPS = 1 << 6;

  private final CuckooShape shape;
  private final int groupBits;
  private final int count;
  private final long[] instants;

  /** The bytes, and {@link BitFields#SPARE_BYTES} more. */
  private final byte[] bytes;

  /** The positions, in bits, of the groups' counts and of the changes. */
  private final int countsFrom;

  private final int changesFrom;

  /** The number of changes before each {@link #SAMPLED_GROUPS}th group. */
  private int[] starts = new int[1];

  private LogSegment(CuckooShape shape, int groupBits, int count, long[] instants, byte[] bytes) {
    this.shape = shape;
    this.groupBits = groupBits;
    this.count = count;
    this.instants = instants;
    this.bytes = bytes;
    this.countsFrom = Byte.SIZE * (HEADER_BYTES + Long.BYTES * instants.length);
    this.changesFrom = countsFrom + Byte.SIZE * bytesOf(count + (1 << groupBits));
  }

  /** Creates a segment whose changes {@link #set} then sets. */
  static LogSegment of(CuckooShape shape, int groupBits, int[] counts, long[] instants) {
    int count = Arrays.stream(counts).sum();
    int length = length(shape, groupBits, count, instants.length / INSTANTS);
    byte[] bytes = new byte[length + BitFields.SPARE_BYTES];
    ByteBuffer header = ByteBuffer.wrap(bytes);
    header.put((byte) VERSION).put((byte) shape.identityBits()).put((byte) groupBits);
    header.put((byte) (instants.length / INSTANTS)).putShort((short) count);
    for (long instant : instants) {
      header.putLong(instant);
    }
    LogSegment segment = new LogSegment(shape, groupBits, count, instants, bytes);
    int bit = segment.countsFrom;
    for (int ofGroup : counts) {
      for (int i = 0; i < ofGroup; i++) {
        BitFields.set(bytes, bit++, 1, 1);
      }
      bit++;
    }
    segment.sampleStarts();
    return segment;
  }

  private static int length(CuckooShape shape, int groupBits, int count, int instantsCount) {
    return HEADER_BYTES
        + Long.BYTES * INSTANTS * instantsCount
        + bytesOf(count + (1 << groupBits))
        + bytesOf(count * changeBits(shape, groupBits, instantsCount));
  }

  private static int bytesOf(int bits) {
    return (bits + Byte.SIZE - 1) / Byte.SIZE;
  }

  private static int changeBits(CuckooShape shape, int groupBits, int instantsCount) {
    return KIND_BITS + placeBits(instantsCount) + shape.identityBits() - groupBits;
  }

  private static int placeBits(int instantsCount) {
    return instantsCount == 0 ? 0 : Integer.SIZE - Integer.numberOfLeadingZeros(instantsCount - 1);
  }

  private int placeBits() {
    return placeBits(instants.length / INSTANTS);
  }

  private int bitOf(int index) {
    return changesFrom + index * changeBits(shape, groupBits, instants.length / INSTANTS);
  }

  void set(int index, PageChange change, long identity, int place) {
    int bit = bitOf(index);
    int headBits = KIND_BITS + placeBits();
    BitFields.set(bytes, bit, headBits, (long) place << KIND_BITS | change.code);
    int identityBits = shape.identityBits() - groupBits;
    BitFields.set(bytes, bit + headBits, identityBits, identity & BitFields.mask(identityBits));
  }

  /**
   * Reads a segment of a filter.
   *
   * @throws MalformedFilterException if the bytes are not a segment of a filter of this shape
   */
  public static LogSegment of(CuckooShape shape, byte[] value) throws MalformedFilterException {
    if (value.length < HEADER_BYTES) {
      throw new MalformedFilterException(
          "a log segment must have at least " + HEADER_BYTES + " bytes, got " + value.length);
    }
    ByteBuffer in = ByteBuffer.wrap(value);
    CuckooFormat.check("version of the log segment", in.get(), VERSION, VERSION);
    int p = shape.identityBits();
    CuckooFormat.check("identityBits of the log segment", in.get(), p, p);
    int groupBits = in.get();
    CuckooFormat.check("group bits", groupBits, 0, Math.min(shape.tagBits(), MAX_GROUP_BITS));
    int instantsCount = in.get();
    CuckooFormat.check("number of instants", instantsCount, 0, MAX_INSTANTS);
    int count = in.getShort();
    CuckooFormat.check("count of changes", count, 1, MAX_COUNT);
    int length = length(shape, groupBits, count, instantsCount);
    CuckooFormat.check("length of the log segment", value.length, length, length);
    long[] instants = new long[INSTANTS * instantsCount];
    for (int i = 0; i < instants.length; i++) {
      instants[i] = in.getLong();
    }
    byte[] bytes = Arrays.copyOf(value, length + BitFields.SPARE_BYTES);
    LogSegment segment = new LogSegment(shape, groupBits, count, instants, bytes);
    segment.verify();
    segment.sampleStarts();
    return segment;
  }

  private void verify() throws MalformedFilterException {
    int ones = 0;
    for (int bit = countsFrom; bit < countsFrom + count + (1 << groupBits); bit++) {
      ones += (int) BitFields.get(bytes, bit, 1);
    }
    CuckooFormat.check("changes in the groups", ones, count, count);
    boolean lastIsZero = BitFields.get(bytes, countsFrom + count + (1 << groupBits) - 1, 1) == 0;
    if (!lastIsZero
        || !isZero(countsFrom + count + (1 << groupBits), changesFrom)
        || !isZero(bitOf(count), Byte.SIZE * (bytes.length - BitFields.SPARE_BYTES))) {
      throw new MalformedFilterException(
          "the bits behind the groups and the changes of a log segment must be 0");
    }
    for (int i = 0; i < count; i++) {
      PageChange change = change(i);
      boolean expires = change == PageChange.RENEWAL || change == PageChange.EXPIRY;
      if ((expires && instants.length == 0)
          || INSTANTS * place(i) >= Math.max(1, instants.length)
          || (change != PageChange.EXPIRY && BucketPairs.core(identity(i, 0)) == 0)) {
        throw new MalformedFilterException("change " + i + " of a log segment is not well formed");
      }
    }
  }

  private boolean isZero(int fromBit, int toBit) {
    for (int bit = fromBit; bit < toBit; bit++) {
      if (BitFields.get(bytes, bit, 1) != 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * Merges consecutive segments of a filter, in their order.
   *
   * @param pageDepth the least depth of the pages to which the segments will be applied, or less
   * @return a segment for memory only: it may have more changes and instants than one in state
   */
  static LogSegment merged(List<LogSegment> parts, int pageDepth) {
    CuckooShape shape = parts.get(0).shape;
    int groupBits = groupBits(shape, pageDepth, parts.stream().mapToInt(LogSegment::count).sum());
    int[] counts = new int[1 << groupBits];
    for (LogSegment part : parts) {
      part.forEachChange((i, identity) -> counts[shape.prefix(identity, groupBits)]++);
    }
    int[] next = new int[counts.length];
    for (int group = 1; group < next.length; group++) {
      next[group] = next[group - 1] + counts[group - 1];
    }
    Map<List<Long>, Integer> places = new LinkedHashMap<>();
    List<int[]> placesOfParts = parts.stream().map(part -> part.placesIn(places)).toList();
    long[] instants =
        places.keySet().stream().flatMap(List::stream).mapToLong(Long::longValue).toArray();
    LogSegment merged = of(shape, groupBits, counts, instants);
    for (int p = 0; p < parts.size(); p++) {
      LogSegment part = parts.get(p);
      int[] placesOfPart = placesOfParts.get(p);
      part.forEachChange(
          (i, identity) -> {
            int at = next[shape.prefix(identity, groupBits)]++;
            int place = placesOfPart.length == 0 ? 0 : placesOfPart[part.place(i)];
            merged.set(at, part.change(i), identity, place);
          });
    }
    return merged;
  }

  /**
   * Returns the number of bits by which changes are grouped.
   *
   * @param pageDepth the least depth of the pages to which the segment will be applied, or less
   */
  static int groupBits(CuckooShape shape, int pageDepth, int count) {
    int mostUseful = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(Math.max(1, count));
    return Math.min(Math.min(pageDepth, shape.tagBits()), mostUseful);
  }

  /** Returns the places of the instants among all instants, to which missing ones are added. */
  private int[] placesIn(Map<List<Long>, Integer> all) {
    int[] places = new int[instants.length / INSTANTS];
    for (int i = 0; i < places.length; i++) {
      int at = INSTANTS * i;
      List<Long> triple = List.of(instants[at], instants[at + 1], instants[at + 2]);
      places[i] = all.computeIfAbsent(triple, added -> all.size());
    }
    return places;
  }

  /** A visitor of changes. */
  @FunctionalInterface
  private interface ChangeVisitor {
    void visit(int index, long identity);
  }

  private void forEachChange(ChangeVisitor visitor) {
    int from = 0;
    for (int group = 0; group < 1 << groupBits; group++) {
      int to = end(group, from);
      for (int i = from; i < to; i++) {
        visitor.visit(i, identity(i, group));
      }
      from = to;
    }
  }

  /** Returns the bytes for state, of a segment that is not merged. */
  public byte[] toBytes() {
    if (count > MAX_COUNT || instants.length > INSTANTS * MAX_INSTANTS) {
      throw new IllegalStateException("a merged segment is not for state");
    }
    return Arrays.copyOf(bytes, length());
  }

  /** Returns the number of bytes for state. */
  public int length() {
    return bytes.length - BitFields.SPARE_BYTES;
  }

  /** Returns the number of changes. */
  public int count() {
    return count;
  }

  /** Returns the number of leading bits by which the changes are grouped. */
  public int groupBits() {
    return groupBits;
  }

  /** Returns whether a page of an identity may have a change. */
  public boolean mayChange(long identity) {
    int group = shape.prefix(identity, groupBits);
    int start = start(group);
    return end(group, start) > start;
  }

  private void sampleStarts() {
    int[] sampled = new int[((1 << groupBits) - 1) / SAMPLED_GROUPS + 1];
    for (int i = 1; i < sampled.length; i++) {
      sampled[i] = start(i * SAMPLED_GROUPS, i - 1, sampled[i - 1]);
    }
    starts = sampled;
  }

  /** Returns the number of changes in the groups before one. */
  private int start(int group) {
    int sample = group / SAMPLED_GROUPS;
    return start(group, sample, starts[sample]);
  }

  private int start(int group, int sample, int startOfSample) {
    // The changes before the group are the ones before the zero that ends the previous group.
    int zeros = group - sample * SAMPLED_GROUPS;
    int bit = countsFrom + startOfSample + sample * SAMPLED_GROUPS;
    while (zeros > 0) {
      long word = ~BitFields.word(bytes, bit) & BitFields.mask(BitFields.MAX_BITS);
      int zerosInWord = Long.bitCount(word);
      if (zerosInWord < zeros) {
        zeros -= zerosInWord;
        bit += BitFields.MAX_BITS;
      } else {
        for (; zeros > 0; zeros--) {
          bit += zeros == 1 ? Long.numberOfTrailingZeros(word) + 1 : 0;
          word &= word - 1;
        }
      }
    }
    return bit - countsFrom - group;
  }

  /**
   * Returns the number of changes in the groups up to one.
   *
   * @param start as {@link #start} returns it
   */
  private int end(int group, int start) {
    int end = start;
    while (true) {
      int ones = Long.numberOfTrailingZeros(~BitFields.word(bytes, countsFrom + group + end));
      if (ones < BitFields.MAX_BITS) {
        return end + ones;
      }
      end += BitFields.MAX_BITS;
    }
  }

  /** Repeats the changes of identities between two, both included. */
  void repeat(long first, long last, LogReplay replay) {
    int group = shape.prefix(first, groupBits);
    int lastGroup = shape.prefix(last, groupBits);
    int from = start(group);
    for (; group <= lastGroup; group++) {
      int to = end(group, from);
      for (int i = from; i < to; i++) {
        long identity = identity(i, group);
        if (identity >= first && identity <= last) {
          if (instants.length > 0) {
            replay.setInstants(instants, INSTANTS * place(i));
          }
          replay.repeat(change(i), identity);
        }
      }
      from = to;
    }
  }

  private PageChange change(int index) {
    return PageChange.of((int) BitFields.get(bytes, bitOf(index), KIND_BITS));
  }

  private int place(int index) {
    return (int) BitFields.get(bytes, bitOf(index) + KIND_BITS, placeBits());
  }

  private long identity(int index, int group) {
    int bits = shape.identityBits() - groupBits;
    return (long) group << bits
        | BitFields.get(bytes, bitOf(index) + KIND_BITS + placeBits(), bits);
  }
}
