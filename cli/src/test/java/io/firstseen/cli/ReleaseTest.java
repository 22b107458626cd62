package io.firstseen.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.fixtures.Project;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What must hold in all files whenever a release is cut. */
class ReleaseTest {
  private static final Path ROOT = Project.ROOT;

  @Test
  void theBomHasAllModulesThatArePublished() throws IOException {
    List<String> published = new ArrayList<>();
    for (String module : Project.modules()) {
      String pom = Files.readString(ROOT.resolve(module).resolve("pom.xml"));
      if (!module.equals("bom") && !pom.contains("<maven.deploy.skip>true</maven.deploy.skip>")) {
        published.add(ownName(pom));
      }
    }
    assertThat(published).contains("filters", "sql").doesNotContain("benchmarks");
    String bom = Files.readString(ROOT.resolve("bom/pom.xml"));
    assertThat(
            Project.all(
                "<artifactId>([^<]+)</artifactId>\\s*<version>"
                    + Project.version()
                    + "</version>\\s*</dependency>",
                bom))
        .containsExactlyInAnyOrderElementsOf(published);
  }

  @Test
  void everyPomHasTheVersion() throws IOException {
    for (String module : Project.modules()) {
      String pom = Files.readString(ROOT.resolve(module).resolve("pom.xml"));
      assertThat(
              Project.all(
                  "<parent>\\s*<groupId>io\\.firstseen</groupId>\\s*"
                      + "<artifactId>firstseen</artifactId>\\s*<version>([^<]+)<",
                  pom))
          .as(module)
          .containsExactly(Project.version());
    }
    // Projects of their own, which name it as users do.
    try (Stream<Path> examples = Files.walk(ROOT.resolve("examples"))) {
      for (Path pom : examples.filter(file -> file.endsWith("pom.xml")).toList()) {
        assertThat(Project.all("<firstseen\\.version>([^<]+)<", Files.readString(pom)))
            .as("%s", pom)
            .containsExactly(Project.version());
      }
    }
  }

  @Test
  void noPageNamesAnotherVersion() throws IOException {
    List<Path> files = new ArrayList<>(ReadmeTest.pages());
    files.remove(ROOT.resolve("CHANGELOG.md"));
    files.add(ROOT.resolve(".ci/run"));
    files.add(ROOT.resolve("docker-compose.yml"));
    try (Stream<Path> deployed = Files.walk(ROOT.resolve("deploy"))) {
      files.addAll(deployed.filter(Files::isRegularFile).toList());
    }
    List<String> named = new ArrayList<>();
    for (Path file : files) {
      for (String version : versions(Files.readString(file))) {
        named.add(version + " in " + file);
        assertThat(version).as("version in %s", file).isEqualTo(Project.version());
      }
    }
    assertThat(named)
        .contains(
            Project.version() + " in ../docs/tutorials/query-snapshots.md",
            Project.version() + " in ../docker-compose.yml",
            Project.version() + " in ../deploy/kubernetes/serve.yaml");
  }

  @Test
  void thePagesOfTheArchiveLinkOnlyToWhatIsInIt() throws IOException {
    List<PathMatcher> included =
        Project.all(
                "<include>([^<]+)</include>",
                Files.readString(ROOT.resolve("distribution/archive.xml")))
            .stream()
            .map(pattern -> FileSystems.getDefault().getPathMatcher("glob:" + pattern))
            .toList();
    List<Path> pages = new ArrayList<>();
    for (Path page : ReadmeTest.pages()) {
      if (isIn(ROOT.relativize(page), included)) {
        pages.add(page);
      }
    }
    assertThat(pages).contains(ROOT.resolve("README.md"), ROOT.resolve("docs/index.md"));
    List<String> outside = new ArrayList<>();
    for (Path page : pages) {
      for (Path target : ReadmeTest.linkedFiles(page)) {
        Path inside = ROOT.toAbsolutePath().normalize().relativize(target);
        if (!isIn(inside, included) && !isIn(inside.resolve("any"), included)) {
          outside.add(page + " links to " + inside);
        }
      }
    }
    assertThat(outside).isEmpty();
  }

  private static boolean isIn(Path file, List<PathMatcher> included) {
    return included.stream().anyMatch(pattern -> pattern.matches(file));
  }

  @ParameterizedTest
  @ValueSource(strings = {"examples/pipeline/pom.xml", "docs/tutorials/flink-job.md"})
  void anExampleProjectHasTheVersionsOfThePom(String file) throws IOException {
    String root = Files.readString(ROOT.resolve("pom.xml"));
    String example = Files.readString(ROOT.resolve(file));
    List<String> properties = Project.all("<([a-z0-9-]+\\.version)>", example);
    assertThat(properties).contains("firstseen.version", "flink.version", "maven-surefire.version");
    for (String property : properties) {
      assertThat(Project.all("<" + property + ">([^<]+)<", example))
          .as(property)
          .isEqualTo(
              property.equals("firstseen.version")
                  ? List.of(Project.version())
                  // Profiles follow, with older versions.
                  : Project.all("<" + property + ">([^<]+)<", root).subList(0, 1));
    }
  }

  @Test
  void theClientsHaveTheVersion() throws IOException {
    assertThat(
            Project.all(
                "(?m)^version = \"(.*)\"$",
                Files.readString(ROOT.resolve("clients/python/pyproject.toml"))))
        .containsExactly(Project.version().replace("-SNAPSHOT", ".dev0"));
    assertThat(
            Project.all(
                "(?m)^  \"version\": \"(.*)\",$",
                Files.readString(ROOT.resolve("clients/javascript/package.json"))))
        .containsExactly(Project.version().replace("-SNAPSHOT", "-dev"));
  }

  @Test
  void noPageOfAReleaseDeniesIt() throws IOException {
    String before =
        "The newest release is the tag `v0.1.0`. It is not on Maven Central yet, since\n"
            + "the artifacts are not on\nMaven Central yet.";
    assertThat(denials(before, "0.2.0")).hasSize(3);
    assertThat(denials("The newest release is the tag `v0.2.0`.", "0.2.0")).isEmpty();
    assertThat(denials(before, "0.2.0-SNAPSHOT")).isEmpty();
    for (Path page : ReadmeTest.pages()) {
      assertThat(denials(Files.readString(page), Project.version())).as("%s", page).isEmpty();
    }
  }

  /** Statements of a text that are no longer true after the release of this version. */
  private static List<String> denials(String text, String version) {
    if (version.endsWith("-SNAPSHOT")) {
      return List.of();
    }
    return Project.all(
        "(newest release is the tag `v(?!" + version + "`)|not\\s+on\\s+Maven\\s+Central\\s+yet)",
        text);
  }

  @Test
  void theArchiveLeavesOutWhatBuildsOfTheClientsMake() throws IOException {
    List<PathMatcher> excluded =
        Project.all(
                "<exclude>([^<]+)</exclude>",
                Files.readString(ROOT.resolve("distribution/archive.xml")))
            .stream()
            .map(pattern -> FileSystems.getDefault().getPathMatcher("glob:" + pattern))
            .toList();
    for (String ignored : Files.readAllLines(ROOT.resolve(".gitignore"))) {
      if (ignored.endsWith("/") && !ignored.startsWith("/") && !ignored.startsWith(".")) {
        String made = ignored.replace("*", "any") + "file";
        Path file = Path.of(made.startsWith("clients/") ? made : "clients/python/" + made);
        assertThat(isIn(file, excluded)).as("%s is left out", file).isTrue();
      }
    }
  }

  @Test
  void aVersionIsFoundInNamesOfFilesAndImagesAndInPoms() throws IOException {
    assertThat(
            versions(
                """
                flink run jobs/target/jobs-1.2.3-SNAPSHOT-job.jar, firstseen-1.2.4.tar.gz
                firstseen:1.2.5 <artifactId>bom</artifactId> <version>1.2.6</version>
                kafka_2.13-4.2.2.jar flink:2.2.1-scala_2.12 flink-connector-kafka-5.0.0-2.2
                """))
        .containsExactly("1.2.3-SNAPSHOT", "1.2.4", "1.2.5", "1.2.6");
  }

  /** The versions of this project that a text names. */
  private static List<String> versions(String text) throws IOException {
    List<String> names = new ArrayList<>(List.of("firstseen"));
    for (String module : Project.modules()) {
      names.add(ownName(Files.readString(ROOT.resolve(module).resolve("pom.xml"))));
    }
    return Project.all(
        "(?:\\b(?:"
            + String.join("|", names)
            + ")[-:]|<version>)(\\d+\\.\\d+\\.\\d+(?:-SNAPSHOT)?)",
        text);
  }

  /** The artifactId after the parent's artifactId. */
  private static String ownName(String pom) {
    return Project.all("<artifactId>([^<]+)</artifactId>", pom).get(1);
  }
}
