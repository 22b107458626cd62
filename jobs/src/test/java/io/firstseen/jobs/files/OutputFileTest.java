package io.firstseen.jobs.files;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class OutputFileTest {

  private static final byte[] NEW = "new".getBytes(UTF_8);

  @TempDir private Path directory;

  @Test
  void whatStoodThereStaysUntilTheFileIsComplete() throws IOException {
    Path path = Files.writeString(directory.resolve("f"), "old");
    try (OutputFile file = new OutputFile(path)) {
      file.write(NEW);
      assertThat(path).hasContent("old");
      file.complete();
      assertThat(path).hasContent("new");
    }
    assertThat(names()).containsExactly("f");
  }

  @Test
  void aFileThatIsNotCompletedLeavesNothing() throws IOException {
    Path path = Files.writeString(directory.resolve("f"), "old");
    try (OutputFile file = new OutputFile(path)) {
      file.write(NEW);
    }
    assertThat(path).hasContent("old");
    assertThat(names()).containsExactly("f");
  }

  @Test
  void aFileWhoseNameEndsLikeOneThatIsNotCompleteStaysAsItIs() throws IOException {
    Path foreign = Files.writeString(directory.resolve("f.partial"), "foreign");
    Path path = directory.resolve("f");
    try (OutputFile file = new OutputFile(path);
        OutputFile other = new OutputFile(path)) {
      file.write(NEW);
      other.write("other".getBytes(UTF_8));
      file.complete();
      assertThat(path).hasContent("new");
    }
    assertThat(foreign).hasContent("foreign");
    assertThat(names()).containsExactlyInAnyOrder("f", "f.partial");
  }

  @Test
  void aLinkIsFollowed() throws IOException {
    Path target = Files.writeString(directory.resolve("target"), "old");
    Path link = Files.createSymbolicLink(directory.resolve("link"), target);
    for (boolean exists : new boolean[] {true, false}) {
      if (!exists) {
        Files.delete(target);
      }
      try (OutputFile file = new OutputFile(link)) {
        file.write(NEW);
        file.complete();
      }
      assertThat(link).isSymbolicLink();
      assertThat(target).hasContent("new");
    }
    assertThat(names()).containsExactlyInAnyOrder("link", "target");
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void aCircleOfLinksIsRefused() throws IOException {
    Path other = directory.resolve("other");
    Path link = Files.createSymbolicLink(directory.resolve("link"), other);
    Files.createSymbolicLink(other, link);
    assertThatThrownBy(() -> new OutputFile(link))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll(link.toString(), "too many links");
    assertThat(link).isSymbolicLink();
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void aDeviceIsWrittenAndNotReplacedAndMayBeSeveralOutputs() throws IOException {
    Path device = Path.of("/dev/null");
    // A link in the test's directory, so that an error does not replace the real device.
    Path link = Files.createSymbolicLink(directory.resolve("link"), device);
    try (OutputFile file = new OutputFile(link)) {
      file.write(NEW);
      file.complete();
    }
    assertThat(link).isSymbolicLink();
    assertThat(Files.isRegularFile(device)).isFalse();
    assertThat(names()).containsExactly("link");
    assertThatCode(
            () ->
                OutcomeFiles.sinks(
                    FileFormat.LINES,
                    directory.resolve("accepted"),
                    Optional.of(device),
                    Optional.of(device),
                    Optional.empty()))
        .doesNotThrowAnyException();
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void aPipeIsWrittenToWhoeverReadsIt() throws Exception {
    Process reader =
        new ProcessBuilder("cat").redirectOutput(directory.resolve("read").toFile()).start();
    // Like /dev/stdout before a pipe: a link whose target has no path.
    Path pipe = Path.of("/proc/" + reader.pid() + "/fd/0");
    assumeThat(pipe).exists();
    try (OutputFile file = new OutputFile(pipe)) {
      file.write(NEW);
      file.complete();
    }
    reader.getOutputStream().close();
    assertThat(reader.waitFor()).isZero();
    assertThat(directory.resolve("read")).hasContent("new");
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }
}
