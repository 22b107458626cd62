package io.firstseen.cli.demo;

import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Verb;
import io.firstseen.jobs.options.DeclaredOptions;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.jobs.options.StreamOptions.StateBackend;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The whole pipeline on this machine. */
@Command(
    name = "demo",
    modelTransformer = DeclaredOptions.class,
    description = {
      "Shows the whole pipeline on this machine, and checks it.",
      "Starts a Kafka broker and a Flink cluster in this process, sends adds and deletes of real"
          + " phishing domains with repeats and malformed events among them, runs both jobs,"
          + " follows the snapshots, and compares the results with an exact model. Everything is"
          + " removed afterwards."
    },
    exitCodeList = {
      "0:all checks hold",
      "1:a check does not hold",
      "2:usage error",
      "3:the demo failed"
    })
public final class DemoCommand extends Verb {

  @Option(
      names = "--events",
      paramLabel = "N",
      converter = Count.class,
      description = "Send at most this many events (default: all of about 37,000).")
  private Integer events;

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "2500",
      converter = Count.class,
      description = "Events sent per second (default: ${DEFAULT-VALUE}).")
  private int rate;

  @Option(
      names = "--parallelism",
      paramLabel = "N",
      defaultValue = "2",
      converter = Parallelism.class,
      description = "Parallel tasks of each operator (default: ${DEFAULT-VALUE}).")
  private int parallelism;

  @Option(
      names = "--state-backend",
      defaultValue = DeclaredOptions.DEFAULT,
      description = "Where state lives: heap or rocksdb (default: ${DEFAULT-VALUE}).")
  private StateBackend stateBackend;

  @Option(
      names = "--web-port",
      paramLabel = "PORT",
      defaultValue = "0",
      converter = Port.class,
      description = "The port of Flink's web page (default: a free one).")
  private int webPort;

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

  static final class Port extends OptionValues.WholeNumber {
    Port() {
      super(0, 65_535);
    }
  }

  @Override
  public Integer call() throws Exception {
    int maxEvents = events == null ? Integer.MAX_VALUE : events;
    DemoSettings settings = new DemoSettings(maxEvents, rate, parallelism, stateBackend, webPort);
    return Cleanup.after(cleanup -> run(settings, cleanup));
  }

  private int run(DemoSettings settings, Cleanup cleanup) throws Exception {
    DemoReport report = DemoRun.run(settings, err(), cleanup);
    return tell(report, json, out(), err());
  }

  /** Prints the report and returns the exit code. */
  static int tell(DemoReport report, boolean json, PrintWriter out, PrintWriter err) {
    if (!json) {
      err.println();
    }
    report.fields().print(out, json);
    // Show the report now, since closing takes a moment.
    out.flush();
    return report.holds() ? ExitCode.GOOD : ExitCode.NEGATIVE;
  }
}
