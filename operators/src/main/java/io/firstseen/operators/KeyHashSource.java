package io.firstseen.operators;

import io.firstseen.filters.key.KeyHash;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The source from which the tasks of a job get its keyed hash: the job itself, or a hash key that
 * they read on their TaskManagers. In the second case the job contains only the algorithm, the
 * check value of the key and the reader, so that none of Flink's files contains the key.
 */
public final class KeyHashSource implements Serializable {
  private static final long serialVersionUID = 1;

  /**
   * Reads a hash when a task starts. The reader is serialised with the job and must not contain the
   * key. Messages use its {@code toString} as the location of the key.
   */
  @FunctionalInterface
  public interface Reader extends Serializable {
    /**
     * Reads the hash.
     *
     * @throws IOException if it cannot be read
     * @throws IllegalArgumentException if the location does not contain a hash key
     */
    KeyHash read() throws IOException;
  }

  private final KeyHash.Algorithm algorithm;
  private final long keyCheck;
  private final @Nullable KeyHash hash;
  private final @Nullable Reader reader;

  private KeyHashSource(KeyHash expected, @Nullable KeyHash hash, @Nullable Reader reader) {
    this.algorithm = expected.algorithm();
    this.keyCheck = expected.keyCheck();
    this.hash = hash;
    this.reader = reader;
  }

  /** Sends the hash with the job. All of Flink's files of the job then contain its key. */
  public static KeyHashSource inJob(KeyHash hash) {
    return new KeyHashSource(Objects.requireNonNull(hash, "hash"), hash, null);
  }

  /**
   * Makes every task read the hash when it starts. If a task reads a different hash or no hash, the
   * job fails without a restart.
   *
   * @param expected the hash that every task must read; only its algorithm and key check are kept
   */
  public static KeyHashSource onWorkers(KeyHash expected, Reader reader) {
    return new KeyHashSource(expected, null, Objects.requireNonNull(reader, "reader"));
  }

  /**
   * Makes every task read the key from a file, as {@link KeyHash#fromFile} does. The file must
   * exist with the same key on every TaskManager, and on this machine, where the job computes the
   * check value.
   *
   * @param file a relative path is resolved on this machine
   * @throws IOException if the file cannot be read on this machine
   * @throws IllegalArgumentException if the file on this machine does not contain a hash key
   */
  public static KeyHashSource onWorkers(Path file) throws IOException {
    FileReader reader = new FileReader(file.toAbsolutePath().toString());
    return onWorkers(reader.read(), reader);
  }

  private record FileReader(String file) implements Reader {
    @Override
    public KeyHash read() throws IOException {
      return KeyHash.fromFile(requireNoDirectory(Path.of(file)));
    }

    @Override
    public String toString() {
      return file;
    }
  }

  /**
   * Returns the file.
   *
   * @throws IllegalArgumentException if it is a directory, which a container engine creates if a
   *     file to mount is missing
   */
  public static Path requireNoDirectory(Path file) {
    if (Files.isDirectory(file)) {
      throw new IllegalArgumentException("it is a directory");
    }
    return file;
  }

  /** Returns the hash function. */
  public KeyHash.Algorithm algorithm() {
    return algorithm;
  }

  /** Returns {@link KeyHash#keyCheck} of the hash. */
  public long keyCheck() {
    return keyCheck;
  }

  /**
   * Returns the hash for a starting task.
   *
   * @throws UserErrorException if this TaskManager has no hash key, or a different key from the job
   * @throws UncheckedIOException if the hash key cannot be read now
   */
  public KeyHash open() {
    if (reader == null) {
      return Objects.requireNonNull(hash);
    }
    KeyHash read;
    try {
      read = reader.read();
    } catch (NoSuchFileException | AccessDeniedException | IllegalArgumentException e) {
      throw new UserErrorException(
          "cannot read the hash key at %s on this TaskManager: %s: put the job's key there"
              .formatted(reader, reason(e)));
    } catch (IOException e) {
      // The failure may be temporary: the job restarts.
      throw new UncheckedIOException("cannot read the hash key at " + reader, e);
    }
    if (read.algorithm() != algorithm || read.keyCheck() != keyCheck) {
      throw new UserErrorException(
          "the hash key at %s on this TaskManager has key check %s%s, but the job's hash key has %s: put the job's key there"
              .formatted(
                  reader,
                  HexFormat.of().toHexDigits(read.keyCheck()),
                  read.isFixedKey() ? " (it is the public one)" : "",
                  HexFormat.of().toHexDigits(keyCheck)));
    }
    return read;
  }

  private static String reason(Exception e) {
    if (e instanceof NoSuchFileException) {
      return "there is no such file";
    }
    return e instanceof AccessDeniedException ? "permission denied" : e.getMessage();
  }
}
