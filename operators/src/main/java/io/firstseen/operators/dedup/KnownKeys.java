package io.firstseen.operators.dedup;

import io.firstseen.types.TimeToLive;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Collects operations on keys, by hash and in order. {@link WarmStart} creates a savepoint from
 * them.
 *
 * <p>The operations are stored in files, 8 bytes per operation (16 with times). The first bits of a
 * hash select the file, so that each file can be sorted in memory. Needs a few MiB of memory here,
 * and later twice the size of a file.
 *
 * <p>Not safe for use by several threads.
 */
public final class KnownKeys implements Closeable {
  private static final int BUFFER_BYTES = 1 << 15;

  private final Path directory;
  private final boolean withTimes;
  private final FileChannel[] files = new FileChannel[KnownKeysPart.COUNT];
  private final ByteBuffer[] buffers = new ByteBuffer[KnownKeysPart.COUNT];
  private long operations;
  private long latestMillis = Long.MIN_VALUE;
  private boolean renewed;

  /**
   * Creates an empty collection.
   *
   * @param directory an empty directory for the files; the caller removes it
   * @param ttl when the dedup forgets keys; null if it does not
   */
  public KnownKeys(Path directory, @Nullable TimeToLive ttl) {
    this.directory = directory;
    this.withTimes = KnownKeysPart.needsTimes(ttl);
  }

  /**
   * Makes the key with this hash live.
   *
   * @param timeMillis event time; used only with a ttl in event time
   */
  public void add(long hash, long timeMillis) throws IOException {
    append(hash, KnownKeysPart.ADD, timeMillis);
    latestMillis = Math.max(latestMillis, timeMillis);
  }

  /** Removes the key with this hash if it is live. */
  public void remove(long hash) throws IOException {
    append(hash, KnownKeysPart.REMOVE, 0);
  }

  /**
   * Gives all live keys this time, or the latest time of all adds if it is later. Used for a ttl
   * since keys were last seen if the adds do not contain this time, so that no key is forgotten
   * because its duplicates are missing.
   *
   * @param nowMillis event time
   */
  public void renewAll(long nowMillis) {
    renewed = true;
    latestMillis = Math.max(latestMillis, nowMillis);
  }

  boolean isRenewed() {
    return renewed;
  }

  /** Returns the latest time of all adds, or the time set by {@link #renewAll}. */
  long latestMillis() {
    return latestMillis;
  }

  /** Returns the number of adds and removals. */
  public long operations() {
    return operations;
  }

  private void append(long hash, int operation, long timeMillis) throws IOException {
    int part = KnownKeysPart.numberOf(hash);
    ByteBuffer buffer = buffers[part];
    if (buffer == null) {
      buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
      buffers[part] = buffer;
    }
    buffer.putLong(KnownKeysPart.encode(hash, operation));
    if (withTimes) {
      buffer.putLong(timeMillis);
    }
    if (!buffer.hasRemaining()) {
      write(part);
    }
    operations++;
  }

  private void write(int part) throws IOException {
    if (files[part] == null) {
      files[part] =
          FileChannel.open(
              KnownKeysPart.file(directory, part),
              StandardOpenOption.CREATE_NEW,
              StandardOpenOption.WRITE);
    }
    ByteBuffer buffer = buffers[part].flip();
    while (buffer.hasRemaining()) {
      files[part].write(buffer);
    }
    buffer.clear();
  }

  Path directory() {
    return directory;
  }

  /** Writes buffered operations to the files; no operation may follow. May be called again. */
  public void complete() throws IOException {
    for (int part = 0; part < buffers.length; part++) {
      if (buffers[part] != null && buffers[part].position() > 0) {
        write(part);
      }
      buffers[part] = null;
    }
    close();
  }

  /** Returns how many of the files have not been consumed yet. */
  public int partsLeft() {
    int left = 0;
    for (int part = 0; part < KnownKeysPart.COUNT; part++) {
      left += Files.exists(KnownKeysPart.file(directory, part)) ? 1 : 0;
    }
    return left;
  }

  /** Closes the files. */
  @Override
  public void close() throws IOException {
    for (FileChannel file : files) {
      if (file != null) {
        file.close();
      }
    }
  }
}
