package io.firstseen.faults;

import io.firstseen.cli.processes.ClassPath;
import io.firstseen.cli.processes.LocalProcess.Command;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Programs of the parts. */
final class Jvm {
  /**
   * What the job jar must bring along, by the names of the files. The command is there since it
   * starts the processes.
   */
  private static final Pattern NOT_FLINK =
      Pattern.compile(
          "(filters|state-serializers|operators|jobs|snapshot-consumer|snapshot-server|faults"
              + "|testing|siphash|hash4j|crawler-commons|jackson|avro|protobuf-java|picocli|kafka"
              + "|flink-connector-kafka|flink-connector-base|micrometer|prometheus)[-_].*");

  /** For programs that start often, and do little. */
  static final List<String> SMALL = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

  private final List<String> common = new ArrayList<>();

  /**
   * @param logConfiguration the logging configuration of all processes
   * @param options of all
   */
  Jvm(Path logConfiguration, List<String> options) {
    common.add("-Dlog4j2.configurationFile=" + logConfiguration);
    common.addAll(options);
  }

  /** A main class with all that this program has on its class path. */
  Command ours(int heapMebibytes, String main, List<String> arguments) throws IOException {
    return program(heapMebibytes, ClassPath.ofThisJvm(), List.of(), main, arguments, Map.of());
  }

  /** A main class of Flink, with Flink alone on its class path. */
  Command flink(int heapMebibytes, String main, List<String> arguments) throws IOException {
    return flink(heapMebibytes, List.of(), main, arguments, Map.of());
  }

  /** The same with more options of the JVM, and with an environment. */
  Command flink(
      int heapMebibytes,
      List<String> options,
      String main,
      List<String> arguments,
      Map<String, String> environment)
      throws IOException {
    List<String> withModules = new ArrayList<>(options);
    // As in Flink's default configuration.
    withModules.add("--add-opens=java.base/java.util=ALL-UNNAMED");
    withModules.add("--add-opens=java.base/java.lang=ALL-UNNAMED");
    // For a machine that is busy. Flink's pekko.startup-timeout does not reach Pekko.
    withModules.add("-Dpekko.remote.classic.startup-timeout=120s");
    List<Path> flinkAlone =
        ClassPath.ofThisJvm().stream()
            .filter(jar -> jar.toString().endsWith(".jar"))
            .filter(jar -> !NOT_FLINK.matcher(jar.getFileName().toString()).matches())
            .toList();
    return program(heapMebibytes, flinkAlone, withModules, main, arguments, environment);
  }

  private Command program(
      int heapMebibytes,
      List<Path> classPath,
      List<String> options,
      String main,
      List<String> arguments,
      Map<String, String> environment) {
    List<String> all = new ArrayList<>(common);
    all.add("-Xmx" + heapMebibytes + "m");
    all.addAll(options);
    return Command.java(main, classPath, all, arguments, environment);
  }
}
