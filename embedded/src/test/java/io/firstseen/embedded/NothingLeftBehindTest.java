package io.firstseen.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A JVM that closes its broker and its cluster exits by itself and leaves no temporary file. */
class NothingLeftBehindTest {

  @Tag("slow")
  @Test
  void theJvmEndsAndItsTemporaryDirectoryIsEmpty(@TempDir Path temporary, @TempDir Path data)
      throws Exception {
    Process process =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx512m",
                "-Djava.io.tmpdir=" + temporary,
                "-Dlog4j2.configurationFile=" + System.getProperty("log4j2.configurationFile"),
                "-cp",
                System.getProperty("java.class.path"),
                BrokerAndCluster.class.getName(),
                data.toString())
            .inheritIO()
            .start();
    try {
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).as("ends by itself").isTrue();
      assertThat(process.exitValue()).isZero();
    } finally {
      process.destroyForcibly();
    }
    assertThat(entries(temporary)).isEmpty();
    assertThat(entries(data.resolve("cluster"))).containsExactly("savepoints");
  }

  private static List<String> entries(Path directory) throws IOException {
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.map(entry -> entry.getFileName().toString()).toList();
    }
  }

  /** The main method of the child process. */
  static final class BrokerAndCluster {

    public static void main(String[] args) throws Exception {
      Path data = Path.of(args[0]);
      EmbeddedCluster.Settings settings =
          EmbeddedCluster.Settings.defaults().with(StateBackendOptions.STATE_BACKEND, "rocksdb");
      try (EmbeddedBroker broker =
              EmbeddedBroker.start(data.resolve("broker"), EmbeddedBroker.Settings.tuned());
          EmbeddedCluster cluster = EmbeddedCluster.start(data.resolve("cluster"), settings)) {
        broker.createTopics(List.of(new NewTopic("events", 1, (short) 1)));
        StreamExecutionEnvironment environment = cluster.environment();
        EmbeddedClusterTest.count(environment, Long.MAX_VALUE);
        JobClient job = environment.executeAsync();
        EmbeddedClusterTest.awaitCounted(100);
        cluster.stopWithSavepoint(job, SavepointFormatType.NATIVE, false);
      }
    }
  }
}
