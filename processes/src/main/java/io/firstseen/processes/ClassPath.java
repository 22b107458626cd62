package io.firstseen.processes;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.jar.Attributes.Name;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.stream.Stream;

/** The class path of this JVM, for processes that it starts. */
public final class ClassPath {

  private ClassPath() {}

  /** Every jar and directory, including the entries in the manifest of a jar. */
  public static List<Path> ofThisJvm() throws IOException {
    Set<Path> entries = new LinkedHashSet<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      add(entries, Path.of(entry).toAbsolutePath().normalize());
    }
    return List.copyOf(entries);
  }

  private static void add(Set<Path> entries, Path entry) throws IOException {
    if (!Files.exists(entry) || !entries.add(entry) || !Files.isRegularFile(entry)) {
      return;
    }
    for (Path named : namedBy(entry)) {
      add(entries, named);
    }
  }

  /**
   * The jars and directories in the manifest of a jar.
   *
   * @throws IOException if the jar cannot be read
   */
  public static List<Path> namedBy(Path jar) throws IOException {
    try (JarFile file = new JarFile(jar.toFile())) {
      Manifest manifest = file.getManifest();
      String named =
          manifest == null ? null : manifest.getMainAttributes().getValue(Name.CLASS_PATH);
      return named == null
          ? List.of()
          : Stream.of(named.strip().split("\\s+"))
              .map(word -> Path.of(jar.toUri().resolve(word)).normalize())
              .toList();
    }
  }
}
