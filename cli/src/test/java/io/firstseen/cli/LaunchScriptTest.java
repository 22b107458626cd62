package io.firstseen.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.firstseen.cli.shared.ExitCode;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The launch script in a small project of its own, with fake java and mvn commands that record
 * their calls.
 */
@DisabledOnOs(OS.WINDOWS)
class LaunchScriptTest {

  private static final List<String> TOOLS =
      List.of(
          "sh",
          "dirname",
          "find",
          "head",
          "locale",
          "ls",
          "mkdir",
          "mktemp",
          "readlink",
          "rm",
          "sed",
          "touch");

  @TempDir private Path temporary;
  private Path project;
  private Path source;
  private Path bin;
  private Path mavenCalls;

  /** The output and exit status of a run of the script. */
  private record Result(int exitCode, List<String> out, List<String> err) {}

  @BeforeEach
  void makeProject() throws IOException {
    project = Files.createDirectories(temporary.resolve("a project"));
    Files.copy(Path.of("..", "firstseen"), project.resolve("firstseen"));
    Files.createFile(project.resolve("pom.xml"));
    source = Files.createDirectories(project.resolve("cli/src/main")).resolve("Main.java");
    Files.createFile(source);
    Files.createFile(project.resolve("cli/pom.xml"));
    Files.createDirectories(project.resolve("clients/javascript/lib"));
    Files.createFile(project.resolve("clients/javascript/index.js"));
    Files.createDirectories(project.resolve("deploy/prometheus"));
    mavenCalls = temporary.resolve("maven-calls");

    bin = Files.createDirectory(temporary.resolve("bin"));
    for (String tool : TOOLS) {
      passOn(tool);
    }
    java("17.0.15");
    executable(
        "mvn",
        """
        echo "$PWD $*" >> '%s'
        mkdir -p cli/target && echo jar > cli/target/cli-1.jar
        """
            .formatted(mavenCalls));
  }

  @Test
  void buildsOnceAndPassesEveryWordOn() throws Exception {
    Result first = run(Map.of(), "run", "--input", "a file", "", "*");
    assertThat(first.err()).singleElement().asString().startsWith("firstseen: building, once");
    assertThat(first.exitCode()).isEqualTo(7);
    String jar = project.toRealPath().resolve("cli/target/cli-1.jar").toString();
    assertThat(first.out()).endsWith("-jar", jar, "run", "--input", "a file", "", "*");

    Result second = run(Map.of(), "--version");
    assertThat(second.err()).isEmpty();
    assertThat(second.out()).endsWith("-jar", jar, "--version");
    assertThat(Files.readAllLines(mavenCalls))
        .singleElement()
        .asString()
        .startsWith(project.toRealPath() + " ")
        .contains("-pl cli -am package -DskipTests");
  }

  @Test
  void buildsNothingInADistribution() throws Exception {
    Path jar = Files.createDirectory(project.resolve("command")).resolve("cli-1.2.3.jar");
    Files.createFile(jar);
    Files.delete(project.resolve("pom.xml"));
    Files.delete(bin.resolve("mvn"));
    Result result = run(Map.of(), "--version");
    assertThat(result.err()).isEmpty();
    assertThat(result.out()).endsWith("-jar", jar.toRealPath().toString(), "--version");
  }

  @Test
  void passesOverJarsOfSourcesAndJavadoc() throws Exception {
    run(Map.of());
    for (String jar : List.of("cli-1-sources.jar", "cli-1-javadoc.jar")) {
      FileTime later = FileTime.from(Instant.now().plusSeconds(60));
      Path made = Files.createFile(project.resolve("cli/target").resolve(jar));
      Files.setLastModifiedTime(made, later);
    }
    Result result = run(Map.of());
    assertThat(result.err()).isEmpty();
    assertThat(result.out().get(result.out().size() - 1)).endsWith("/cli-1.jar");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "cli/src/main/Main.java",
        "clients/javascript/index.js",
        "clients/javascript/lib/set.js",
        "deploy/prometheus/alerts.yml"
      })
  void buildsAgainWhenASourceIsNewer(String newer) throws Exception {
    run(Map.of());
    Path changed = project.resolve(newer);
    if (!Files.exists(changed)) {
      Files.createFile(changed);
    }
    Files.setLastModifiedTime(changed, FileTime.from(Instant.now().plusSeconds(60)));
    assertThat(run(Map.of()).err()).hasSize(1);
    assertThat(Files.readAllLines(mavenCalls)).hasSize(2);
  }

  @Test
  void aSourceThatChangedDuringTheBuildIsBuiltNextTime() throws Exception {
    passOn("sleep");
    String change = "sleep 0.05; touch '%s'; sleep 0.05; touch cli/target/cli-1.jar%n";
    Files.writeString(bin.resolve("mvn"), change.formatted(source), StandardOpenOption.APPEND);
    run(Map.of());
    run(Map.of());
    assertThat(Files.readAllLines(mavenCalls)).hasSize(2);
  }

  @Test
  void startsAtOnceBuildOnce() throws Exception {
    assumeTrue(exists("flock"), "flock is not installed");
    passOn("flock");
    passOn("sleep");
    String build = Files.readString(bin.resolve("mvn"));
    Files.writeString(bin.resolve("mvn"), build.replace("mkdir", "sleep 0.3; mkdir"));
    List<CompletableFuture<Result>> starts = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      starts.add(
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return run(Map.of(), "x");
                } catch (Exception e) {
                  throw new CompletionException(e);
                }
              }));
    }
    for (CompletableFuture<Result> start : starts) {
      assertThat(start.get().exitCode()).isEqualTo(7);
    }
    assertThat(Files.readAllLines(mavenCalls)).hasSize(1);
  }

  @Test
  void worksThroughSymbolicLinksFromAnywhere() throws Exception {
    Path link = Files.createSymbolicLink(temporary.resolve("link"), project.resolve("firstseen"));
    Path relative =
        Files.createSymbolicLink(
            Files.createDirectory(temporary.resolve("links")).resolve("fs"), Path.of("../link"));
    for (Path script : List.of(link, relative)) {
      Result result = run(Map.of(), script, "x");
      assertThat(result.exitCode()).isEqualTo(7);
      assertThat(result.out()).endsWith("x");
    }
    assertThat(Files.readAllLines(mavenCalls)).hasSize(1);
  }

  @Test
  void refusesAnOldJavaInOneLine() throws Exception {
    java("11.0.2");
    assertRefused(run(Map.of()), bin.resolve("java") + " is Java 11.0.2, 17 or newer is needed");
    java("1.8.0_402");
    assertRefused(run(Map.of()), bin.resolve("java") + " is Java 1.8.0_402, 17 or newer is needed");
  }

  @Test
  void saysWhatIsMissing() throws Exception {
    Files.delete(bin.resolve("mvn"));
    assertRefused(
        run(Map.of()), "no mvn found: Maven, 3.8 or newer, builds the command on its first use");
    Files.delete(bin.resolve("java"));
    assertRefused(run(Map.of()), "no java found: install a JDK, 17 or newer, or set JAVA_HOME");
    assertRefused(
        run(Map.of("JAVA_HOME", "/no/jdk")),
        "JAVA_HOME is /no/jdk, but there is no bin/java in it");
  }

  @Test
  void aFailedBuildIsAnErrorAndIsTriedAgain() throws Exception {
    executable("mvn", "echo '[ERROR] broken'; exit 1\n");
    Result result = run(Map.of());
    assertThat(result.exitCode()).isEqualTo(ExitCode.PROGRAM);
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).endsWith("[ERROR] broken", "firstseen: the build failed, see above");
    assertThat(run(Map.of()).exitCode()).isEqualTo(ExitCode.PROGRAM);
  }

  @Test
  void theEnvironmentPicksTheJavaAndItsOptions() throws Exception {
    Path jdk = Files.createDirectories(temporary.resolve("jdk/bin")).getParent();
    java("25.0.3");
    Files.move(bin.resolve("java"), jdk.resolve("bin/java"));
    Result result =
        run(
            Map.of(
                "JAVA_HOME", jdk.toString(),
                "JAVA_OPTS", "-Xmx1g -Da=b",
                "FIRSTSEEN_JAVA_OPTS", "-Xmx2g"));
    assertThat(result.out())
        .containsSubsequence(
            "--sun-misc-unsafe-memory-access=allow", "-Xmx1g", "-Da=b", "-Xmx2g", "-jar");
  }

  @Test
  void olderJavasGetNoOptionThatTheyDoNotKnow() throws Exception {
    assertThat(run(Map.of()).out()).noneMatch(word -> word.startsWith("--"));
  }

  private static void assertRefused(Result result, String sentence) {
    assertThat(result.err()).containsExactly("firstseen: " + sentence);
    assertThat(result.out()).isEmpty();
    assertThat(result.exitCode()).isEqualTo(ExitCode.USAGE);
  }

  private Result run(Map<String, String> environment, String... words) throws Exception {
    return run(environment, project.resolve("firstseen"), words);
  }

  private Result run(Map<String, String> environment, Path script, String... words)
      throws Exception {
    List<String> command = new ArrayList<>(List.of(script.toString()));
    Collections.addAll(command, words);
    Path out = Files.createTempFile(temporary, "out", "");
    Path err = Files.createTempFile(temporary, "err", "");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(temporary.toFile())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    builder.environment().clear();
    builder.environment().put("PATH", bin.toString());
    builder.environment().putAll(environment);
    Process process = builder.start();
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    return new Result(process.exitValue(), Files.readAllLines(out), Files.readAllLines(err));
  }

  /** A fake java that prints its arguments, one per line, and exits with 7. */
  private void java(String version) throws IOException {
    executable(
        "java",
        """
        if [ "$1" = -version ]; then
          echo 'openjdk version "%s" 2025-04-15' >&2
          exit
        fi
        for word in "$@"; do echo "$word"; done
        exit 7
        """
            .formatted(version));
  }

  private void passOn(String tool) throws IOException {
    executable(tool, "exec " + find(tool) + " \"$@\"\n");
  }

  private void executable(String name, String body) throws IOException {
    Path file = bin.resolve(name);
    Files.writeString(file, "#!" + find("sh") + "\n" + body, StandardCharsets.UTF_8);
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }

  private static Path find(String tool) {
    return candidates(tool)
        .filter(Files::isExecutable)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no " + tool + " in the PATH"));
  }

  private static boolean exists(String tool) {
    return candidates(tool).anyMatch(Files::isExecutable);
  }

  private static Stream<Path> candidates(String tool) {
    return Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
        .map(directory -> Path.of(directory, tool));
  }
}
