package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.Sha256;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.SnapshotTopicFormat.ChunkKey;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The snapshots of a set in files, from which they are mapped into memory, and what is needed to go
 * on from there when the process starts again.
 *
 * <pre>
 * lock              held by the process that writes here
 * incoming/DIGEST   a blob some of whose chunks have come
 * blobs/DIGEST      a verified snapshot
 * current           what answered last, see {@link CachedState}
 * </pre>
 *
 * <p>A file under {@code blobs} and {@code current} appear whole or not at all, and {@code current}
 * after what it names. So whatever moment a process ends at, the cache is as it was before or after
 * a step. What is in it is read again with its digests checked, and passed over if they do not
 * hold.
 *
 * <p>Nothing here fails for want of room: what cannot be written stays in memory, and {@link
 * #takeTrouble} says so once. A process that does not hold the lock reads and never writes. Files
 * in use may be removed; what is mapped stays until the collector finds that nobody uses it.
 */
public final class SnapshotCache implements AutoCloseable {
  private final Path directory;
  private final Path incoming;
  private final Path blobs;
  private final Path current;
  private final IdentityHashMap<Snapshot, String> files = new IdentityHashMap<>();
  private FileChannel lockFile;
  private boolean isWritable;
  private String trouble;
  private boolean isTroubleKnown;

  private SnapshotCache(Path directory) {
    this.directory = directory;
    this.incoming = directory.resolve("incoming");
    this.blobs = directory.resolve("blobs");
    this.current = directory.resolve("current");
  }

  /**
   * Opens the cache of a set, which is made if absent.
   *
   * @param directory holds the caches of all sets of one topic
   */
  public static SnapshotCache open(Path directory, String setName) {
    // Set names are file names, but for those of dots alone.
    SnapshotCache cache = new SnapshotCache(directory.resolve(setName + ".snapshots"));
    cache.lock();
    return cache;
  }

  private void lock() {
    try {
      Files.createDirectories(incoming);
      Files.createDirectories(blobs);
      lockFile =
          FileChannel.open(
              directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      FileLock lock = tryLock(lockFile);
      isWritable = lock != null;
      if (!isWritable) {
        trouble = "cache %s is in use by another client, so nothing is kept".formatted(directory);
        return;
      }
      for (Path file : list(incoming)) {
        Files.delete(file);
      }
    } catch (IOException e) {
      fail(e);
    }
  }

  private static FileLock tryLock(FileChannel channel) throws IOException {
    try {
      return channel.tryLock();
    } catch (OverlappingFileLockException e) {
      // By this JVM.
      return null;
    }
  }

  /** What has gone wrong since the last call, in one sentence; each kind of trouble once. */
  public Optional<String> takeTrouble() {
    Optional<String> taken = Optional.ofNullable(trouble);
    trouble = null;
    return taken;
  }

  /**
   * What was kept last; empty if there is nothing.
   *
   * @throws SnapshotException if it is damaged
   */
  public Optional<CachedState> load() throws SnapshotException {
    if (!Files.exists(current)) {
      return Optional.empty();
    }
    try {
      return Optional.of(CachedState.read(Files.readAllBytes(current)));
    } catch (SnapshotException e) {
      throw unusable(e);
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  /**
   * Maps a snapshot that was kept, and checks that its bytes have the digest. As it was verified
   * before it was kept, they need not be decoded.
   */
  public Snapshot open(String digest) throws SnapshotException {
    Path file = blobs.resolve(digest);
    try {
      ByteBuffer bytes = map(file, Files.size(file));
      String found = Sha256.hex(bytes);
      if (!found.equals(digest)) {
        throw new SnapshotException("the bytes of blob " + digest + " have the digest " + found);
      }
      Snapshot snapshot = Snapshot.read(bytes);
      files.put(snapshot, digest);
      return snapshot;
    } catch (SnapshotException e) {
      throw unusable(e);
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  private SnapshotException unusable(IOException e) {
    return new SnapshotException(
        "cache %s cannot be used: %s".formatted(directory, sentence(e)), e);
  }

  /** Writes a chunk to its place in its blob, and returns whether it could be written. */
  boolean writeChunk(ChunkKey key, byte[] bytes) {
    if (!isWritable) {
      return false;
    }
    try (FileChannel file =
        FileChannel.open(
            incoming.resolve(key.digest()), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      write(file, bytes, (long) key.index() * SnapshotTopicFormat.MAX_CHUNK_BYTES);
      recover();
      return true;
    } catch (IOException e) {
      fail(e);
      return false;
    }
  }

  /** The blob whose chunks were written, of which this is the length. */
  ByteBuffer incoming(String digest, long length) throws IOException {
    return map(incoming.resolve(digest), length);
  }

  void removeIncoming(String digest) {
    if (isWritable) {
      try {
        Files.deleteIfExists(incoming.resolve(digest));
      } catch (IOException e) {
        fail(e);
      }
    }
  }

  /**
   * Keeps a verified snapshot and returns one of the same content that lies in its file, or if that
   * cannot be written, the same.
   *
   * @param digest of the snapshot's bytes
   * @param isIncoming whether it lies in the file of its chunks already
   */
  Snapshot keep(Snapshot snapshot, String digest, boolean isIncoming) throws SnapshotException {
    if (!isWritable || files.containsKey(snapshot)) {
      return snapshot;
    }
    Path temporary = incoming.resolve(digest);
    try {
      ByteBuffer bytes = snapshot.asByteBuffer();
      try (FileChannel file =
          FileChannel.open(temporary, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
        if (!isIncoming) {
          write(file, snapshot.toBytes(), 0);
        }
        // Chunks that no such blob has may have come, too.
        file.truncate(bytes.remaining());
        file.force(true);
      }
      Path file = blobs.resolve(digest);
      Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
      Snapshot kept = Snapshot.read(map(file, bytes.remaining()));
      files.put(kept, digest);
      recover();
      return kept;
    } catch (IOException e) {
      fail(e);
      // A chunk that comes again would be written into the file of one that is in use.
      return isIncoming ? Snapshot.read(snapshot.toBytes()) : snapshot;
    }
  }

  /** The digest of the bytes of a snapshot that lies in its file; null for another one. */
  String digest(Snapshot snapshot) {
    return files.get(snapshot);
  }

  /**
   * Makes this what the next start begins with, and removes the files of all other snapshots.
   *
   * @param inUse the snapshots that may come to answer, in this process, without being read again
   */
  public void commit(CachedState state, List<Snapshot> inUse) {
    if (!isWritable) {
      return;
    }
    Path temporary = directory.resolve("current.tmp");
    try {
      try (FileChannel file =
          FileChannel.open(
              temporary,
              StandardOpenOption.CREATE,
              StandardOpenOption.TRUNCATE_EXISTING,
              StandardOpenOption.WRITE)) {
        write(file, state.toBytes(), 0);
        file.force(true);
      }
      Files.move(temporary, current, StandardCopyOption.ATOMIC_MOVE);
      removeOthers(inUse);
      recover();
    } catch (IOException e) {
      fail(e);
    }
  }

  private void removeOthers(List<Snapshot> inUse) throws IOException {
    Set<String> named = new HashSet<>();
    inUse.stream().map(files::get).filter(digest -> digest != null).forEach(named::add);
    for (Path file : list(blobs)) {
      if (!named.contains(file.getFileName().toString())) {
        Files.delete(file);
      }
    }
    files.values().retainAll(named);
  }

  /** Lets another process write here. What is mapped stays usable. */
  @Override
  public void close() {
    isWritable = false;
    try {
      if (lockFile != null) {
        lockFile.close();
      }
    } catch (IOException e) {
      fail(e);
    }
  }

  private void fail(IOException e) {
    if (!isTroubleKnown) {
      isTroubleKnown = true;
      trouble =
          "cache %s cannot be written, so snapshots stay in memory: %s"
              .formatted(directory, sentence(e));
    }
  }

  private void recover() {
    isTroubleKnown = false;
  }

  private static String sentence(IOException e) {
    if (e instanceof FileSystemException file) {
      String reason = file.getReason() == null ? e.getClass().getSimpleName() : file.getReason();
      return file.getFile() + ": " + reason;
    }
    return e.getMessage();
  }

  private static ByteBuffer map(Path file, long length) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      if (channel.size() < length || length > Integer.MAX_VALUE) {
        throw new SnapshotException(
            file + " must have at least " + length + " bytes, got " + channel.size());
      }
      return channel.map(FileChannel.MapMode.READ_ONLY, 0, length);
    }
  }

  private static void write(FileChannel file, byte[] bytes, long position) throws IOException {
    ByteBuffer left = ByteBuffer.wrap(bytes);
    while (left.hasRemaining()) {
      file.write(left, position + left.position());
    }
  }

  private static List<Path> list(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return new ArrayList<>(files.toList());
    }
  }
}
