package io.firstseen.filters.snapshot;

import java.io.Closeable;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * A directory of snapshots. {@code blobs/} contains every blob, named by its digest; the manifests
 * are stored next to it, for example {@code manifest-0000000007.bin} for sequence 7. A published
 * directory also contains the newest manifest as {@code manifest.bin}, for clients that read the
 * directory over HTTP. Files are written atomically, so readers do not need a lock, and are durable
 * when the write method returns. Only one writer at a time is allowed, and it must write the blobs
 * of a manifest before the manifest.
 */
public final class SnapshotDirectory {
  private static final Pattern MANIFEST = Pattern.compile("manifest-([0-9]{10,19})\\.bin");

  /** The name of the copy of the newest manifest. */
  public static final String NEWEST_MANIFEST = "manifest.bin";

  private static final Pattern WRITER = Pattern.compile("writer-[0-9]{10,19}\\.bin");
  private static final Pattern TEMPORARY = Pattern.compile("\\..*\\.tmp");

  private final Path path;
  private final Path blobs;

  /** Creates an object for the directory at a path. The first write creates the directory. */
  public SnapshotDirectory(Path path) {
    this.path = path;
    this.blobs = path.resolve("blobs");
  }

  /** Returns the path of the directory. */
  public Path path() {
    return path;
  }

  /**
   * Stores a blob, or replaces it if it exists.
   *
   * @throws IllegalArgumentException if the bytes have a different digest
   * @throws SnapshotException if the file cannot be written
   */
  public void writeBlob(String digestHex, byte[] bytes) throws SnapshotException {
    Sha256.require("digest", digestHex);
    String digest = Sha256.hex(bytes);
    if (!digest.equals(digestHex)) {
      throw new IllegalArgumentException(
          "a blob must be written under its digest " + digest + ", got " + digestHex);
    }
    write(blobs, digestHex, bytes);
  }

  /**
   * Stores a manifest, or replaces the manifest with the same sequence. Its blobs must already be
   * stored.
   *
   * @throws SnapshotException if the file cannot be written
   */
  public void writeManifest(Manifest manifest) throws SnapshotException {
    writeManifest(manifest.sequence(), manifest.toBytes());
  }

  private void writeManifest(long sequence, byte[] bytes) throws SnapshotException {
    write(path, manifestFile(sequence).getFileName().toString(), bytes);
    if (Files.exists(path.resolve(NEWEST_MANIFEST))) {
      writeNewestManifest();
    }
  }

  /**
   * Stores a copy of the newest manifest under the name {@link #NEWEST_MANIFEST}, unless it exists.
   * From then on, {@link #writeManifest} updates the copy.
   *
   * @throws SnapshotException if the file cannot be written
   */
  public void writeNewestManifest() throws SnapshotException {
    List<Long> sequences = sequences();
    if (sequences.isEmpty()) {
      return;
    }
    byte[] newest = manifestBytes(sequences.get(sequences.size() - 1));
    if (!Arrays.equals(read(path.resolve(NEWEST_MANIFEST)).orElse(null), newest)) {
      write(path, NEWEST_MANIFEST, newest);
    }
  }

  /**
   * Stores the state of the writer of a manifest, which must be stored before the manifest.
   *
   * @throws SnapshotException if the file cannot be written
   */
  public void writeWriter(long sequence, byte[] state) throws SnapshotException {
    write(path, writerFile(sequence), state);
  }

  /**
   * Returns the state of the writer of a manifest; empty if there is none.
   *
   * @throws SnapshotException if the file cannot be read
   */
  public Optional<byte[]> writer(long sequence) throws SnapshotException {
    return read(path.resolve(writerFile(sequence)));
  }

  private static Optional<byte[]> read(Path file) throws SnapshotException {
    try {
      return Optional.of(Files.readAllBytes(file));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw SnapshotException.of("cannot read", file, e);
    }
  }

  private static String writerFile(long sequence) {
    return String.format(Locale.ROOT, "writer-%010d.bin", sequence);
  }

  /**
   * Stores the published bytes of a manifest unchanged, so that its signature stays valid.
   *
   * @throws SnapshotException if the bytes are not a manifest, or if the file cannot be written
   */
  public Manifest writeManifest(byte[] bytes) throws SnapshotException {
    Manifest manifest = Manifest.read(bytes);
    writeManifest(manifest.sequence(), bytes);
    return manifest;
  }

  /**
   * Removes all manifests and blobs, and nothing else. Does nothing if the directory is missing.
   *
   * @throws SnapshotException if a file cannot be removed
   */
  public void clear() throws SnapshotException {
    // Manifests first, so that no reader finds a manifest whose blobs were deleted.
    remove(path, file -> file.getFileName().toString().equals(NEWEST_MANIFEST));
    remove(path, file -> sequenceOf(file).findAny().isPresent());
    remove(blobs, file -> Sha256.isHex(file.getFileName().toString()));
  }

  private static int remove(Path directory, Predicate<Path> ours) throws SnapshotException {
    if (!Files.isDirectory(directory)) {
      return 0;
    }
    try (Stream<Path> files = Files.list(directory)) {
      List<Path> removed = files.filter(ours).toList();
      for (Path file : removed) {
        Files.delete(file);
      }
      return removed.size();
    } catch (IOException e) {
      throw SnapshotException.of("cannot remove files of", directory, e);
    }
  }

  /**
   * Returns the sequences of the manifests, ascending.
   *
   * @throws SnapshotException if the directory is missing or cannot be read
   */
  public List<Long> sequences() throws SnapshotException {
    if (!Files.isDirectory(path)) {
      throw new SnapshotException("there is no snapshot directory " + path);
    }
    try (Stream<Path> files = Files.list(path)) {
      return files.flatMapToLong(SnapshotDirectory::sequenceOf).sorted().boxed().toList();
    } catch (IOException e) {
      throw SnapshotException.of("cannot read", path, e);
    }
  }

  /**
   * Returns the manifest with the highest sequence.
   *
   * @throws SnapshotException if there is no manifest, or if it is not valid
   */
  public Manifest latest() throws SnapshotException {
    List<Long> sequences = sequences();
    if (sequences.isEmpty()) {
      throw new SnapshotException("there is no manifest in " + path);
    }
    return manifest(sequences.get(sequences.size() - 1));
  }

  /**
   * Returns the manifest of a sequence.
   *
   * @throws SnapshotException if there is no manifest of this sequence, or if it is not valid
   */
  public Manifest manifest(long sequence) throws SnapshotException {
    Path file = manifestFile(sequence);
    byte[] bytes = manifestBytes(sequence);
    Manifest manifest;
    try {
      manifest = Manifest.read(bytes);
    } catch (SnapshotException e) {
      throw e.at(file);
    }
    if (manifest.sequence() != sequence) {
      throw new MalformedSnapshotException(
          file + ": the sequence must match the file's name, got " + manifest.sequence());
    }
    return manifest;
  }

  /**
   * Returns the published bytes of a manifest, which its signature covers.
   *
   * @throws SnapshotException if there is no manifest of this sequence, or if it cannot be read
   */
  public byte[] manifestBytes(long sequence) throws SnapshotException {
    Optional<byte[]> bytes = read(manifestFile(sequence));
    if (bytes.isEmpty()) {
      throw new SnapshotException(noManifest(sequence));
    }
    return bytes.get();
  }

  /**
   * Locks the directory against other writers until the lock is closed or the process ends. A file
   * {@code .lock} remains.
   *
   * @throws SnapshotException if another writer holds the lock, or if it cannot be acquired
   */
  public Closeable lock() throws SnapshotException {
    Path file = path.resolve(".lock");
    Closeable lock;
    try {
      SyncedFiles.createDirectories(path);
      lock = ProcessLock.tryLock(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw SnapshotException.of("cannot lock", file, e);
    }
    if (lock == null) {
      throw new SnapshotException("another job writes snapshots into " + path);
    }
    return lock;
  }

  /**
   * Removes all manifests except the newest, and all blobs that neither the remaining manifests nor
   * the {@link #writer} of the newest manifest need. The caller must hold the {@link #lock}.
   *
   * @param count how many manifests remain, at least 1
   * @return how many manifests and how many blobs were removed
   * @throws SnapshotException if a manifest or the writer cannot be read, or if a file cannot be
   *     removed
   */
  public Pruned keepNewest(int count) throws IOException {
    if (count < 1) {
      throw new IllegalArgumentException("count must be at least 1, got " + count);
    }
    List<Long> sequences = sequences();
    Optional<byte[]> writer =
        sequences.isEmpty() ? Optional.empty() : writer(sequences.get(sequences.size() - 1));
    return keepNewest(count, writer.isEmpty() ? Set.of() : digests(inUse(writer.get())));
  }

  private Set<BlobReference> inUse(byte[] writer) throws IOException {
    Manifest manifest = latest();
    SnapshotSet set = CatchUp.to(manifest, List.of(), blob -> blob(manifest, blob)).set();
    return SetWriter.of(writer, set).inUse();
  }

  private static Set<String> digests(Collection<BlobReference> blobs) {
    return blobs.stream().map(BlobReference::digest).collect(Collectors.toSet());
  }

  /**
   * Removes the manifests that were replaced before an instant, all blobs that neither a remaining
   * manifest nor the next manifest needs, the writer's state of other manifests than the newest,
   * and what a killed writer left. The caller must hold the {@link #lock}.
   *
   * @param replacedBeforeMillis the publication time of their successors, which all manifests that
   *     are removed have
   * @param inUse blobs that the next manifest may need
   * @return how many manifests and how many blobs were removed
   * @throws SnapshotException if a manifest cannot be read or a file cannot be removed
   */
  public Pruned prune(long replacedBeforeMillis, Collection<BlobReference> inUse)
      throws IOException {
    List<Long> sequences = sequences();
    int kept = 1;
    while (kept < sequences.size()
        && manifest(sequences.get(sequences.size() - kept)).publishedMillis()
            > replacedBeforeMillis) {
      kept++;
    }
    Pruned pruned = keepNewest(kept, digests(inUse));
    String newest = sequences.isEmpty() ? "" : writerFile(sequences.get(sequences.size() - 1));
    remove(
        path,
        file -> {
          String name = file.getFileName().toString();
          return TEMPORARY.matcher(name).matches()
              || (WRITER.matcher(name).matches() && !name.equals(newest));
        });
    remove(blobs, file -> TEMPORARY.matcher(file.getFileName().toString()).matches());
    return pruned;
  }

  private Pruned keepNewest(int count, Set<String> inUse) throws IOException {
    List<Long> sequences = sequences();
    long oldest = sequences.size() <= count ? 0 : sequences.get(sequences.size() - count);
    Set<String> named = new HashSet<>(inUse);
    for (long sequence :
        sequences.subList(Math.max(0, sequences.size() - count), sequences.size())) {
      Manifest manifest = manifest(sequence);
      named.addAll(new ManifestBlobs(manifest, blob -> blob(manifest, blob)).named().keySet());
    }
    // Manifests first, so that no reader finds a manifest whose blobs were deleted.
    int manifests = remove(path, file -> sequenceOf(file).anyMatch(each -> each < oldest));
    return new Pruned(
        manifests,
        remove(
            blobs,
            file -> {
              String name = file.getFileName().toString();
              return Sha256.isHex(name) && !named.contains(name);
            }));
  }

  /**
   * The number of removed files.
   *
   * @param manifests how many manifests
   * @param blobs how many blobs
   */
  public record Pruned(int manifests, int blobs) {}

  /**
   * Returns the bytes of a blob, mapped into memory. Can be used as a {@link BlobLoader}.
   *
   * @throws MissingBlobsException if the directory does not contain the blob
   * @throws SnapshotException if it cannot be read
   */
  public ByteBuffer blob(BlobReference blob) throws SnapshotException {
    return map(blobs.resolve(blob.digest()), blob);
  }

  /**
   * Returns the bytes of a blob that a manifest names, mapped into memory. If this directory does
   * not contain the blob, it is read from the directory of blobs that the manifest names.
   *
   * @throws MissingBlobsException if neither directory contains the blob
   * @throws SnapshotException if it cannot be read
   */
  public ByteBuffer blob(Manifest manifest, BlobReference blob) throws SnapshotException {
    return map(file(manifest, blob.digest()), blob);
  }

  /**
   * Returns the bytes of a blob, like {@link #blob(Manifest, BlobReference)}; empty if the blob
   * does not exist.
   *
   * @param digest the digest of the blob, which the caller must check
   * @throws SnapshotException if it cannot be read
   */
  public Optional<ByteBuffer> find(Manifest manifest, String digest) throws SnapshotException {
    Path file = file(manifest, Sha256.require("digest", digest));
    return Files.exists(file) ? Optional.of(Snapshot.map(file)) : Optional.empty();
  }

  private Path file(Manifest manifest, String digest) throws SnapshotException {
    Path here = blobs.resolve(digest);
    if (manifest.blobs() == null || Files.exists(here)) {
      return here;
    }
    URI uri = manifest.blobUri(digest);
    if (!"file".equals(uri.getScheme())) {
      throw new OutOfReachException(
          "the blob %s is not in %s, and its manifest names %s, but only file: can be read"
              .formatted(digest, path, manifest.blobs()));
    }
    try {
      return Path.of(uri.getPath());
    } catch (InvalidPathException e) {
      throw new MalformedSnapshotException(
          "the manifest names the directory "
              + manifest.blobs()
              + ", which is not a path on this system",
          e);
    }
  }

  private static ByteBuffer map(Path file, BlobReference blob) throws SnapshotException {
    if (!Files.exists(file)) {
      throw new MissingBlobsException(List.of(blob));
    }
    return Snapshot.map(file);
  }

  private String noManifest(long sequence) throws SnapshotException {
    List<Long> sequences = sequences();
    String others =
        sequences.isEmpty()
            ? ", nor any other"
            : "; there are %d, from %d to %d"
                .formatted(sequences.size(), sequences.get(0), sequences.get(sequences.size() - 1));
    return "there is no manifest of sequence " + sequence + " in " + path + others;
  }

  /** Returns the path of the manifest of a sequence, whether or not it exists. */
  public Path manifestFile(long sequence) {
    return path.resolve(fileName(sequence));
  }

  private static String fileName(long sequence) {
    // The default locale could use different digits.
    return String.format(Locale.ROOT, "manifest-%010d.bin", sequence);
  }

  private static LongStream sequenceOf(Path file) {
    Path name = file.getFileName();
    Matcher matcher = MANIFEST.matcher(name.toString());
    if (!matcher.matches()) {
      return LongStream.empty();
    }
    long sequence;
    try {
      sequence = Long.parseLong(matcher.group(1));
    } catch (NumberFormatException e) {
      return LongStream.empty();
    }
    return fileName(sequence).equals(name.toString())
        ? LongStream.of(sequence)
        : LongStream.empty();
  }

  private static void write(Path directory, String name, byte[] bytes) throws SnapshotException {
    Path file = directory.resolve(name);
    Path temporary = directory.resolve("." + name + ".tmp");
    try {
      SyncedFiles.createDirectories(directory);
      SyncedFiles.write(temporary, ByteBuffer.wrap(bytes));
      SyncedFiles.move(temporary, file);
    } catch (IOException e) {
      SyncedFiles.delete(temporary, e);
      throw SnapshotException.of("cannot write", file, e);
    }
  }
}
