package io.firstseen.cli.demo;

import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Verb;
import io.firstseen.jobs.options.DeclaredOptions;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.jobs.options.StreamOptions.StateBackend;
import io.firstseen.processes.LocalPorts;
import java.io.PrintWriter;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The whole pipeline on this machine. */
@Command(
    name = "demo",
    footer = {
      "  firstseen demo",
      "  firstseen demo --events 1000 --rate 500",
      "  firstseen demo --state-backend rocksdb --web-port 8081"
    },
    modelTransformer = DeclaredOptions.class,
    description = {
      "Runs the whole pipeline on this machine and checks its results.",
      "Starts a Kafka broker and a Flink cluster in this process, sends adds and deletes "
          + "of real phishing domains together with duplicates and malformed events, runs both "
          + "jobs, follows the snapshots, and compares the results with an exact model. Deletes "
          + "all files afterwards."
    },
    exitCodeList = {
      "0:all checks passed",
      "1:a check failed",
      "2:usage error",
      "3:the demo failed"
    })
public final class DemoCommand extends Verb {
  /** The number of partitions of topics with several partitions. */
  static final int PARTITIONS = 4;

  /**
   * The approximate number of keys that are live at the end, so that the measured false-positive
   * rate is close to the promised rate.
   */
  static final int CAPACITY = 22_000;

  static final double FALSE_POSITIVE_RATE = 0.001;

  @Option(
      names = "--events",
      paramLabel = "N",
      converter = Count.class,
      description = "Maximum number of events to send, at least 1 (default: all, about 37,000).")
  Integer events;

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "2500",
      converter = Count.class,
      description = "Events to send per second (default: ${DEFAULT-VALUE}).")
  int rate;

  @Option(
      names = "--parallelism",
      paramLabel = "N",
      defaultValue = "2",
      converter = Parallelism.class,
      description =
          "Number of parallel tasks of each operator, 1 to 16 (default: ${DEFAULT-VALUE}).")
  int parallelism;

  @Option(
      names = "--state-backend",
      defaultValue = DeclaredOptions.DEFAULT,
      description = "State backend: heap or rocksdb (default: ${DEFAULT-VALUE}).")
  StateBackend stateBackend;

  @Option(
      names = "--web-port",
      paramLabel = "PORT",
      defaultValue = "0",
      converter = OptionValues.Port.class,
      description = "Port of Flink's web page (default: a free port).")
  int webPort;

  @Option(names = "--json", description = "Print the summary as one JSON object.")
  private boolean json;

  static final class Count extends OptionValues.WholeNumber {
    Count() {
      super(1, Integer.MAX_VALUE);
    }
  }

  static final class Parallelism extends OptionValues.WholeNumber {
    Parallelism() {
      super(1, 16);
    }
  }

  @Override
  public Integer call() throws Exception {
    LocalPorts.chooseFor("--web-port", webPort);
    return Cleanup.after(
        cleanup -> tell(new DemoRun(this, err(), cleanup).run(), json, out(), err()));
  }

  static int tell(DemoReport report, boolean json, PrintWriter out, PrintWriter err) {
    if (!json) {
      err.println();
    }
    report.fields().print(out, json);
    // Show the report immediately, because closing takes a moment.
    out.flush();
    return report.holds() ? ExitCode.GOOD : ExitCode.NEGATIVE;
  }

  /** The options of both jobs, as on a command line. */
  JobOptions jobs() {
    return JobOptions.parse(
        "--canonicaliser=url",
        "--capacity=" + CAPACITY,
        "--fpr=" + FALSE_POSITIVE_RATE,
        "--set=phishing-domains",
        "--window=2s",
        "--out-of-orderness=500ms",
        "--idle-timeout=5s",
        "--parallelism=" + parallelism,
        "--state-backend=" + stateBackend.name().toLowerCase(Locale.ROOT));
  }

  /** The topics of both jobs, with the default names. */
  static KafkaOptions kafka(String bootstrapServers) {
    return KafkaOptions.parse(
        "--bootstrap-servers=" + bootstrapServers, "--checkpoint-interval=1s");
  }
}
