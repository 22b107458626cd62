package io.firstseen.cli.doctor;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Json;
import io.firstseen.jobs.options.Suggestions;
import io.firstseen.jobs.shared.Finding;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;
import picocli.CommandLine.UnmatchedArgumentException;

/** Checks this machine, and brokers. */
@Command(
    name = "doctor",
    modelTransformer = BrokerOptions.class,
    description = {
      "Checks whether this machine, and with --bootstrap-servers the brokers, have what is needed."
          + " Prints a line for each check: ok, warning or failed, and what to do. Creates no topics"
          + " of the job.",
      "Takes all options of the job (--job), and checks them too.",
      "Exit status 0 if nothing failed, 1 if something did."
    })
public final class DoctorCommand implements Callable<Integer> {

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Unmatched private List<String> othersOfJob = new ArrayList<>();

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    // Wrong options are refused before anything is printed.
    Consumer<Consumer<Finding>> ofBrokers = ofBrokers();
    Map<Finding.Status, Integer> counts = new EnumMap<>(Finding.Status.class);
    ObjectNode answer = Json.object();
    ArrayNode checks = answer.putArray("checks");
    Consumer<Finding> found =
        finding -> {
          counts.merge(finding.status(), 1, Integer::sum);
          String status = finding.status().name().toLowerCase(Locale.ROOT);
          String text = finding.text().replaceAll("\\s*\\R\\s*", " ").strip();
          if (json) {
            checks
                .addObject()
                .put("check", finding.check())
                .put("status", status)
                .put("text", text);
          } else {
            out.printf("%-8s %s: %s%n", status, finding.check(), text);
            // The next check may take a while.
            out.flush();
          }
        };
    ofMachine(found);
    ofBrokers.accept(found);
    int failed = counts.getOrDefault(Finding.Status.FAILED, 0);
    if (json) {
      answer.put("ok", failed == 0);
      out.println(Json.line(answer));
    }
    return failed == 0 ? ExitCode.GOOD : ExitCode.NEGATIVE;
  }

  private static void ofMachine(Consumer<Finding> found) {
    found.accept(MachineChecks.java(Runtime.version()));
    found.accept(MachineChecks.memory());
    found.accept(MachineChecks.openFiles());
    found.accept(MachineChecks.temporaryFiles(Path.of(System.getProperty("java.io.tmpdir"))));
    found.accept(MachineChecks.jars(System.getProperty("java.class.path")));
  }

  private Consumer<Consumer<Finding>> ofBrokers() {
    if (!BrokerOptions.areGiven(spec.commandLine().getParseResult())) {
      if (!othersOfJob.isEmpty()) {
        throw new UnmatchedArgumentException(spec.commandLine(), othersOfJob);
      }
      return found -> {};
    }
    try {
      return BrokerOptions.checks(spec.commandLine().getParseResult(), othersOfJob);
    } catch (ParameterException e) {
      throw new ParameterException(spec.commandLine(), Suggestions.sentence(e), e);
    }
  }
}
