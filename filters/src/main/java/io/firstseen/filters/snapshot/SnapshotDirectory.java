package io.firstseen.filters.snapshot;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * A directory of snapshots: {@code blobs/} holds every blob under its digest, beside it stand the
 * manifests, {@code manifest-0000000007.json} for sequence 7. A file appears whole or not at all,
 * so that readers may come at any time; writers come one at a time, and write the blobs of a
 * manifest before it.
 */
public final class SnapshotDirectory {
  private static final Pattern MANIFEST = Pattern.compile("manifest-([0-9]{10,19})\\.json");

  private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");

  private final Path path;
  private final Path blobs;

  /** The directory at a path, which need not exist until something is written. */
  public SnapshotDirectory(Path path) {
    this.path = path;
    this.blobs = path.resolve("blobs");
  }

  /** The path of the directory. */
  public Path path() {
    return path;
  }

  /**
   * Stores a blob; one that is there already is replaced.
   *
   * @throws IllegalArgumentException if the bytes have another digest
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
   * Stores a manifest, whose blobs must be stored already; one of the same sequence is replaced.
   *
   * @throws SnapshotException if the file cannot be written
   */
  public void writeManifest(Manifest manifest) throws SnapshotException {
    write(path, fileName(manifest.sequence()), manifest.toJson());
  }

  /**
   * Stores a manifest as the bytes that were published, so that a signature over them holds.
   *
   * @throws SnapshotException if this is no manifest, or if the file cannot be written
   */
  public Manifest writeManifest(byte[] json) throws SnapshotException {
    Manifest manifest = Manifest.fromJson(json);
    write(path, fileName(manifest.sequence()), json);
    return manifest;
  }

  /**
   * Removes all manifests and blobs, and nothing else; a directory that is missing stays missing.
   *
   * @throws SnapshotException if a file cannot be removed
   */
  public void clear() throws SnapshotException {
    // Manifests first, so that no reader meets one whose blobs are gone.
    remove(path, file -> sequenceOf(file).findAny().isPresent());
    remove(blobs, file -> DIGEST.matcher(file.getFileName().toString()).matches());
  }

  private static void remove(Path directory, Predicate<Path> ours) throws SnapshotException {
    if (!Files.isDirectory(directory)) {
      return;
    }
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.filter(ours).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw SnapshotException.of("cannot clear", directory, e);
    }
  }

  /**
   * The sequences of the manifests, ascending.
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
   * The manifest of the highest sequence.
   *
   * @throws SnapshotException if there is none, or if it cannot be used
   */
  public Manifest latest() throws SnapshotException {
    List<Long> sequences = sequences();
    if (sequences.isEmpty()) {
      throw new SnapshotException("there is no manifest in " + path);
    }
    return manifest(sequences.get(sequences.size() - 1));
  }

  /**
   * The manifest of a sequence.
   *
   * @throws SnapshotException if there is none, or if it cannot be used
   */
  public Manifest manifest(long sequence) throws SnapshotException {
    Path file = path.resolve(fileName(sequence));
    byte[] json;
    try {
      json = Files.readAllBytes(file);
    } catch (NoSuchFileException e) {
      throw new SnapshotException(noManifest(sequence), e);
    } catch (IOException e) {
      throw SnapshotException.of("cannot read", file, e);
    }
    Manifest manifest;
    try {
      manifest = Manifest.fromJson(json);
    } catch (SnapshotException e) {
      throw e.at(file);
    }
    if (manifest.sequence() != sequence) {
      throw new MalformedSnapshotException(
          file + ": the sequence must be that of the file's name, got " + manifest.sequence());
    }
    return manifest;
  }

  /**
   * The bytes of a blob, mapped into memory; a {@link BlobLoader}.
   *
   * @throws SnapshotException if there is none, or if it cannot be read
   */
  public ByteBuffer blob(BlobReference blob) throws SnapshotException {
    return Snapshot.map(blobs.resolve(blob.digest()));
  }

  private String noManifest(long sequence) throws SnapshotException {
    List<Long> sequences = sequences();
    return "there is no manifest of sequence "
        + sequence
        + " in "
        + path
        + (sequences.isEmpty()
            ? ", nor any other"
            : "; there are "
                + sequences.size()
                + ", from "
                + sequences.get(0)
                + " to "
                + sequences.get(sequences.size() - 1));
  }

  private static String fileName(long sequence) {
    // Without a locale, digits would be those of the machine's language.
    return String.format(Locale.ROOT, "manifest-%010d.json", sequence);
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
      Files.createDirectories(directory);
      try (FileChannel channel =
          FileChannel.open(
              temporary,
              StandardOpenOption.CREATE,
              StandardOpenOption.TRUNCATE_EXISTING,
              StandardOpenOption.WRITE)) {
        ByteBuffer left = ByteBuffer.wrap(bytes);
        while (left.hasRemaining()) {
          channel.write(left);
        }
        // Otherwise a power cut after the move could leave an empty file under the final name.
        channel.force(true);
      }
      Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      delete(temporary, e);
      throw SnapshotException.of("cannot write", file, e);
    }
  }

  private static void delete(Path temporary, IOException failure) {
    try {
      Files.deleteIfExists(temporary);
    } catch (IOException e) {
      failure.addSuppressed(e);
    }
  }
}
