package io.firstseen.filters.key;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Warns about secret files that other users may read or change. */
public final class SecretFiles {
  private static final Logger LOG = LoggerFactory.getLogger(SecretFiles.class);
  private static final Set<PosixFilePermission> OF_OWNER =
      EnumSet.of(
          PosixFilePermission.OWNER_READ,
          PosixFilePermission.OWNER_WRITE,
          PosixFilePermission.OWNER_EXECUTE);

  /**
   * The files for which a warning was logged, because each task and each command may read a file
   * again.
   */
  private static final Set<Path> WARNED = ConcurrentHashMap.newKeySet();

  private SecretFiles() {}

  /**
   * Logs a warning, once per file and JVM, if users other than its owner may read or change a file.
   * Group read access to a file of a different owner is allowed, because it may be the only way for
   * this process to read the file. Does nothing if the file does not exist or the file system has
   * no POSIX permissions.
   */
  public static void warnIfAccessible(Path file) {
    warning(file).filter(sentence -> WARNED.add(file)).ifPresent(LOG::warn);
  }

  static Optional<String> warning(Path file) {
    try {
      PosixFileAttributes attributes = Files.readAttributes(file, PosixFileAttributes.class);
      // A shell's pipe has no content to protect, and other users cannot read this process's
      // terminal.
      return attributes.isRegularFile()
          ? warning(
              file,
              attributes.permissions(),
              attributes.owner().getName().equals(System.getProperty("user.name")))
          : Optional.empty();
    } catch (UnsupportedOperationException | IOException e) {
      return Optional.empty();
    }
  }

  static Optional<String> warning(Path file, Set<PosixFilePermission> rights, boolean isOwn) {
    Set<PosixFilePermission> ofOthers = EnumSet.noneOf(PosixFilePermission.class);
    ofOthers.addAll(rights);
    ofOthers.removeAll(OF_OWNER);
    if (!isOwn) {
      ofOthers.remove(PosixFilePermission.GROUP_READ);
    }
    if (ofOthers.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        "users other than its owner have access to the secret file %s (mode %04o): chmod %s %s"
            .formatted(file, mode(rights), isOwn ? "600" : "640", file));
  }

  private static int mode(Set<PosixFilePermission> rights) {
    String bits = PosixFilePermissions.toString(rights).replace('-', '0').replaceAll("[rwx]", "1");
    return Integer.parseInt(bits, 2);
  }
}
