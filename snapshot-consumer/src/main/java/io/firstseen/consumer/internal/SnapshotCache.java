package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.ProcessLock;
import io.firstseen.filters.snapshot.Sha256;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.SnapshotTopicFormat.ChunkKey;
import io.firstseen.filters.snapshot.SyncedFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The snapshots of a set in files, which are mapped into memory, and the state from which the next
 * start of the process continues.
 *
 * <pre>
 * lock              held by the process that writes here
 * incoming/DIGEST   a blob of which some chunks have arrived
 * blobs/DIGEST      a verified snapshot
 * current           the last active snapshot, see {@link CachedState}
 * </pre>
 *
 * <p>Files under {@code blobs} and {@code current} are written atomically, and {@code current}
 * after the files that it names. Whenever a process ends, the cache is therefore in a consistent
 * state. Digests are checked when the cache is read again; files that do not match are ignored.
 *
 * <p>A full disk does not cause a failure: data that cannot be written stays in memory, and {@link
 * #takeTrouble} reports this once. A process without the lock only reads, and tries to acquire the
 * lock again with each snapshot. Files in use may be removed; a mapping stays valid until it is
 * garbage-collected. Symbolic links in the cache are not followed when it is written.
 */
public final class SnapshotCache implements AutoCloseable {
  private static final Set<PosixFilePermission> OF_OTHERS =
      EnumSet.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);

  private final Path directory;
  private final Path incoming;
  private final Path blobs;
  private final Path current;
  private static final Logger LOG = LoggerFactory.getLogger(SnapshotCache.class);

  private final IdentityHashMap<Snapshot, String> files = new IdentityHashMap<>();
  private @Nullable ProcessLock lock;
  private boolean isMade;
  private boolean isWritable;
  private boolean isClosed;
  // The digests that the state for the next start names.
  private Set<String> committed = Set.of();
  private String trouble;
  private boolean isTroubleKnown;
  private boolean isOpenReported;

  private SnapshotCache(Path directory) {
    this.directory = directory;
    this.incoming = directory.resolve("incoming");
    this.blobs = directory.resolve("blobs");
    this.current = directory.resolve("current");
  }

  /**
   * Opens the cache of a set, or creates it if it does not exist.
   *
   * @param directory holds the caches of all sets of one topic
   */
  public static SnapshotCache open(Path directory, String setName) {
    // Set names are valid file names, except names of dots alone.
    SnapshotCache cache = new SnapshotCache(directory.resolve(setName + ".snapshots"));
    cache.start();
    return cache;
  }

  private void start() {
    try {
      lock();
      if (!isWritable) {
        trouble = "cache %s is in use by another client, so nothing is kept".formatted(directory);
      }
    } catch (IOException e) {
      fail(e);
    }
  }

  /** Creates the directories, and acquires the lock if it is free. */
  private void lock() throws IOException {
    if (!isMade) {
      createDirectory(directory);
      createDirectory(incoming);
      createDirectory(blobs);
      isMade = true;
    }
    lock =
        ProcessLock.tryLock(
            directory.resolve("lock"),
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            LinkOption.NOFOLLOW_LINKS);
    isWritable = lock != null;
    if (isWritable) {
      for (Path file : list(incoming)) {
        Files.delete(file);
      }
      Files.deleteIfExists(directory.resolve("snapshot.tmp"));
      Files.deleteIfExists(directory.resolve("current.tmp"));
    }
  }

  /**
   * Acquires the lock if this was not possible before but is possible now: another client, such as
   * a closed client of this process, has released it, or the disk has space again.
   */
  private void lockIfPossible() {
    if (isWritable || isClosed) {
      return;
    }
    try {
      lock();
      if (isWritable) {
        // Another client has removed files that it did not need, and may have stored a different
        // state.
        files.values().removeIf(digest -> !Files.exists(blobs.resolve(digest)));
        load();
      }
    } catch (SnapshotException e) {
      LOG.debug("what is in the cache cannot be used", e);
    } catch (IOException e) {
      fail(e);
    }
  }

  /**
   * Creates a directory if it does not exist. Rejects a symbolic link, because files would be
   * written and removed at its target. Reports a problem if other users may write to the directory.
   */
  private void createDirectory(Path path) throws IOException {
    boolean isNew = !Files.exists(path, LinkOption.NOFOLLOW_LINKS);
    if (isNew) {
      SyncedFiles.createDirectories(path);
    }
    if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      throw new FileSystemException(
          path.toString(), null, "it must be a directory and not a symbolic link");
    }
    PosixFileAttributeView view =
        Files.getFileAttributeView(path, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
    if (view != null) {
      Set<PosixFilePermission> rights = view.readAttributes().permissions();
      boolean isOpen = rights.removeAll(OF_OTHERS);
      if (isOpen && isNew) {
        view.setPermissions(rights);
      } else if (isOpen && !isOpenReported) {
        isOpenReported = true;
        trouble =
            "others may write to cache %s, and so choose what it answers: chmod go-w %s"
                .formatted(directory, path);
      }
    }
  }

  /** Returns the problem since the last call; each kind is reported once. */
  public Optional<String> takeTrouble() {
    Optional<String> taken = Optional.ofNullable(trouble);
    trouble = null;
    return taken;
  }

  /**
   * Returns the last stored state; empty if there is none.
   *
   * @throws SnapshotException if it is damaged
   */
  public Optional<CachedState> load() throws SnapshotException {
    if (!Files.exists(current)) {
      return Optional.empty();
    }
    try {
      CachedState state = CachedState.read(Files.readAllBytes(current));
      committed = Set.copyOf(state.digests());
      return Optional.of(state);
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  /**
   * Maps a kept snapshot and checks its digest. The bytes are not decoded, because the snapshot was
   * verified before it was stored.
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
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  private SnapshotException unusable(IOException e) {
    return new SnapshotException(
        "cache %s cannot be used: %s".formatted(directory, sentence(e)), e);
  }

  /** Writes a chunk at its position in its blob. Returns whether this succeeded. */
  boolean writeChunk(ChunkKey key, byte[] bytes) {
    if (!isWritable) {
      return false;
    }
    try (FileChannel file =
        FileChannel.open(
            incoming.resolve(key.digest()),
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            LinkOption.NOFOLLOW_LINKS)) {
      file.position((long) key.index() * SnapshotTopicFormat.MAX_CHUNK_BYTES);
      SyncedFiles.writeAll(file, ByteBuffer.wrap(bytes));
      isTroubleKnown = false;
      return true;
    } catch (IOException e) {
      fail(e);
      return false;
    }
  }

  /** Returns the blob of the given length whose chunks were written. */
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
   * Writes a verified snapshot to its file and returns it mapped from there; returns the given
   * snapshot if it is already mapped or the file cannot be written.
   */
  Snapshot keep(Snapshot snapshot) throws SnapshotException {
    lockIfPossible();
    if (!isWritable || files.containsKey(snapshot)) {
      return snapshot;
    }
    ByteBuffer bytes = snapshot.asByteBuffer();
    String digest = Sha256.hex(bytes);
    Path temporary = directory.resolve("snapshot.tmp");
    Path file = blobs.resolve(digest);
    try {
      SyncedFiles.write(temporary, bytes);
      Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
      Snapshot kept = Snapshot.read(map(file, bytes.remaining()));
      files.put(kept, digest);
      isTroubleKnown = false;
      return kept;
    } catch (IOException e) {
      fail(e);
      SyncedFiles.delete(temporary, e);
      return snapshot;
    }
  }

  /** Returns the digest of a snapshot that is mapped from its file; null for any other. */
  @Nullable String digest(Snapshot snapshot) {
    return files.get(snapshot);
  }

  /**
   * Stores the state for the next start, and removes the files of all other snapshots.
   *
   * @param inUse the snapshots that this process may activate without reading them again
   */
  public void commit(CachedState state, List<Snapshot> inUse) {
    if (!isWritable) {
      return;
    }
    Path temporary = directory.resolve("current.tmp");
    try {
      SyncedFiles.write(temporary, ByteBuffer.wrap(state.toBytes()));
      SyncedFiles.syncDirectory(blobs);
      SyncedFiles.move(temporary, current);
      committed = Set.copyOf(state.digests());
      removeOthers(inUse, Set.of());
      isTroubleKnown = false;
    } catch (IOException e) {
      fail(e);
      SyncedFiles.delete(temporary, e);
      removeUnused(inUse);
    }
  }

  /**
   * Removes the files of snapshots that neither the next start nor this process needs, because the
   * active snapshot could not be written completely: its remaining files may take the space of the
   * next snapshot.
   */
  public void removeUnused(List<Snapshot> inUse) {
    if (isWritable) {
      try {
        removeOthers(inUse, committed);
      } catch (IOException e) {
        fail(e);
      }
    }
  }

  private void removeOthers(List<Snapshot> inUse, Set<String> stay) throws IOException {
    Set<String> named = new HashSet<>(stay);
    inUse.stream().map(files::get).filter(digest -> digest != null).forEach(named::add);
    for (Path file : list(blobs)) {
      if (!named.contains(file.getFileName().toString())) {
        Files.delete(file);
      }
    }
    files.values().retainAll(named);
  }

  /** Releases the lock for other processes. Mapped snapshots stay usable. */
  @Override
  public void close() {
    isWritable = false;
    isClosed = true;
    try {
      if (lock != null) {
        lock.close();
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

  private static List<Path> list(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.toList();
    }
  }
}
