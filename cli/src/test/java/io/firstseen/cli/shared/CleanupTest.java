package io.firstseen.cli.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CleanupTest {

  private final List<String> closed = new ArrayList<>();

  @Test
  void closesInReverseOrderAndRemovesWhatIsTemporary() throws Exception {
    List<Path> temporary = new ArrayList<>();
    int status =
        Cleanup.after(
            cleanup -> {
              Path directory = cleanup.temporaryDirectory();
              temporary.add(directory);
              Files.writeString(Files.createDirectories(directory.resolve("a/b")).resolve("f"), "");
              cleanup.add(() -> closed.add("first"));
              cleanup.add(
                  () -> {
                    assertThat(directory).exists();
                    closed.add("second");
                  });
              return 7;
            });
    assertThat(status).isEqualTo(7);
    assertThat(closed).containsExactly("second", "first");
    assertThat(temporary.get(0)).doesNotExist();
  }

  @Test
  void closesTheOthersWhenOneFails() {
    assertThatThrownBy(
            () ->
                Cleanup.after(
                    cleanup -> {
                      cleanup.add(() -> closed.add("first"));
                      cleanup.add(
                          () -> {
                            throw new IOException("second");
                          });
                      return 0;
                    }))
        .hasMessage("second");
    assertThat(closed).containsExactly("first");
  }

  @Test
  void aFailureIsPassedOn() {
    assertThatThrownBy(
            () ->
                Cleanup.after(
                    cleanup -> {
                      cleanup.add(() -> closed.add("first"));
                      throw new IllegalStateException("failed");
                    }))
        .hasMessage("failed");
    assertThat(closed).containsExactly("first");
  }
}
