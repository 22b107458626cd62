package io.firstseen.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.jobs.shared.Finding;
import io.firstseen.jobs.shared.Finding.Status;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineChecksTest {
  private static final long GIB = 1L << 30;

  @TempDir private Path directory;

  private static void assertFinding(Finding finding, Status status, String text) {
    assertThat(finding.status()).as("%s", finding).isEqualTo(status);
    assertThat(finding.text()).contains(text);
  }

  @Test
  void anOldJavaFails() {
    assertFinding(
        MachineChecks.java(Runtime.Version.parse("11.0.2")),
        Status.FAILED,
        ": install 17 or newer, or set JAVA_HOME");
    assertFinding(
        MachineChecks.java(Runtime.Version.parse("21.0.1")), Status.OK, "Java 21.0.1 at ");
  }

  @Test
  void littleMemoryShows() {
    assertFinding(
        MachineChecks.memory(4 * GIB, 16 * GIB),
        Status.OK,
        "maximum heap 4,096 MiB of 16 GiB of memory");
    assertFinding(MachineChecks.memory(GIB / 4, GIB), Status.WARNING, "FIRSTSEEN_JAVA_OPTS=-Xmx1g");
    assertFinding(MachineChecks.memory(GIB / 16, GIB), Status.FAILED, "FIRSTSEEN_JAVA_OPTS=-Xmx1g");
    assertFinding(MachineChecks.memory(2 * GIB, GIB), Status.WARNING, "lower -Xmx");
    assertFinding(MachineChecks.memory(GIB, Long.MAX_VALUE), Status.OK, "maximum heap 1,024 MiB");
  }

  @Test
  void fewOpenFilesShow() {
    assertFinding(MachineChecks.openFiles(65_536), Status.OK, "the limit of open files is 65536");
    assertFinding(MachineChecks.openFiles(1024), Status.WARNING, "ulimit -n 65536");
    assertFinding(MachineChecks.openFiles(256), Status.FAILED, "ulimit -n 65536");
  }

  @Test
  void noRoomForTemporaryFilesShows() {
    assertFinding(
        MachineChecks.temporaryFiles(directory, 2 * GIB), Status.OK, "2,048 MiB are free");
    assertFinding(
        MachineChecks.temporaryFiles(directory, GIB / 2), Status.WARNING, "-Djava.io.tmpdir=DIR");
    assertFinding(MachineChecks.temporaryFiles(directory, 0), Status.FAILED, "0 MiB are free");
    assertFinding(
        MachineChecks.temporaryFiles(directory.resolve("missing")),
        Status.FAILED,
        "cannot create a file in " + directory.resolve("missing"));
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void aJarThatIsMissingOrDamagedFails() throws Exception {
    Path lib = Files.createDirectory(directory.resolve("lib"));
    Path jar = directory.resolve("a program.jar");
    write(jar, "lib/one.jar lib/two.jar");
    write(lib.resolve("one.jar"), null);
    write(lib.resolve("two.jar"), null);
    assertFinding(MachineChecks.jars(jar.toString()), Status.OK, "3 jars from " + jar);
    Files.writeString(lib.resolve("two.jar"), "half of a jar");
    assertFinding(
        MachineChecks.jars(jar.toString()),
        Status.FAILED,
        "1 of 3 jars are unreadable, such as %s: delete %s, and ./firstseen rebuilds them"
            .formatted(lib.resolve("two.jar"), jar));
    Files.delete(lib.resolve("two.jar"));
    assertFinding(MachineChecks.jars(jar.toString()), Status.FAILED, "1 of 3 jars are unreadable");
    assertFinding(
        MachineChecks.jars(directory.resolve("gone.jar").toString()), Status.FAILED, "gone.jar");
    assertFinding(MachineChecks.jars("target/classes"), Status.OK, "not checked");
  }

  private static void write(Path jar, String classPath) throws Exception {
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    if (classPath != null) {
      manifest.getMainAttributes().put(Attributes.Name.CLASS_PATH, classPath);
    }
    try (OutputStream file = Files.newOutputStream(jar);
        JarOutputStream out = new JarOutputStream(file, manifest)) {
      out.putNextEntry(new ZipEntry("content"));
      out.closeEntry();
    }
  }
}
