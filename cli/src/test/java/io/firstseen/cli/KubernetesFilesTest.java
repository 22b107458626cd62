package io.firstseen.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.fixtures.Project;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.HighAvailabilityOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import picocli.CommandLine;

/** The files for Kubernetes agree with the operator's schema, the code and each other. */
class KubernetesFilesTest {
  private static final Path ROOT = Path.of("..");
  private static final Path FILES = ROOT.resolve("deploy/kubernetes");
  private static final String DEDUP = "dedup-job.yaml";
  private static final String SNAPSHOTS = "snapshot-job.yaml";
  private static final String SERVE = "serve.yaml";
  private static final String SCHEMA = "META-INF/fabric8/flinkdeployments.flink.apache.org-v1.yml";

  @ParameterizedTest
  @ValueSource(strings = {DEDUP, SNAPSHOTS})
  void aJobFitsTheSchemaOfTheOperator(String file) throws IOException {
    Node job = only(file);
    assertThat(job.text("apiVersion")).isEqualTo("flink.apache.org/v1beta1");
    assertThat(job.text("kind")).isEqualTo("FlinkDeployment");
    assertThat(misfits(job.of("spec"), deploymentSchema().of("spec")))
        // The schema is of an operator that does not know this version of Flink.
        .containsExactly("flinkVersion is v2_2");
  }

  @Test
  void whatDoesNotFitTheSchemaShows() throws IOException {
    Node schema = deploymentSchema().of("spec");
    Node wrong =
        new Node(
            Map.of(
                "flinkVersion",
                "v1_20",
                "job",
                Map.of("jarUri", "x", "parallelism", "two", "upgradeMode", "savepoint"),
                "podTemplate",
                Map.of("spec", Map.of("containers", List.of(Map.of("image", List.of()))))));
    assertThat(misfits(wrong, schema))
        .containsExactlyInAnyOrder(
            "job.jarUri is not known",
            "job.parallelism is no integer",
            "podTemplate.spec.containers[0].image is no string");
  }

  @ParameterizedTest
  @ValueSource(strings = {DEDUP, SNAPSHOTS})
  void theOptionsOfAJobAreThoseOfTheCode(String file) throws Exception {
    Node spec = only(file).of("spec");
    Node job = spec.of("job");
    CommandLine.ParseResult options = parsed(job);
    assertThat(options.errors()).isEmpty();
    assertThat(options.matchedOptionValue("--parallelism", 0)).isEqualTo(job.value("parallelism"));
    assertThat(options.matchedOptionValue("--hash-key-on-workers", false)).isTrue();
    assertThat(options.hasMatchedOption("--take-over")).isFalse();
    assertThat(job.text("upgradeMode")).isEqualTo("savepoint");
    assertThat(options.matchedOption("--hash-key-file").stringValues().get(0))
        .startsWith(mountPath(container(spec.of("podTemplate")), "keys") + "/");
  }

  /** Two jobs of one id must not abort each other's transactions. */
  @Test
  void theJobsHavePrefixesAndDirectoriesOfTheirOwn() throws Exception {
    Set<String> prefixes = new TreeSet<>();
    Set<String> directories = new TreeSet<>();
    for (String file : List.of(DEDUP, SNAPSHOTS)) {
      Node spec = only(file).of("spec");
      prefixes.add(
          parsed(spec.of("job")).matchedOption("--transactional-id-prefix").stringValues().get(0));
      Node configuration = spec.of("flinkConfiguration");
      for (ConfigOption<?> directory :
          List.of(
              CheckpointingOptions.CHECKPOINTS_DIRECTORY,
              CheckpointingOptions.SAVEPOINT_DIRECTORY,
              HighAvailabilityOptions.HA_STORAGE_PATH)) {
        assertThat(configuration.text(directory.key()))
            .startsWith("file://" + mountPath(container(spec.of("podTemplate")), "state") + "/");
        directories.add(configuration.text(directory.key()));
      }
    }
    assertThat(prefixes).hasSize(2);
    assertThat(directories).hasSize(6);
  }

  @ParameterizedTest
  @ValueSource(strings = {DEDUP, SNAPSHOTS})
  void theConfigurationIsFlinks(String file) throws Exception {
    Set<String> known = new TreeSet<>();
    for (Class<?> options :
        List.of(
            CheckpointingOptions.class, HighAvailabilityOptions.class, TaskManagerOptions.class)) {
      for (Field field : options.getFields()) {
        if (field.getType() == ConfigOption.class) {
          known.add(((ConfigOption<?>) field.get(null)).key());
        }
      }
    }
    Node configuration = only(file).of("spec").of("flinkConfiguration");
    Pattern reporter = Pattern.compile("metrics\\.reporter\\.prometheus\\.(factory\\.class|port)");
    assertThat(configuration.names())
        .allMatch(key -> known.contains(key) || reporter.matcher(key).matches());
    // As docker-compose.yml, which DashboardTest checks.
    String line =
        "metrics.reporter.prometheus.factory.class: "
            + configuration.text("metrics.reporter.prometheus.factory.class");
    assertThat(Files.readString(ROOT.resolve("docker-compose.yml"))).contains(line);
  }

  @Test
  void theImageHasWhatIsStartedFromIt() throws IOException {
    String dockerfile = Files.readString(FILES.resolve("Dockerfile"));
    // Not every version of the operator supports the newer Flink.
    String flink =
        Project.all(
                "(?s)<id>flink-2.2</id>.*?<flink.version>([^<]+)<",
                Files.readString(Project.ROOT.resolve("pom.xml")))
            .get(0);
    String[] version = flink.split("\\.", -1);
    assertThat(dockerfile).contains("FROM flink:" + flink + "-scala_2.12-java17\n");
    String build = Project.version();
    assertThat(dockerfile)
        .contains("COPY jobs/target/jobs-" + build + "-job.jar ")
        .contains("COPY cli/target/cli-" + build + ".jar ");
    for (String file : List.of(DEDUP, SNAPSHOTS)) {
      Node spec = only(file).of("spec");
      assertThat(spec.text("flinkVersion")).isEqualTo("v" + version[0] + "_" + version[1]);
      assertThat(spec.text("image")).isEqualTo(image());
      assertThat(dockerfile)
          .contains(" " + spec.of("job").text("jarURI").replace("local://", "") + "\n")
          .contains("-t " + image() + " ");
    }
    List<?> command = (List<?>) serve().value("command");
    assertThat(dockerfile).contains(" " + command.get(command.size() - 1) + "\n");
  }

  @Test
  void theServiceFitsThePodsAndTheCommand() throws IOException {
    Node deployment = documents(SERVE).get(0);
    Node service = documents(SERVE).get(1);
    Node pod = deployment.of("spec").of("template");
    Node podSchema = deploymentSchema().of("spec").of("properties").of("podTemplate");
    assertThat(misfits(pod, podSchema)).isEmpty();
    assertThat(deployment.of("spec").of("selector").value("matchLabels"))
        .isEqualTo(pod.of("metadata").value("labels"));
    assertThat(service.of("spec").value("selector")).isEqualTo(pod.of("metadata").value("labels"));

    CommandLine.ParseResult options =
        Main.commandLineFor("serve").parseArgs(texts(serve().value("args"))).subcommand();
    assertThat(options.commandSpec().name()).isEqualTo("serve");
    Node port = new Node(((List<?>) serve().value("ports")).get(0));
    assertThat(options.matchedOptionValue("--port", 0)).isEqualTo(port.value("containerPort"));
    Node servicePort = new Node(((List<?>) service.of("spec").value("ports")).get(0));
    assertThat(servicePort.text("targetPort")).isEqualTo(port.text("name"));
    assertThat(options.matchedOption("--allow-host").stringValues())
        .contains(service.of("metadata").text("name"));
    int seconds = (int) pod.of("spec").value("terminationGracePeriodSeconds");
    assertThat(seconds)
        .isGreaterThan(
            seconds(options.matchedOption("--drain").stringValues().get(0))
                + seconds(options.matchedOption("--grace").stringValues().get(0)));
    assertThat(options.matchedOption("--hash-key-file").stringValues().get(0))
        .startsWith(mountPath(serve(), "keys") + "/");
    assertThat(options.matchedOption("--cache-dir").stringValues())
        .containsExactly(mountPath(serve(), "cache"));
    String paths = Files.readString(ROOT.resolve("docs/http-api.md"));
    for (String probe : List.of("livenessProbe", "readinessProbe")) {
      Node get = serve().of(probe).of("httpGet");
      assertThat(get.text("port")).isEqualTo(port.text("name"));
      assertThat(paths).contains("`GET " + get.text("path") + "`");
    }
  }

  /** Every volume that is mounted is there, and the secret is readable for its owner alone. */
  @Test
  void volumesAreDescribed() throws IOException {
    List<Node> pods =
        List.of(
            only(DEDUP).of("spec").of("podTemplate"),
            only(SNAPSHOTS).of("spec").of("podTemplate"),
            documents(SERVE).get(0).of("spec").of("template"));
    for (Node pod : pods) {
      Map<String, Node> volumes = new HashMap<>();
      for (Object volume : (List<?>) pod.of("spec").value("volumes")) {
        volumes.put(new Node(volume).text("name"), new Node(volume));
      }
      Set<String> mounted = new TreeSet<>();
      for (Object mount : (List<?>) container(pod).value("volumeMounts")) {
        mounted.add(new Node(mount).text("name"));
      }
      assertThat(mounted).isEqualTo(volumes.keySet());
      assertThat(volumes.get("keys").of("secret").value("defaultMode")).isEqualTo(0400);
      assertThat(volumes.get("keys").of("secret").text("secretName")).isEqualTo("firstseen-keys");
      assertThat(pod.of("spec").of("securityContext").value("fsGroup")).isEqualTo(9999);
    }
  }

  private static String image() throws IOException {
    return serve().text("image");
  }

  private static Node serve() throws IOException {
    return container(documents(SERVE).get(0).of("spec").of("template"));
  }

  private static Node container(Node pod) {
    return new Node(((List<?>) pod.of("spec").value("containers")).get(0));
  }

  private static String mountPath(Node container, String volume) {
    return ((List<?>) container.value("volumeMounts"))
        .stream()
            .map(Node::new)
            .filter(mount -> mount.text("name").equals(volume))
            .findFirst()
            .orElseThrow()
            .text("mountPath");
  }

  private static int seconds(String duration) {
    assertThat(duration).matches("\\d+s");
    return Integer.parseInt(duration.replace("s", ""));
  }

  /** The arguments of a job, as its main class parses them. */
  private static CommandLine.ParseResult parsed(Node job) throws Exception {
    Constructor<?> arguments =
        Class.forName(job.text("entryClass") + "$Arguments").getDeclaredConstructor();
    arguments.setAccessible(true);
    return new CommandLine(arguments.newInstance())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .parseArgs(texts(job.value("args")));
  }

  private static String[] texts(Object list) {
    return ((List<?>) list).stream().map(String.class::cast).toArray(String[]::new);
  }

  private static Node only(String file) throws IOException {
    List<Node> documents = documents(file);
    assertThat(documents).hasSize(1);
    return documents.get(0);
  }

  private static List<Node> documents(String file) throws IOException {
    Iterable<Object> all =
        new Yaml(new SafeConstructor(new LoaderOptions()))
            .loadAll(Files.readString(FILES.resolve(file)));
    return StreamSupport.stream(all.spliterator(), false).map(Node::new).toList();
  }

  /** The schema of a FlinkDeployment, by the names of its properties. */
  private static Node deploymentSchema() throws IOException {
    LoaderOptions large = new LoaderOptions();
    large.setCodePointLimit(16 << 20);
    try (InputStream in = KubernetesFilesTest.class.getClassLoader().getResourceAsStream(SCHEMA)) {
      Node definition =
          new Node(
              new Yaml(new SafeConstructor(large))
                  .load(new String(in.readAllBytes(), StandardCharsets.UTF_8)));
      Node version = new Node(((List<?>) definition.of("spec").value("versions")).get(0));
      return version.of("schema").of("openAPIV3Schema").of("properties");
    }
  }

  /** What of a value the schema does not allow. */
  private static List<String> misfits(Node value, Node schema) {
    List<String> misfits = new ArrayList<>();
    check("", value.object(), schema, misfits);
    return misfits;
  }

  private static void check(String at, Object value, Node schema, List<String> misfits) {
    if (Boolean.TRUE.equals(schema.value("x-kubernetes-int-or-string"))) {
      if (!(value instanceof Integer || value instanceof String)) {
        misfits.add(at + " is neither integer nor string");
      }
      return;
    }
    String type = (String) schema.value("type");
    boolean isOfType =
        switch (type == null ? "" : type) {
          case "object" -> value instanceof Map;
          case "array" -> value instanceof List;
          case "string" -> value instanceof String;
          case "integer" -> value instanceof Integer;
          case "number" -> value instanceof Number;
          case "boolean" -> value instanceof Boolean;
          default -> true;
        };
    if (!isOfType) {
      misfits.add(at + " is no " + type);
    } else if (schema.value("enum") instanceof List<?> allowed && !allowed.contains(value)) {
      misfits.add(at + " is " + value);
    } else if (value instanceof List<?> items) {
      for (int i = 0; i < items.size(); i++) {
        check(at + "[" + i + "]", items.get(i), schema.of("items"), misfits);
      }
    } else if (value instanceof Map<?, ?> fields) {
      fields.forEach((name, field) -> checkField(at, (String) name, field, schema, misfits));
    }
  }

  private static void checkField(
      String at, String name, Object value, Node schema, List<String> misfits) {
    String path = at.isEmpty() ? name : at + "." + name;
    if (schema.value("properties") instanceof Map<?, ?> properties
        && properties.get(name) != null) {
      check(path, value, new Node(properties.get(name)), misfits);
    } else if (schema.value("additionalProperties") instanceof Map<?, ?> any) {
      check(path, value, new Node(any), misfits);
    } else if (!Boolean.TRUE.equals(schema.value("x-kubernetes-preserve-unknown-fields"))) {
      misfits.add(path + " is not known");
    }
  }

  /** A mapping of a YAML file. */
  private record Node(Object object) {
    Object value(String name) {
      return ((Map<?, ?>) object).get(name);
    }

    Node of(String name) {
      Object value = value(name);
      assertThat(value).as(name).isNotNull();
      return new Node(value);
    }

    String text(String name) {
      return (String) value(name);
    }

    Set<String> names() {
      Set<String> names = new TreeSet<>();
      ((Map<?, ?>) object).keySet().forEach(name -> names.add((String) name));
      return names;
    }
  }
}
