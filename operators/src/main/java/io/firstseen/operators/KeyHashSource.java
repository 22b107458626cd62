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
 * Where the tasks of a job get its keyed hash: with the job, or by reading its key on their
 * TaskManagers. In the second case the job holds only the algorithm, the check value of the key and
 * the reader, so that the key is in none of Flink's files.
 */
public final class KeyHashSource implements Serializable {
  private static final long serialVersionUID = 1;

  /**
   * Reads a hash where a task starts. It is serialised with the job, and must not hold the key. Its
   * {@code toString} names the place of the key in messages.
   */
  @FunctionalInterface
  public interface Reader extends Serializable {
    /**
     * Reads the hash.
     *
     * @throws IOException if it cannot be read
     * @throws IllegalArgumentException if what is there is not a hash key
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

  /** The hash goes with the job, and its key with it: into each of Flink's files of the job. */
  public static KeyHashSource inJob(KeyHash hash) {
    return new KeyHashSource(Objects.requireNonNull(hash, "hash"), hash, null);
  }

  /**
   * Every task reads the hash at its start. A job whose task reads another hash, or none, fails
   * without a restart.
   *
   * @param expected the hash that every task must read; only its algorithm and key check are kept
   */
  public static KeyHashSource onWorkers(KeyHash expected, Reader reader) {
    return new KeyHashSource(expected, null, Objects.requireNonNull(reader, "reader"));
  }

  /**
   * Every task reads the key from a file, as {@link KeyHash#fromFile} does. It must be there with
   * the same key on every TaskManager, and here, where the job gets its check value.
   *
   * @param file if it is relative, it is made absolute here
   * @throws IOException if the file cannot be read here
   * @throws IllegalArgumentException if it holds no hash key here
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
   * @throws IllegalArgumentException if it is a directory, as a container engine makes where a file
   *     that it should mount is missing
   */
  public static Path requireNoDirectory(Path file) {
    if (Files.isDirectory(file)) {
      throw new IllegalArgumentException("it is a directory");
    }
    return file;
  }

  /** The hash function. */
  public KeyHash.Algorithm algorithm() {
    return algorithm;
  }

  /** {@link KeyHash#keyCheck} of the hash. */
  public long keyCheck() {
    return keyCheck;
  }

  /**
   * The hash, for a task that starts.
   *
   * @throws UserErrorException if there is none here, or not that of the job
   * @throws UncheckedIOException if it cannot be read now
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
      // It may pass: the job restarts.
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
