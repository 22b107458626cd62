package io.firstseen.cli.processes;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
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

  /**
   * What a Flink cluster needs of it. Without the Kafka connector, which a cluster takes from the
   * jar of the job: Flink loads its own packages from the cluster first, and a connector from there
   * would not find the Kafka client of the job.
   *
   * @param directory for copies of jars whose manifests name others, and so the connector
   */
  static List<Path> ofFlink(Path directory) throws IOException {
    List<Path> entries = new ArrayList<>();
    for (Path entry : ofThisJvm()) {
      if (Files.isRegularFile(entry) && !namedBy(entry).isEmpty()) {
        entries.add(withoutManifest(entry, directory));
      } else if (!entry.getFileName().toString().startsWith("flink-connector-kafka-")) {
        entries.add(entry);
      }
    }
    return entries;
  }

  private static Path withoutManifest(Path jar, Path directory) throws IOException {
    Path copy = directory.resolve(jar.getFileName());
    // Not with the rights of the jar, which may be read-only.
    try (InputStream bytes = Files.newInputStream(jar)) {
      Files.copy(bytes, copy, StandardCopyOption.REPLACE_EXISTING);
    }
    try (FileSystem entries = FileSystems.newFileSystem(copy)) {
      Files.delete(entries.getPath(JarFile.MANIFEST_NAME));
    }
    return copy;
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
