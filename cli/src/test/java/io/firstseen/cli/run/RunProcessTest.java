package io.firstseen.cli.run;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.firstseen.cli.CommandProcess;
import io.firstseen.cli.Invocation;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.SnapshotSet;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code firstseen run} as a shell sees it. */
class RunProcessTest {
  private static final Path SAMPLE = Path.of("..", "examples", "phishing-domains-small.tsv.gz");

  @TempDir private Path directory;
  private Path work;
  private Path results;

  @BeforeEach
  void makeDirectories() throws IOException {
    work = Files.createDirectory(directory.resolve("work"));
    results = Files.createDirectory(directory.resolve("results"));
  }

  private CommandProcess start(Path input, String... words) throws IOException {
    Path key = Files.createTempFile(directory, "hash", ".key");
    Files.writeString(key, "000102030405060708090a0b0c0d0e0f");
    String[] first = {
      "run", "--input=" + input, "--accepted=" + results.resolve("A"), "--hash-key-file=" + key
    };
    return CommandProcess.start(
        work, Stream.of(first, words).flatMap(Arrays::stream).toArray(String[]::new));
  }

  @Tag("slow")
  @Test
  void aRunSaysNothingButItsSummaryAndLeavesNothingButItsResults() throws Exception {
    String[] words = {
      "--format=tsv",
      "--state-backend=rocksdb",
      "--window=30d",
      "--duplicates=" + results.resolve("D"),
      "--snapshots=" + results.resolve("S")
    };
    try (CommandProcess run = start(SAMPLE, words)) {
      Invocation ended = run.end();
      assertThat(ended.err()).isEmpty();
      assertThat(ended.status()).isZero();
      assertThat(ended.out()).startsWith("events              24,828").hasSize(9);
      assertThat(run.temporaryFiles()).isEmpty();
    }
    assertThat(Invocation.names(results)).containsExactly("A", "D", "S");
  }

  @Tag("slow")
  @Test
  void tasksReadTheHashKeyFromTheirEnvironment() throws Exception {
    String key = "000102030405060708090a0b0c0d0e0f";
    Path keys = Files.writeString(directory.resolve("keys"), "a\nb\na\n");
    try (CommandProcess run =
        CommandProcess.startWithHashKey(
            key,
            work,
            "run",
            "--hash-key-on-workers",
            "--input=" + keys,
            "--accepted=" + results.resolve("A"),
            "--snapshots=" + results.resolve("S"))) {
      Invocation ended = run.end();
      assertThat(ended.err()).isEmpty();
      assertThat(ended.status()).isZero();
    }
    SnapshotSet set = SnapshotSet.openDirectory(results.resolve("S"), OptionalLong.empty());
    assertThat(set.manifest().count()).isEqualTo(2);
    assertThat(set.mightContainKey("b".getBytes(UTF_8), KeyHash.parse(key))).isTrue();
  }

  @Test
  void acceptedKeysGoToStandardOutputAndTheSummaryToStandardError() throws Exception {
    Path keys = Files.writeString(directory.resolve("keys"), "a\nb\na\n");
    try (CommandProcess run =
        CommandProcess.startWithHashKey(
            "000102030405060708090a0b0c0d0e0f", work, "run", "--input=" + keys, "--accepted=-")) {
      Invocation ended = run.end();
      assertThat(ended.out()).containsExactly("a", "b");
      assertThat(ended.err()).element(0).asString().startsWith("events ");
      assertThat(ended.status()).isZero();
    }
    assertThat(Files.exists(work.resolve("-"))).isFalse();
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(
      strings = {
        "snapshot build --input=IN --canonicaliser=url-expression --output=DIR/f --dead-letters=-",
        "bootstrap --input=IN --canonicaliser=url-expression --savepoint=DIR/s --dead-letters=/dev/fd/1",
      })
  @DisabledOnOs(OS.WINDOWS)
  void otherVerbsReportToStandardErrorToo(String command) throws Exception {
    Path keys = Files.writeString(directory.resolve("in.txt"), "a.example\na b\n");
    String[] arguments = command.split(" ");
    for (int i = 0; i < arguments.length; i++) {
      arguments[i] = arguments[i].replace("IN", keys.toString()).replace("DIR", "" + directory);
    }
    try (CommandProcess verb =
        CommandProcess.startWithHashKey("000102030405060708090a0b0c0d0e0f", work, arguments)) {
      Invocation ended = verb.end();
      assertThat(ended.out()).as(ended.toString()).isNotEmpty();
      assertThat(String.join("\n", ended.out())).doesNotContain("keys");
      assertThat(String.join("\n", ended.err())).contains("keys");
      assertThat(ended.status()).isZero();
    }
    assertThat(Files.exists(work.resolve("-"))).isFalse();
  }

  @Tag("slow")
  @Test
  void anInputThatIsCutShortIsOneLineAndStatus2() throws Exception {
    byte[] sample = Files.readAllBytes(SAMPLE);
    Path cut = Files.write(directory.resolve("cut.gz"), Arrays.copyOf(sample, sample.length / 2));
    try (CommandProcess run = start(cut, "--format=tsv")) {
      Invocation ended = run.end();
      assertThat(ended.status()).isEqualTo(ExitCode.USAGE);
      assertThat(ended.out()).isEmpty();
      assertThat(ended.err())
          .singleElement()
          .asString()
          .startsWith("firstseen run: cannot read cut.gz beyond line ");
      assertThat(run.temporaryFiles()).isEmpty();
    }
    assertThat(Invocation.names(results)).isEmpty();
  }

  @Tag("slow")
  @Test
  @DisabledOnOs(OS.WINDOWS)
  void anInterruptedRunLeavesNothing() throws Exception {
    Path endless = directory.resolve("keys");
    try (BufferedWriter keys = Files.newBufferedWriter(endless, UTF_8)) {
      for (int i = 0; i < 3_000_000; i++) {
        keys.write("key-" + i + "\n");
      }
    }
    Path partial = results.resolve("A.partial");
    try (CommandProcess run = start(endless)) {
      await("keys are accepted")
          .atMost(Duration.ofMinutes(1))
          .until(() -> Files.exists(partial) && Files.size(partial) > 0);
      run.interrupt();
      Invocation ended = run.end();
      assertThat(ended.status()).isEqualTo(130);
      assertThat(ended.out()).isEmpty();
      assertThat(ended.err()).isEmpty();
      assertThat(run.temporaryFiles()).isEmpty();
    }
    assertThat(Invocation.names(results)).isEmpty();
  }
}
