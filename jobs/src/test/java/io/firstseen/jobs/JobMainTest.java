package io.firstseen.jobs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.fixtures.ShortRun;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Command;

/** The {@code main} methods as a user runs them, each in a separate JVM. */
class JobMainTest {

  @Test
  void helpListsTheOptionsAndEndsWell() throws Exception {
    assertHelp("PipelineJob");
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(strings = {"DedupJob", "SnapshotJob"})
  void helpOfTheOthersDoes(String job) throws Exception {
    assertHelp(job);
  }

  private static void assertHelp(String job) throws Exception {
    Ended ended = main(job, "--help");
    assertThat(ended.status).isZero();
    assertThat(ended.out).contains("--bootstrap-servers", "--parallelism");
    assertThat(ended.out)
        .startsWith("Usage: " + job + " [OPTIONS]\n")
        .contains("Examples:", "flink run -d -c io.firstseen.jobs." + job + " ");
    assertThat(ended.out.contains("--capacity")).isEqualTo(!job.equals("SnapshotJob"));
    assertThat(ended.out.contains("--window")).isEqualTo(!job.equals("DedupJob"));
  }

  @Test
  void aWrongOptionIsOneLineAndStatus2() throws Exception {
    assertOneLine(
        main("PipelineJob", "--bootstrap-servers=localhost:1", "--fpr=0.5"),
        "error: Invalid value for option '--fpr': must be in \\(0, 0.1], got '0.5'");
    assertOneLine(
        main("DedupJob"), "error: Missing required option: '--bootstrap-servers=HOST:PORT,...'");
  }

  /** It waits as long as it says. */
  @Tag("slow")
  @Test
  void anUnreachableBrokerIsOneLineAndStatus2WithinHalfAMinute() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    long before = System.nanoTime();
    assertOneLine(
        main("DedupJob", "--bootstrap-servers=localhost:" + port),
        "error: no Kafka broker responds at localhost:%d \\(waited 12s\\)".formatted(port));
    assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(30));
  }

  @Test
  void aHostThatDoesNotExistIsOneLineAtOnce() throws Exception {
    assertOneLine(
        main("DedupJob", "--bootstrap-servers=no.such.host.invalid:9092"),
        "error: cannot connect to Kafka at no.such.host.invalid:9092: No resolvable bootstrap"
            + " urls.*");
  }

  @Test
  void aSecretThatGoesWithTheJobIsAWarning(@TempDir Path directory) throws Exception {
    Path key =
        Files.writeString(
            Files.createTempFile(directory, "hash", ".key"), "000102030405060708090a0b0c0d0e0f");
    String[] words = {"--bootstrap-servers=no.such.host.invalid:9092", "--hash-key-file=" + key};
    assertThat(main("DedupJob", words).err.lines())
        .first()
        .isEqualTo(
            "warning: the job contains the hash key, so anyone who can read the cluster's files "
                + "of the job can read the key (--hash-key-on-workers avoids this)");
    assertThat(main("DedupJob", words[0], words[1], "--hash-key-on-workers").err.lines())
        .singleElement()
        .asString()
        .startsWith("error: cannot connect");
  }

  /** A cluster's REST endpoint calls main in its own JVM, which must survive. */
  @Test
  void inAJvmOfSomebodyElseTheSentenceIsThrown() {
    assertThatThrownBy(() -> DedupJob.main(new String[] {"--capacity=0"}))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContaining("--capacity");
  }

  @Test
  void aMisspeltOptionComesWithTheOneThatWasMeant() {
    assertThatThrownBy(() -> DedupJob.main(new String[] {"--bootstrap-server=localhost:1"}))
        .isInstanceOf(UserErrorException.class)
        .hasMessage(
            "Unknown option: '--bootstrap-server=localhost:1'; did you mean --bootstrap-servers?");
  }

  @Test
  void flinksPipelineNameIsTheNameOfTheJob() throws Exception {
    assertThat(RecordingEnvironment.jobName(new Configuration())).isEqualTo("firstseen-dedup");
    assertThat(
            RecordingEnvironment.jobName(
                new Configuration().set(PipelineOptions.NAME, "crawl-dedup")))
        .isEqualTo("crawl-dedup");
  }

  /** Remembers the name of what it is to execute. */
  // Its close may be interrupted.
  @SuppressWarnings("try")
  private static final class RecordingEnvironment extends StreamExecutionEnvironment {
    private @Nullable String jobName;

    private RecordingEnvironment(Configuration configuration) {
      super(configuration);
    }

    static @Nullable String jobName(Configuration configuration) throws Exception {
      RecordingEnvironment environment = new RecordingEnvironment(configuration);
      initializeContextEnvironment(unused -> environment);
      try {
        JobMain.run(
            new NoOptions(),
            new String[0],
            env -> env.fromData(1).sinkTo(new DiscardingSink<>()),
            "firstseen-dedup");
      } finally {
        resetContextEnvironment();
      }
      return environment.jobName;
    }

    @Override
    public JobExecutionResult execute(StreamGraph graph) {
      jobName = graph.getJobName();
      return new JobExecutionResult(new JobID(), 0, Map.of());
    }
  }

  @Command
  private static final class NoOptions {}

  private static void assertOneLine(Ended ended, String pattern) {
    assertThat(ended.status).as(ended.err).isEqualTo(2);
    List<String> lines =
        ended.err.lines().filter(line -> !line.startsWith("warning: no hash")).toList();
    assertThat(lines).hasSize(1);
    assertThat(lines.get(0)).matches(pattern);
    assertThat(ended.out).isEmpty();
  }

  private static Ended main(String job, String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx128m");
    command.addAll(ShortRun.JVM_OPTIONS);
    command.add("-Dlog4j2.level=OFF");
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add("io.firstseen.jobs." + job);
    command.addAll(List.of(words));
    Process process = new ProcessBuilder(command).start();
    process.getOutputStream().close();
    try (InputStream out = process.getInputStream();
        InputStream err = process.getErrorStream()) {
      String outText = new String(out.readAllBytes(), UTF_8);
      String errText = new String(err.readAllBytes(), UTF_8);
      assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
      return new Ended(process.exitValue(), outText, errText);
    } finally {
      process.destroyForcibly();
    }
  }

  private record Ended(int status, String out, String err) {}
}
