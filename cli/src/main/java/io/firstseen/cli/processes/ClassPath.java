package io.firstseen.cli.processes;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;

/** The class path of this JVM, for processes that it starts. */
public final class ClassPath {

  private ClassPath() {}

  /** Every jar and directory, those that the manifest of a jar names included. */
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
    for (String named : namedBy(entry)) {
      add(entries, Path.of(entry.toUri().resolve(URI.create(named))).normalize());
    }
  }

  private static List<String> namedBy(Path jar) throws IOException {
    try (JarFile file = new JarFile(jar.toFile())) {
      Manifest manifest = file.getManifest();
      String named =
          manifest == null
              ? null
              : manifest.getMainAttributes().getValue(Attributes.Name.CLASS_PATH);
      List<String> names = new ArrayList<>();
      if (named != null) {
        for (String name : named.split(" ", -1)) {
          if (!name.isEmpty()) {
            names.add(name);
          }
        }
      }
      return names;
    }
  }
}
