package io.firstseen.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.jobs.options.KafkaOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.apache.kafka.common.utils.AppInfoParser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Checks that docker-compose.yml and its script agree with the rest of the project, and runs the
 * script.
 */
class ComposeFileTest {

  private static final Path ROOT = Path.of("..");
  private static final Path SCRIPT = ROOT.resolve("docker/start-job.sh").toAbsolutePath();

  @Test
  void imagesAreOfTheVersionsThatTheProjectIsBuiltWith() throws IOException {
    assertThat(all("image: ((?:flink|apache)\\S+)"))
        .containsOnly(
            "flink:" + EnvironmentInformation.getVersion() + "-scala_2.12-java17",
            "apache/kafka:" + AppInfoParser.getVersion());
  }

  @Test
  void theJobJarIsTheOneThatTheBuildMakes() throws IOException {
    assertThat(all("- \\./(\\S+?\\.jar):"))
        .containsExactly("jobs/target/jobs-" + Project.version() + "-job.jar");
  }

  /**
   * The job refuses to start without its input topic, and the broker does not create topics
   * automatically.
   */
  @Test
  void theTopicOfEventsIsMade() throws IOException {
    assertThat(all("\"--create\".*\"--topic\", \"([^\"]+)\""))
        .containsExactlyElementsOf(
            KafkaOptions.parse("--bootstrap-servers", "kafka:19092").eventsTopics());
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void theJobStartsFromTheNewestCheckpointOrSavepoint(@TempDir Path checkpoints) throws Exception {
    assertThat(startJob(checkpoints, SCRIPT, "--parallelism", "2"))
        .isEqualTo(
            "standalone-job --job-classname io.firstseen.jobs.PipelineJob -- --parallelism 2\n");

    checkpoint(checkpoints.resolve("a/chk-7"), 2000);
    checkpoint(checkpoints.resolve("savepoints/savepoint-1"), 3000);
    checkpoint(checkpoints.resolve("b/chk-5"), 1000);
    // Not completed.
    Files.createDirectories(checkpoints.resolve("b/chk-6"));
    assertThat(startJob(checkpoints, SCRIPT))
        .contains(" --fromSavepoint " + checkpoints.resolve("savepoints/savepoint-1") + " --");
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void withoutItsJarTheJobSaysWhatToDo(@TempDir Path empty) throws Exception {
    assertThat(startJob(empty, empty)).startsWith("no job jar: build it");
  }

  /** Docker makes an empty directory in the place of a file that is not there. */
  @Test
  void whatIsMountedIsThere() throws IOException {
    List<String> mounted = all("- \\./([^:]+):");
    assertThat(mounted).contains("docker/start-job.sh", "deploy/prometheus");
    assertThat(mounted)
        .allSatisfy(
            path ->
                assertThat(path.contains("target") || Files.exists(ROOT.resolve(path)))
                    .as(path)
                    .isTrue());
  }

  @Test
  void theServiceIsNotRoot() throws IOException {
    assertThat(all("\n  serve:\n(?: {4}.*\n)*? {4}user: (\\S+)")).containsExactly("flink");
  }

  private static void checkpoint(Path directory, long completedMillis) throws IOException {
    Files.createDirectories(directory);
    Files.setLastModifiedTime(
        Files.createFile(directory.resolve("_metadata")), FileTime.fromMillis(completedMillis));
  }

  /** The arguments that the script passes to the image's entry point, or its message. */
  private static String startJob(Path checkpoints, Path jar, String... words) throws Exception {
    List<String> command = new ArrayList<>(List.of("bash", SCRIPT.toString()));
    Collections.addAll(command, words);
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder
        .environment()
        .putAll(
            Map.of(
                "CHECKPOINTS",
                checkpoints.toString(),
                "JOB_JAR",
                jar.toString(),
                "FLINK_ENTRYPOINT",
                "echo"));
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    return output;
  }

  private static List<String> all(String regex) throws IOException {
    return Pattern.compile(regex)
        .matcher(Files.readString(ROOT.resolve("docker-compose.yml")))
        .results()
        .map(match -> match.group(1))
        .distinct()
        .toList();
  }
}
