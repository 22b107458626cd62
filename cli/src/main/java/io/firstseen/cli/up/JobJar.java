package io.firstseen.cli.up;

import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/** The jar of the jobs. */
final class JobJar {

  private JobJar() {}

  /**
   * Finds the jar in the command's distribution or checkout, with the command's version. If the
   * command has no version, as in a test, returns the newest jar.
   */
  static Path find() throws IOException {
    // HOME/command/cli-VERSION.jar, HOME/cli/target/cli-VERSION.jar or HOME/cli/target/classes.
    String version = JobJar.class.getPackage().getImplementationVersion();
    String name = "jobs-%s-job.jar".formatted(version == null ? "*" : version);
    Path parent = ofThisCommand().getParent();
    List<Path> places =
        List.of(
            parent.resolve("../jars").normalize(), parent.resolve("../../jobs/target").normalize());
    for (Path place : places) {
      Optional<Path> jar = newest(place, name);
      if (jar.isPresent()) {
        return jar.get();
      }
    }
    throw new UserErrorException(
        "no %s in %s or %s; build it by: mvn -q -pl jobs -am package -DskipTests"
            .formatted(name, places.get(0), places.get(1)));
  }

  private static Optional<Path> newest(Path directory, String name) throws IOException {
    if (!Files.isDirectory(directory)) {
      return Optional.empty();
    }
    NavigableMap<FileTime, Path> byTime = new TreeMap<>();
    try (DirectoryStream<Path> jars = Files.newDirectoryStream(directory, name)) {
      for (Path jar : jars) {
        byTime.put(Files.getLastModifiedTime(jar), jar);
      }
    }
    return Optional.ofNullable(byTime.lastEntry()).map(Map.Entry::getValue);
  }

  private static Path ofThisCommand() {
    try {
      return Path.of(JobJar.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }
}
