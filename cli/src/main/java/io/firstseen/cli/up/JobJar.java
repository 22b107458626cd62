package io.firstseen.cli.up;

import io.firstseen.cli.Main;
import io.firstseen.jobs.shared.UserErrorException;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The jar that the cluster gets. */
final class JobJar {

  private JobJar() {}

  /**
   * That of the distribution or of the checkout to which this command belongs.
   *
   * @throws UserErrorException if there is none
   */
  static Path find() throws IOException {
    // HOME/command/cli-VERSION.jar, HOME/cli/target/cli-VERSION.jar or HOME/cli/target/classes.
    Path parent = ofThisCommand().getParent();
    List<Path> places =
        List.of(
            parent.resolve("../jars").normalize(), parent.resolve("../../jobs/target").normalize());
    for (Path place : places) {
      if (Files.isDirectory(place)) {
        try (DirectoryStream<Path> jars = Files.newDirectoryStream(place, "jobs-*-job.jar")) {
          for (Path jar : jars) {
            return jar;
          }
        }
      }
    }
    throw new UserErrorException(
        "no job jar in %s or %s; build it by: mvn -q -pl jobs -am package -DskipTests"
            .formatted(places.get(0), places.get(1)));
  }

  private static Path ofThisCommand() {
    try {
      return Path.of(Main.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }
}
