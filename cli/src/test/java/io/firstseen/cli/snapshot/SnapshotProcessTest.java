package io.firstseen.cli.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.firstseen.cli.CommandProcess;
import io.firstseen.cli.Invocation;
import io.firstseen.cli.shared.ExitCode;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The verbs of {@code firstseen snapshot} as a shell sees them. */
class SnapshotProcessTest {

  @TempDir private Path directory;

  @Test
  void queryAnswersWhileTheQuestionsComeAndEndsWell() throws Exception {
    Path keys = Files.writeString(directory.resolve("keys"), "a\nböse\n");
    Path snapshot = directory.resolve("f");
    // Nobody else may read it: no warning.
    String secret =
        "--hash-key-file="
            + Files.writeString(
                Files.createTempFile(directory, "secret", ""), "000102030405060708090a0b0c0d0e0f");
    assertThat(
            Invocation.of(
                    "snapshot",
                    "build",
                    "--input=" + keys,
                    "--output=" + snapshot,
                    "--fpr=1e-6",
                    secret)
                .status())
        .isZero();
    Path work = Files.createDirectory(directory.resolve("query"));
    try (CommandProcess query =
        CommandProcess.start(work, "snapshot", "query", secret, "" + snapshot)) {
      OutputStream questions = query.standardInput();
      questions.write("böse\nx\n".getBytes(UTF_8));
      questions.flush();
      // The pipe is still open: an answer that waited for more input would never be printed.
      await("the first answers come")
          .atMost(Duration.ofMinutes(1))
          .until(() -> Files.readString(work.resolve("out")).equals("böse\tpresent\nx\tabsent\n"));
      questions.write("a\n".getBytes(UTF_8));
      assertThat(query.end())
          .isEqualTo(
              new Invocation(
                  ExitCode.GOOD, List.of("böse\tpresent", "x\tabsent", "a\tpresent"), List.of()));
    }
  }

  @Test
  void matchAnswersWhileTheQuestionsCome() throws Exception {
    Path entries = Files.writeString(directory.resolve("entries"), "a.example\n");
    Path list = directory.resolve("f");
    assertThat(
            Invocation.of(
                    "snapshot",
                    "build",
                    "--canonicaliser=url-expression",
                    "--input=" + entries,
                    "--output=" + list,
                    "--fpr=1e-6")
                .status())
        .isZero();
    Path work = Files.createDirectory(directory.resolve("match"));
    try (CommandProcess match = CommandProcess.start(work, "snapshot", "match", "" + list, "-")) {
      OutputStream questions = match.standardInput();
      // The second question has begun and must not keep the first one waiting.
      questions.write("https://a.example/b\nhttp://".getBytes(UTF_8));
      questions.flush();
      await("the first answer comes")
          .atMost(Duration.ofMinutes(1))
          .until(
              () ->
                  Files.readString(work.resolve("out"))
                      .equals("https://a.example/b\tpresent\ta.example/\n"));
      questions.write("b.example\n".getBytes(UTF_8));
      assertThat(match.end())
          .isEqualTo(
              new Invocation(
                  ExitCode.GOOD,
                  List.of("https://a.example/b\tpresent\ta.example/", "http://b.example\tabsent"),
                  List.of()));
    }
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void aSecretFileThatOthersMayReadIsAWarning() throws Exception {
    Path hashKey = secret("000102030405060708090a0b0c0d0e0f");
    Path missing = directory.resolve("missing");
    String[] query = {"snapshot", "query", "--hash-key-file=" + hashKey, "" + missing, "a"};
    String refusal =
        "firstseen snapshot query: cannot read %s: there is no such file".formatted(missing);
    assertThat(errorsOf(query)).containsExactly(warning(hashKey), refusal);

    // A setting that no client takes, so that none waits for a broker.
    Path kafka = secret("security.protocol=none\n");
    assertThat(
            errorsOf(
                "snapshot",
                "info",
                "--bootstrap-servers=localhost:1",
                "--set=s",
                "--kafka-properties=" + kafka))
        .first()
        .isEqualTo(warning(kafka));
  }

  private Path secret(String text) throws IOException {
    Path file = Files.writeString(Files.createTempFile(directory, "secret", ""), text);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
  }

  private static String warning(Path file) {
    return "warning: users other than its owner have access to the secret file %s (mode 0644): chmod 600 %s"
        .formatted(file, file);
  }

  private List<String> errorsOf(String... words) throws Exception {
    Path work = Files.createTempDirectory(directory, "work");
    try (CommandProcess process = CommandProcess.start(work, words)) {
      return process.end().err();
    }
  }

  @Test
  void aDamagedSnapshotIsOneLineAndTheRightStatus() throws Exception {
    Path damaged = Files.writeString(directory.resolve("f"), "no snapshot at all");
    String sentence = damaged + ": this is not a snapshot: the magic number is missing";
    assertThat(Invocation.of("snapshot", "verify", "" + damaged))
        .isEqualTo(new Invocation(ExitCode.NEGATIVE, List.of("invalid: " + sentence), List.of()));
    Path informing = Files.createDirectory(directory.resolve("info"));
    try (CommandProcess info = CommandProcess.start(informing, "snapshot", "info", "" + damaged)) {
      assertThat(info.end())
          .isEqualTo(
              new Invocation(
                  ExitCode.USAGE, List.of(), List.of("firstseen snapshot info: " + sentence)));
    }
  }

  @Tag("slow")
  @Test
  @DisabledOnOs(OS.WINDOWS)
  void anInterruptedBuildLeavesNothing() throws Exception {
    Path output = Files.writeString(directory.resolve("f"), "as it was");
    Path partial = directory.resolve("f.partial");
    Path work = Files.createDirectory(directory.resolve("build"));
    try (CommandProcess build =
        CommandProcess.start(work, "snapshot", "build", "--input=-", "--output=" + output)) {
      await("the output is begun").atMost(Duration.ofMinutes(1)).until(() -> Files.exists(partial));
      build.interrupt();
      Invocation ended = build.end();
      assertThat(ended.status()).isEqualTo(130);
      assertThat(ended.out()).isEmpty();
      assertThat(ended.err()).allMatch(line -> line.startsWith("warning: no hash key"));
    }
    assertThat(partial).doesNotExist();
    assertThat(output).hasContent("as it was");
  }
}
