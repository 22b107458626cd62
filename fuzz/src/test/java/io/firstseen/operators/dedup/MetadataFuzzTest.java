package io.firstseen.operators.dedup;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Savepoint metadata, which Flink's code reads, is rejected with an {@link IOException} if it
 * cannot be read. Flink's code does not limit memory and time.
 */
class MetadataFuzzTest {
  /** Flink checks that the file exists, because the state's files are named relative to it. */
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
