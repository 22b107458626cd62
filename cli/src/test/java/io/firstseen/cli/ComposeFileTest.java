package io.firstseen.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.fixtures.Project;
import io.firstseen.jobs.options.ChangelogOptions;
import io.firstseen.jobs.options.DedupOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.KeyOptions;
import io.firstseen.jobs.options.SnapshotOptions;
import io.firstseen.jobs.options.StreamOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.HighAvailabilityOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.apache.kafka.common.utils.AppInfoParser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * Checks that docker-compose.yml and its script agree with the rest of the project, and runs the
 * script.
 */
class ComposeFileTest {

  private static final Path ROOT = Path.of("..");
  private static final Path SCRIPT = ROOT.resolve("docker/submit-job.sh").toAbsolutePath();
  private static final Map<String, Map<String, Object>> SERVICES = services();

  /** The images have the versions with which the project is built and tested. */
  @Test
  void everyImageIsPinned() throws IOException {
    String flink = EnvironmentInformation.getVersion();
    String storage =
        Project.all("<s3proxy.version>([^<]+)<", Files.readString(ROOT.resolve("pom.xml"))).get(0);
    Set<String> images =
        SERVICES.values().stream()
            .map(service -> (String) service.get("image"))
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(images)
        .hasSize(6)
        .contains(
            "flink:" + flink + "-scala_2.12-java17",
            "apache/kafka:" + AppInfoParser.getVersion(),
            "andrewgaul/s3proxy:s3proxy-" + storage)
        .allMatch(image -> image.matches("[a-z0-9/-]+:.*\\d+\\.\\d+\\.\\d+.*"));
    assertThat(environment("taskmanager"))
        .containsEntry("ENABLE_BUILT_IN_PLUGINS", "flink-s3-fs-hadoop-" + flink + ".jar");
  }

  /** Docker makes an empty directory in the place of a file that is not there. */
  @Test
  void whatIsMountedIsThere() throws IOException {
    Set<String> mounted = new TreeSet<>();
    Set<String> named = new TreeSet<>();
    SERVICES.forEach(
        (name, service) ->
            strings(service.get("volumes"))
                .forEach(
                    volume -> {
                      String place = volume.substring(0, volume.indexOf(':'));
                      if (place.startsWith("./")) {
                        mounted.add(place.substring(2));
                      } else {
                        named.add(place);
                      }
                    }));
    assertThat(mounted)
        .contains(
            "docker/submit-job.sh",
            "deploy/prometheus",
            "jobs/target/jobs-" + Project.version() + "-job.jar")
        .allSatisfy(
            path ->
                assertThat(path.contains("target") || Files.exists(ROOT.resolve(path)))
                    .as(path)
                    .isTrue());
    assertThat(((Map<?, ?>) file().get("volumes")).keySet().stream().map(String::valueOf))
        .containsExactlyInAnyOrderElementsOf(named);
    assertThat(strings(SERVICES.get("serve").get("entrypoint")))
        .contains("/firstseen/cli/cli-" + Project.version() + ".jar");
  }

  @Test
  void everyPortIsBoundToLocalhost() {
    List<String> ports =
        SERVICES.values().stream()
            .flatMap(service -> strings(service.get("ports")).stream())
            .toList();
    assertThat(ports).hasSize(5).allMatch(port -> port.matches("127\\.0\\.0\\.1:(\\d+):\\1"));
  }

  @Test
  void whatRunsOnHasAHealthCheckAndIsStartedAgain() {
    SERVICES.forEach(
        (name, service) -> {
          assertThat(service.containsKey("restart")).as(name).isEqualTo(runsOn(name));
          assertThat(service.containsKey("healthcheck")).as(name).isEqualTo(runsOn(name));
          ((Map<?, ?>) service.getOrDefault("depends_on", Map.of()))
              .forEach(
                  (other, how) ->
                      assertThat(((Map<?, ?>) how).get("condition"))
                          .as("%s of %s", other, name)
                          .isEqualTo(
                              runsOn((String) other)
                                  ? "service_healthy"
                                  : "service_completed_successfully"));
        });
    assertThat(SERVICES.get("serve")).containsEntry("user", "flink");
  }

  private static boolean runsOn(String service) {
    return !Set.of("events-topic", "buckets", "dedup-job", "snapshot-job").contains(service);
  }

  @Test
  void everyOptionIsOneOfTheCode() {
    Map<String, Object> jobs = Map.of("dedup-job", new Dedup(), "snapshot-job", new Snapshots());
    jobs.forEach(
        (name, options) -> {
          List<String> entry = strings(SERVICES.get(name).get("entrypoint"));
          assertThat(entry.get(2))
              .isIn("io.firstseen.jobs.DedupJob", "io.firstseen.jobs.SnapshotJob");
          assertThat(parsed(new CommandLine(options), command(name))).as(name).isTrue();
        });
    assertThat(parsed(Main.commandLineFor("serve"), command("serve"))).isTrue();
  }

  private static boolean parsed(CommandLine command, List<String> words) {
    return command.parseArgs(words.toArray(String[]::new)).errors().isEmpty();
  }

  private static String after(List<String> words, String option) {
    return words.get(words.indexOf(option) + 1);
  }

  @Test
  void theNamesOfTheJobsAreThoseThatTheyHave() throws IOException {
    for (String name : List.of("dedup-job", "snapshot-job")) {
      List<String> entry = strings(SERVICES.get(name).get("entrypoint"));
      Path source = ROOT.resolve("jobs/src/main/java/" + entry.get(2).replace('.', '/') + ".java");
      assertThat(Files.readString(source)).contains("\"" + entry.get(3) + "\"");
    }
  }

  /** The job fails without its input topic, and the broker does not create topics automatically. */
  @Test
  void theTopicOfEventsIsMade() {
    assertThat(after(command("events-topic"), "--topic"))
        .isEqualTo(
            KafkaOptions.parse("--bootstrap-servers", "kafka:19092").events().topics().get(0));
  }

  @Test
  void flinksSettingsAreOptionsOfFlink() {
    Map<String, Object> settings =
        new Yaml().load((String) environment("jobmanager").get("FLINK_PROPERTIES"));
    assertThat(settings.keySet().stream().filter(name -> !name.matches("(s3|metrics)\\..*")))
        .containsExactlyInAnyOrder(
            JobManagerOptions.ADDRESS.key(),
            TaskManagerOptions.NUM_TASK_SLOTS.key(),
            TaskManagerOptions.TOTAL_PROCESS_MEMORY.key(),
            HighAvailabilityOptions.HA_MODE.key(),
            HighAvailabilityOptions.HA_ZOOKEEPER_QUORUM.key(),
            HighAvailabilityOptions.HA_CLUSTER_ID.key(),
            HighAvailabilityOptions.HA_STORAGE_PATH.key(),
            CheckpointingOptions.CHECKPOINTS_DIRECTORY.key(),
            CheckpointingOptions.SAVEPOINT_DIRECTORY.key());
    // The variables that the object storage tests set, whose keys are also in the environment.
    assertThat(settings.keySet().stream().filter(name -> name.startsWith("s3.")))
        .containsExactlyInAnyOrder("s3.endpoint", "s3.endpoint.region", "s3.path.style.access");
    assertThat(settings.toString()).doesNotContain("secret").doesNotContain("HASH_KEY");
  }

  @Test
  void everyVariableIsExplainedAndKnown() throws IOException {
    String compose = Files.readString(ROOT.resolve("docker-compose.yml"));
    Set<String> used = new TreeSet<>(Project.all("\\$\\{(\\w+)[:}]", compose));
    Map<String, String> example = new TreeMap<>();
    for (String line : Files.readAllLines(ROOT.resolve(".env.example"))) {
      if (!line.isBlank() && !line.startsWith("#")) {
        String[] parts = line.split("=", 2);
        example.put(parts[0], parts[1]);
      }
    }
    assertThat(example.keySet()).isEqualTo(used);
    // The repository does not contain secrets, and no variable is missing by mistake.
    Pattern secret = Pattern.compile(".*(KEY|SECRET|PASSWORD).*");
    example.forEach(
        (name, value) -> {
          if (secret.matcher(name).matches()) {
            assertThat(value).as(name).isEmpty();
            assertThat(compose).contains("${" + name + ":?").doesNotContain("${" + name + "}");
          }
        });
    assertThat(Files.readAllLines(ROOT.resolve(".gitignore"))).contains(".env");
    String sources = sources();
    SERVICES.keySet().stream()
        .flatMap(name -> environment(name).keySet().stream())
        .filter(name -> name.startsWith("FIRSTSEEN_"))
        .forEach(name -> assertThat(sources).contains("\"" + name + "\""));
  }

  private static String sources() throws IOException {
    StringBuilder text = new StringBuilder();
    for (String module : List.of("jobs", "cli")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(module + "/src/main/java"))) {
        for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
          text.append(Files.readString(file));
        }
      }
    }
    return text.toString();
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void aJobIsSubmittedUnlessItIsThere(@TempDir Path directory) throws Exception {
    String submitted = "run --detached --jobmanager jobmanager:8081 --class C " + SCRIPT + " --x\n";
    assertThat(submit(directory, SCRIPT, "{\"jobs\":[]}", "")).isEqualTo(submitted);
    String others = job("firstseen-snapshots", "RUNNING");
    String ended = job("firstseen-dedup", "CANCELED") + "," + job("firstseen-dedup", "FAILED");
    assertThat(submit(directory, SCRIPT, "{\"jobs\":[" + others + "," + ended + "]}", ""))
        .isEqualTo(submitted);
    for (String state : List.of("RUNNING", "RESTARTING", "INITIALIZING")) {
      String jobs = ended + "," + job("firstseen-dedup", state) + "," + others;
      assertThat(submit(directory, SCRIPT, "{\"jobs\":[" + jobs + "]}", ""))
          .isEqualTo("firstseen-dedup is there already\n");
    }
    assertThat(submit(directory, SCRIPT, "{\"jobs\":[]}", "s3://state/savepoints/a"))
        .contains(" --fromSavepoint s3://state/savepoints/a --class ");
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void withoutItsJarTheJobSaysWhatToDo(@TempDir Path empty) throws Exception {
    assertThat(submit(empty, empty, "{\"jobs\":[]}", "")).startsWith("no job jar: build it");
  }

  /** As Flink's REST interface lists it. */
  private static String job(String name, String state) {
    return "{\"jid\":\"1\",\"name\":\"%s\",\"start-time\":1,\"state\":\"%s\",\"tasks\":{\"total\":1}}"
        .formatted(name, state);
  }

  /** What the script prints when Flink's command prints its arguments. */
  private static String submit(Path directory, Path jar, String jobs, String from)
      throws Exception {
    Path fetch = directory.resolve("fetch");
    Files.writeString(fetch, "#!/bin/sh\necho '" + jobs + "'\n");
    assertThat(fetch.toFile().setExecutable(true)).isTrue();
    List<String> command = new ArrayList<>();
    Collections.addAll(command, "bash", SCRIPT.toString(), "C", "firstseen-dedup", "--x");
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder
        .environment()
        .putAll(
            Map.of(
                "JOB_JAR",
                jar.toString(),
                "FETCH",
                fetch.toString(),
                "FLINK",
                "echo",
                "FROM",
                from));
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    return output;
  }

  @Command
  @SuppressWarnings("UnusedVariable") // picocli reads the options of their types
  private static final class Dedup {
    @Mixin private KeyOptions keys;
    @Mixin private StreamOptions stream;
    @Mixin private DedupOptions dedup;
    @Mixin private KafkaOptions kafka;
  }

  @Command
  @SuppressWarnings("UnusedVariable") // picocli reads the options of their types
  private static final class Snapshots {
    @Mixin private KeyOptions keys;
    @Mixin private StreamOptions stream;
    @Mixin private ChangelogOptions changelog;
    @Mixin private SnapshotOptions snapshots;
    @Mixin private KafkaOptions kafka;
  }

  private static Map<String, Object> file() {
    try {
      return new Yaml().load(Files.readString(ROOT.resolve("docker-compose.yml")));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Map<String, Object>> services() {
    return (Map<String, Map<String, Object>>) file().get("services");
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> environment(String service) {
    return (Map<String, Object>) SERVICES.get(service).getOrDefault("environment", Map.of());
  }

  /** The words of its command, with the defaults of variables. */
  private static List<String> command(String service) {
    return strings(SERVICES.get(service).get("command")).stream()
        .map(word -> word.replaceAll("\\$\\{\\w+:-([^}]*)\\}", "$1"))
        .toList();
  }

  private static List<String> strings(Object list) {
    return list == null ? List.of() : ((List<?>) list).stream().map(String::valueOf).toList();
  }
}
