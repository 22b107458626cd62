package io.firstseen.operators.dedup;

import io.firstseen.types.TimeToLive;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * One of the files of {@link KnownKeys}. It holds all operations on hashes that start with its
 * number, in their order, 8 bytes each: the hash without its first byte, and the operation; with
 * times, 8 bytes more. This class holds the keys that are live after all operations.
 */
final class KnownKeysPart {
  static final int ADD = 1;
  static final int REMOVE = 0;

  private static final int BITS = 8;

  static final int COUNT = 1 << BITS;

  private static final int OPERATION_BITS = 8;
  private static final int BUFFER_BYTES = 1 << 16;

  private final long[] hashes;
  private final long @Nullable [] times;
  private final int count;

  private KnownKeysPart(long[] hashes, long @Nullable [] times, int count) {
    this.hashes = hashes;
    this.times = times;
    this.count = count;
  }

  static int numberOf(long hash) {
    return (int) (hash >>> (Long.SIZE - BITS));
  }

  /** Returns the lowest hash, read as an unsigned number, of a part. */
  static long firstHash(int part) {
    return (long) part << (Long.SIZE - BITS);
  }

  static long encode(long hash, int operation) {
    return hash << OPERATION_BITS | operation;
  }

  static Path file(Path directory, int part) {
    return directory.resolve("keys-" + part);
  }

  /** Returns whether operations have times: with a ttl in event time. */
  static boolean needsTimes(@Nullable TimeToLive ttl) {
    return ttl != null && ttl.clock() == TimeToLive.Clock.EVENT;
  }

  /**
   * Reads the hashes of the keys that are live after all operations.
   *
   * @param ttl when keys are forgotten, null if they are not
   * @param latestMillis the time at which expiry is evaluated
   * @param renewed whether it is the time of all keys
   * @return the distinct hashes in ascending unsigned order
   * @throws IOException if the file cannot be read; a missing file counts as empty
   */
  static KnownKeysPart read(
      Path directory, int part, @Nullable TimeToLive ttl, long latestMillis, boolean renewed)
      throws IOException {
    int stride = needsTimes(ttl) ? 2 : 1;
    Path file = file(directory, part);
    long[] operations = Files.exists(file) ? sorted(read(file), stride) : new long[0];
    long first = firstHash(part);
    long[] hashes = new long[operations.length / stride];
    long[] times = stride == 1 ? null : new long[hashes.length];
    int count = 0;
    for (int i = 0; i < operations.length; ) {
      long hash = operations[i] >>> OPERATION_BITS;
      boolean lives = false;
      long timeMillis = 0;
      for (; i < operations.length && operations[i] >>> OPERATION_BITS == hash; i += stride) {
        boolean lived = lives;
        lives = (operations[i] & ADD) != 0;
        if (lives && stride > 1) {
          long addedMillis = operations[i + 1];
          timeMillis = lived ? timeAfter(ttl, timeMillis, addedMillis) : addedMillis;
        }
      }
      timeMillis = renewed ? latestMillis : timeMillis;
      if (lives && (stride == 1 || latestMillis - timeMillis < ttl.millis())) {
        hashes[count] = first | hash;
        if (stride > 1) {
          times[count] = timeMillis;
        }
        count++;
      }
    }
    return new KnownKeysPart(hashes, times, count);
  }

  /** Returns the time of a key that was already live when it was added. */
  private static long timeAfter(TimeToLive ttl, long timeMillis, long addedMillis) {
    boolean renews =
        ttl.since() == TimeToLive.Since.LAST_SEEN || addedMillis - timeMillis >= ttl.millis();
    return renews ? Math.max(timeMillis, addedMillis) : timeMillis;
  }

  int count() {
    return count;
  }

  long hash(int index) {
    return hashes[index];
  }

  boolean hasTimes() {
    return times != null;
  }

  long timeMillis(int index) {
    return times[index];
  }

  private static long[] read(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file)) {
      long[] operations = new long[Math.toIntExact(channel.size() / Long.BYTES)];
      ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
      for (int filled = 0; filled < operations.length; ) {
        if (channel.read(buffer) < 0) {
          throw new IOException(file + " ends in its middle");
        }
        buffer.flip();
        LongBuffer longs = buffer.asLongBuffer();
        int length = longs.remaining();
        longs.get(operations, filled, length);
        filled += length;
        buffer.position(length * Long.BYTES).compact();
      }
      return operations;
    }
  }

  /**
   * Sorts by hash and keeps the order of operations on one hash: a stable radix sort from the last
   * byte to the first.
   */
  private static long[] sorted(long[] operations, int stride) {
    long[] from = operations;
    long[] to = new long[operations.length];
    for (int shift = OPERATION_BITS; shift < Long.SIZE; shift += Byte.SIZE) {
      int[] next = new int[1 << Byte.SIZE];
      for (int i = 0; i < from.length; i += stride) {
        next[(int) (from[i] >>> shift) & 0xFF] += stride;
      }
      int start = 0;
      for (int digit = 0; digit < next.length; digit++) {
        int length = next[digit];
        next[digit] = start;
        start += length;
      }
      for (int i = 0; i < from.length; i += stride) {
        int digit = (int) (from[i] >>> shift) & 0xFF;
        to[next[digit]] = from[i];
        if (stride > 1) {
          to[next[digit] + 1] = from[i + 1];
        }
        next[digit] += stride;
      }
      long[] swapped = from;
      from = to;
      to = swapped;
    }
    return from;
  }
}
