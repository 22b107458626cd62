package io.firstseen.operators.dedup;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The metadata of a savepoint, which Flink's code reads: what cannot be read is an {@link
 * IOException}. Flink's code has no bounds on memory and time.
 */
class MetadataFuzzTest {
  /** Flink looks for it, as files of the state are named relative to it. */
  private static final String DIRECTORY = directory();

  private static String directory() {
    try {
      Path directory = Files.createTempDirectory("metadata");
      Files.createFile(directory.resolve("_metadata"));
      return directory.toUri().toString();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @FuzzTest
  void metadata(byte[] input) {
    try {
      DedupSavepoint.readMetadata(new DataInputStream(new ByteArrayInputStream(input)), DIRECTORY);
    } catch (IOException e) {
      // Refused.
    }
  }
}
