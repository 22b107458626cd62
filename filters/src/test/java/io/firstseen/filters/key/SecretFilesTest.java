package io.firstseen.filters.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.snapshot.SigningKey;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisabledOnOs(OS.WINDOWS)
class SecretFilesTest {

  @TempDir private Path directory;

  private Path file(String rights) throws IOException {
    Path file = Files.createTempFile(directory, "secret", "");
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(rights));
  }

  private static String sentence(Path file, String mode, String mended) {
    return "users other than its owner have access to the secret file %s (mode %s): chmod %s %s"
        .formatted(file, mode, mended, file);
  }

  /** Returns the mode that the kernel reports. */
  @Test
  void everyModeWithAnyRightOfGroupOrOthersIsWarnedOf() throws IOException {
    Path file = file("rw-------");
    for (int mode = 0; mode < 01000; mode++) {
      StringBuilder rights = new StringBuilder("rwxrwxrwx");
      for (int bit = 0; bit < 9; bit++) {
        if ((mode & 0400 >> bit) == 0) {
          rights.setCharAt(bit, '-');
        }
      }
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(rights.toString()));
      int kernels = (int) Files.getAttribute(file, "unix:mode") & 0777;
      assertThat(kernels).isEqualTo(mode);
      String octal = "0%o%o%o".formatted(mode >> 6, mode >> 3 & 7, mode & 7);
      if ((mode & 077) == 0) {
        assertThat(SecretFiles.warning(file)).as(octal).isEmpty();
      } else {
        assertThat(SecretFiles.warning(file)).hasValue(sentence(file, octal, "600"));
      }
    }
  }

  /** As Kubernetes mounts secrets where the pod has an fsGroup. */
  @ParameterizedTest
  @CsvSource({"r--r-----,", "rw-r-----,", "r--r--r--,0444", "rw-rw----,0660", "r--r-x---,0450"})
  void theGroupMayReadAFileOfAnotherOwner(String rights, String warnedMode) {
    Path file = Path.of("secret");
    var warning = SecretFiles.warning(file, PosixFilePermissions.fromString(rights), false);
    if (warnedMode == null) {
      assertThat(warning).isEmpty();
    } else {
      assertThat(warning).hasValue(sentence(file, warnedMode, "640"));
    }
  }

  @Test
  void theFileBehindALinkCounts() throws IOException {
    Path bad = file("rw-r--r--");
    Path link = Files.createSymbolicLink(directory.resolve("link"), bad);
    assertThat(SecretFiles.warning(link)).hasValue(sentence(link, "0644", "600"));
    Path good = Files.createSymbolicLink(directory.resolve("good"), file("r--------"));
    assertThat(SecretFiles.warning(good)).isEmpty();
  }

  @Test
  void whatHasNoRightsOrIsNoFileIsPassedOver() throws IOException {
    assertThat(SecretFiles.warning(directory.resolve("missing"))).isEmpty();
    assertThat(SecretFiles.warning(directory)).isEmpty();
    assertThat(SecretFiles.warning(Path.of("/dev/null"))).isEmpty();
    URI zip = URI.create("jar:" + directory.resolve("a.zip").toUri());
    try (FileSystem withoutRights = FileSystems.newFileSystem(zip, Map.of("create", "true"))) {
      Path file = Files.writeString(withoutRights.getPath("/secret"), "");
      assertThat(SecretFiles.warning(file)).isEmpty();
    }
  }

  @Test
  void aFileIsWarnedOfOnce() throws IOException {
    Path file = file("rw-r--r--");
    assertThat(warnings(() -> SecretFiles.warnIfAccessible(file)))
        .containsExactly(sentence(file, "0644", "600"));
    assertThat(warnings(() -> SecretFiles.warnIfAccessible(file))).isEmpty();
    Path good = file("rw-------");
    assertThat(warnings(() -> SecretFiles.warnIfAccessible(good))).isEmpty();
  }

  @Test
  void theReadersOfKeysWarn() throws IOException {
    Path hashKey = Files.writeString(file("rw-r-----"), "000102030405060708090a0b0c0d0e0f");
    assertThat(warnings(() -> KeyHash.fromFile(hashKey)))
        .containsExactly(sentence(hashKey, "0640", "600"));
    Path signingKey = Files.writeString(file("rw----r--"), SigningKey.generate().toPem());
    assertThat(warnings(() -> SigningKey.read(signingKey)))
        .containsExactly(sentence(signingKey, "0604", "600"));
    Path missing = directory.resolve("missing");
    assertThat(
            warnings(
                () ->
                    assertThatThrownBy(() -> KeyHash.fromFile(missing))
                        .isInstanceOf(NoSuchFileException.class)))
        .isEmpty();
  }

  private interface Action {
    void run() throws IOException;
  }

  private static List<String> warnings(Action action) throws IOException {
    List<String> warnings = new ArrayList<>();
    AbstractAppender collector =
        new AbstractAppender("collector", null, null, true, Property.EMPTY_ARRAY) {
          @Override
          public void append(LogEvent event) {
            warnings.add(event.getLevel() + " " + event.getMessage().getFormattedMessage());
          }
        };
    collector.start();
    Logger log = (Logger) LogManager.getLogger(SecretFiles.class);
    log.addAppender(collector);
    try {
      action.run();
    } finally {
      log.removeAppender(collector);
    }
    return warnings.stream().map(line -> line.replaceFirst("^WARN ", "")).toList();
  }
}
