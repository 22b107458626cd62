package io.firstseen.cli.savepoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.cli.CommandProcess;
import io.firstseen.cli.Invocation;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** {@code firstseen bootstrap} and the commands that use its savepoint, as a shell sees them. */
class BootstrapProcessTest {
  private static final Path SAMPLE = Path.of("..", "examples", "phishing-domains-small.tsv.gz");

  @TempDir private Path directory;
  private Path results;
  private String keyFile;

  @BeforeEach
  void makeDirectories() throws IOException {
    results = Files.createDirectory(directory.resolve("results"));
    keyFile =
        "--hash-key-file="
            + Files.writeString(
                Files.createTempFile(directory, "hash", ".key"),
                "000102030405060708090a0b0c0d0e0f");
  }

  private CommandProcess start(String... words) throws IOException {
    return CommandProcess.start(Files.createTempDirectory(directory, "work"), words);
  }

  private Invocation end(String... words) throws Exception {
    try (CommandProcess process = start(words)) {
      Invocation ended = process.end();
      assertThat(ended.err()).isEmpty();
      assertThat(ended.status()).isZero();
      assertThat(process.temporaryFiles()).isEmpty();
      return ended;
    }
  }

  @Tag("slow")
  @Test
  void bootstrapAndInfoSayNothingButTheirResultsAndLeaveNothingElse() throws Exception {
    String savepoint = results.resolve("S").toString();
    Invocation made =
        end(
            "bootstrap",
            "--input=" + SAMPLE,
            "--format=tsv",
            "--savepoint=" + savepoint,
            "--capacity=50000",
            "--fpr=0.0001",
            keyFile);
    assertThat(made.out()).contains("events              24,828", "dead letters        0");
    String keys = made.out().get(3);
    assertThat(keys).startsWith("keys                ");

    Invocation info = end("savepoint", "info", savepoint);
    assertThat(info.out()).contains(keys);

    // A live key is a repeat now; a key that was deleted at the end is accepted once more.
    Invocation again =
        Invocation.of(
            "run",
            "--input=" + SAMPLE,
            "--format=tsv",
            "--accepted=" + results.resolve("A"),
            "--from-savepoint=" + savepoint,
            keyFile);
    assertThat(again.out()).contains("events              24,828");
    assertThat(Invocation.names(results)).containsExactly("A", "S");
  }

  @Test
  void standardInputIsRead() {
    Invocation ended =
        Invocation.withInput(
            "a\nb\na\n", "bootstrap", "--input=-", "--savepoint=" + results.resolve("S"), keyFile);
    assertThat(ended.err()).isEmpty();
    assertThat(ended.out()).contains("events              3", "keys                2");
  }

  /** Whether files of hashes are in some process's temporary directory. */
  private boolean keysAreRead() throws IOException {
    try (Stream<Path> files = Files.walk(directory, 5)) {
      return files.anyMatch(file -> file.getFileName().toString().startsWith("keys-"));
    }
  }

  @Tag("slow")
  @Test
  @DisabledOnOs(OS.WINDOWS)
  void anInterruptedBootstrapLeavesNothing() throws Exception {
    byte[] key = "key\n".repeat(1_000).getBytes(UTF_8);
    try (CommandProcess process =
        start("bootstrap", "--input=-", "--savepoint=" + results.resolve("S"), keyFile)) {
      // It waits for more of them.
      OutputStream input = process.standardInput();
      while (!keysAreRead()) {
        input.write(key);
        input.flush();
      }
      assertThat(Invocation.names(results)).containsExactly("S.1.partial");
      process.interrupt();
      Invocation ended = process.end();
      assertThat(ended.status()).isEqualTo(130);
      assertThat(ended.out()).isEmpty();
      assertThat(ended.err()).isEmpty();
      assertThat(process.temporaryFiles()).isEmpty();
    }
    assertThat(Invocation.names(results)).isEmpty();
  }
}
