package io.firstseen.cli.doctor;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.UnixOperatingSystemMXBean;
import io.firstseen.jobs.shared.Finding;
import io.firstseen.processes.ClassPath;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.zip.ZipFile;

/** Checks of the machine that this JVM runs on. Each check returns one finding. */
final class MachineChecks {
  private static final int OLDEST_JAVA = 17;
  private static final long MIB = 1L << 20;
  private static final long MIN_HEAP = 128 * MIB;
  private static final long GOOD_HEAP = 512 * MIB;
  private static final long MIN_FILES = 512;
  private static final long GOOD_FILES = 4096;
  private static final long MIN_DISK = 64 * MIB;
  private static final long GOOD_DISK = 1024 * MIB;
  private static final String OTHER_DIRECTORY =
      "set another directory with FIRSTSEEN_JAVA_OPTS=-Djava.io.tmpdir=DIR";

  private MachineChecks() {}

  /** The release of Java. */
  static Finding java(Runtime.Version version) {
    String text = "Java %s at %s".formatted(version, System.getProperty("java.home"));
    return version.feature() >= OLDEST_JAVA
        ? Finding.ok("Java", text)
        : Finding.failed(
            "Java", "%s: install %d or newer, or set JAVA_HOME".formatted(text, OLDEST_JAVA));
  }

  /** The heap, and the memory of the machine or container. */
  static Finding memory() {
    long machine =
        ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean bean
            ? bean.getTotalMemorySize()
            : Long.MAX_VALUE;
    return memory(Runtime.getRuntime().maxMemory(), machine);
  }

  static Finding memory(long heap, long machine) {
    String text = "maximum heap " + bytes(heap);
    if (machine < Long.MAX_VALUE) {
      text += " of %s of memory".formatted(bytes(machine));
    }
    if (heap > machine) {
      return Finding.warning(
          "memory",
          text + ": lower -Xmx in FIRSTSEEN_JAVA_OPTS, or the system may kill the program");
    }
    String advice = "%s: increase it with FIRSTSEEN_JAVA_OPTS=-Xmx1g, if there is enough memory";
    return graded("memory", text, advice.formatted(text), heap, MIN_HEAP, GOOD_HEAP);
  }

  /** The limit of open files. */
  static Finding openFiles() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean bean
        ? openFiles(bean.getMaxFileDescriptorCount())
        : Finding.ok("open files", "this system does not report a limit");
  }

  static Finding openFiles(long limit) {
    String text = "the limit of open files is " + limit;
    String advice = text + ": increase it with ulimit -n 65536, or with systemd's LimitNOFILE";
    return graded("open files", text, advice, limit, MIN_FILES, GOOD_FILES);
  }

  /** The disk space for temporary files. */
  static Finding temporaryFiles(Path directory) {
    String check = "temporary files";
    long free;
    try {
      Files.delete(Files.createTempFile(directory, "firstseen-doctor", null));
      free = Files.getFileStore(directory).getUsableSpace();
    } catch (IOException e) {
      return Finding.failed(
          check, "cannot create a file in %s: %s".formatted(directory, OTHER_DIRECTORY));
    }
    return temporaryFiles(directory, free);
  }

  static Finding temporaryFiles(Path directory, long free) {
    String text = "%s are free in %s".formatted(bytes(free), directory);
    String advice = text + ": delete files, or " + OTHER_DIRECTORY;
    return graded("temporary files", text, advice, free, MIN_DISK, GOOD_DISK);
  }

  /**
   * The jars of the program.
   *
   * @param classPath the class path of this JVM
   */
  static Finding jars(String classPath) {
    String check = "jars";
    if (classPath.contains(File.pathSeparator) || !classPath.endsWith(".jar")) {
      return Finding.ok(check, "not checked, because the program was not started from one jar");
    }
    Path jar = Path.of(classPath).toAbsolutePath();
    List<Path> unusable = new ArrayList<>();
    int count = 1;
    try {
      for (Path each : ClassPath.namedBy(jar)) {
        count++;
        if (!isReadable(each)) {
          unusable.add(each);
        }
      }
    } catch (IOException | IllegalArgumentException e) {
      unusable.add(jar);
    }
    return unusable.isEmpty()
        ? Finding.ok(check, "%d jars from %s".formatted(count, jar))
        : Finding.failed(
            check,
            "%d of %d jars are unreadable, such as %s: delete %s, and ./firstseen rebuilds them"
                .formatted(unusable.size(), count, unusable.get(0), jar));
  }

  private static boolean isReadable(Path jar) {
    if (Files.isDirectory(jar)) {
      return true;
    }
    try (ZipFile file = new ZipFile(jar.toFile())) {
      return file.size() > 0;
    } catch (IOException e) {
      return false;
    }
  }

  private static Finding graded(
      String check, String text, String advice, long value, long least, long good) {
    if (value >= good) {
      return Finding.ok(check, text);
    }
    return value >= least ? Finding.warning(check, advice) : Finding.failed(check, advice);
  }

  private static String bytes(long count) {
    return count >= 10 * 1024 * MIB
        ? "%d GiB".formatted(count / (1024 * MIB))
        : String.format(Locale.ROOT, "%,d MiB", count / MIB);
  }
}
