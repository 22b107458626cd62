package io.firstseen.filters.snapshot;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** A lock on a file against other processes and other objects of this process. The file remains. */
public final class ProcessLock implements Closeable {
  // A process that closes any channel to a file loses all its locks on the file, including locks
  // acquired through other channels. So a second lock in this process must not open the file.
  private static final Set<Path> LOCKED_HERE = ConcurrentHashMap.newKeySet();

  private static final Map<Path, FileChannel> CONTENDED = new ConcurrentHashMap<>();

  private final Path locked;
  private @Nullable FileChannel channel;

  private ProcessLock(Path locked) {
    this.locked = locked;
  }

  /**
   * Acquires the lock.
   *
   * @param file a file in an existing directory
   * @param options how the file is opened
   * @return the lock, which ends when it is closed or the process ends; null if another process or
   *     object holds it
   */
  public static @Nullable ProcessLock tryLock(Path file, OpenOption... options) throws IOException {
    Path locked = file.toAbsolutePath().getParent().toRealPath().resolve(file.getFileName());
    if (!LOCKED_HERE.add(locked)) {
      return null;
    }
    ProcessLock lock = new ProcessLock(locked);
    boolean isAcquired = false;
    try {
      FileChannel contended = CONTENDED.remove(locked);
      lock.channel = contended == null ? FileChannel.open(file, options) : contended;
      isAcquired = lock.channel.tryLock() != null;
    } catch (OverlappingFileLockException e) {
      // A copy of this class in a different class loader holds the lock, and must not lose it.
      CONTENDED.put(locked, lock.channel);
      lock.channel = null;
    } finally {
      if (!isAcquired) {
        lock.close();
      }
    }
    return isAcquired ? lock : null;
  }

  @Override
  public void close() throws IOException {
    if (channel != null && !channel.isOpen()) {
      return;
    }
    try {
      if (channel != null) {
        channel.close();
      }
    } finally {
      LOCKED_HERE.remove(locked);
    }
  }
}
