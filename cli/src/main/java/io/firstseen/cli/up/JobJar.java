package io.firstseen.cli.up;

import io.firstseen.operators.UserErrorException;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The jar of the jobs. */
final class JobJar {

  private JobJar() {}

  /**
   * Finds the jar in the command's distribution or checkout, with the command's version. If the
   * command has no version, as in a test, returns the newest jar.
   */
  static Path find() {
    // HOME/command/cli-VERSION.jar, HOME/cli/target/cli-VERSION.jar or HOME/cli/target/classes.
    String version = JobJar.class.getPackage().getImplementationVersion();
    String name = "jobs-%s-job.jar".formatted(version == null ? "*" : version);
    Path parent = ofThisCommand().getParent();
    List<Path> places =
        List.of(
            parent.resolve("../jars").normalize(), parent.resolve("../../jobs/target").normalize());
    return places.stream()
        .flatMap(place -> jars(place, name))
        .findFirst()
        .orElseThrow(
            () ->
                new UserErrorException(
                    "no %s in %s or %s; build it by: mvn -q -pl jobs -am package -DskipTests"
                        .formatted(name, places.get(0), places.get(1))));
  }

  /** The newest jar comes first. */
  private static Stream<Path> jars(Path directory, String name) {
    PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:" + name);
    File[] jars = directory.toFile().listFiles(file -> matcher.matches(Path.of(file.getName())));
    return Stream.of(jars == null ? new File[0] : jars)
        .sorted(Comparator.comparingLong(File::lastModified).reversed())
        .map(File::toPath);
  }

  private static Path ofThisCommand() {
    try {
      return Path.of(JobJar.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }
}
