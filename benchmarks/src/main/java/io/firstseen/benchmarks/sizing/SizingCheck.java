package io.firstseen.benchmarks.sizing;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.benchmarks.Figures;
import io.firstseen.benchmarks.FiguresProgram;
import io.firstseen.benchmarks.recovery.RecoveryFigures;
import io.firstseen.benchmarks.shared.OptionChecks;
import io.firstseen.cli.size.Sizing;
import io.firstseen.operators.dedup.Firstseen;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Compares what {@code firstseen size} says with measured runs. */
@Command(
    description = {
      "Compares what 'firstseen size' says with measured runs: of its own, or those in files. Status"
          + " 1 if a figure is further from it than --within.",
      ""
    })
public final class SizingCheck extends FiguresProgram {
  private static final double RATE = 0.001;

  @Option(
      names = "--keys",
      paramLabel = "N",
      defaultValue = "10000000",
      description = "Known keys of the runs on heap and RocksDB; 0 for no run (${DEFAULT-VALUE}).")
  private long keys;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "10",
      description = "How long each job of the runs is watched (${DEFAULT-VALUE}).")
  private double seconds;

  @Option(
      names = "--from",
      paramLabel = "FILE",
      split = ",",
      description = "JSON files with arrays of measured runs, as in MeasuredSize.")
  private List<Path> files = List.of();

  @Option(
      names = "--within",
      paramLabel = "SHARE",
      defaultValue = "0.15",
      description = "By how much a figure may be off (${DEFAULT-VALUE}).")
  private double within;

  @Option(
      names = "--core-speed",
      paramLabel = "FACTOR",
      defaultValue = "1",
      description = "That of 'firstseen size', on a machine of another speed (${DEFAULT-VALUE}).")
  private double coreSpeed;

  SizingCheck() {}

  /** The command. */
  public static void main(String[] arguments) {
    exit(new SizingCheck(), arguments);
  }

  @Override
  protected void check(OptionChecks checks) {
    if (keys != 0) {
      checks.atLeast("--keys", 1000, keys);
    }
    checks.positive("--core-speed", Double.POSITIVE_INFINITY, coreSpeed);
    for (Path file : files) {
      if (!Files.isReadable(file)) {
        throw checks.refused("--from must be a file that can be read, got " + file);
      }
    }
  }

  @Override
  protected void measure(Path work) throws Exception {
    List<MeasuredSize> measured = new ArrayList<>();
    if (keys > 0) {
      RecoveryFigures.measure(RecoveryFigures.Settings.of(keys, seconds, work)).stream()
          .map(MeasuredSize::of)
          .forEach(measured::add);
    }
    for (Path file : files) {
      measured.addAll(List.of(new ObjectMapper().readValue(file.toFile(), MeasuredSize[].class)));
    }
    measured.forEach(run -> compare(run, coreSpeed, within, figures));
  }

  /** Adds the figures that a run has measured, each with what is said of it as its bound. */
  static void compare(MeasuredSize run, double coreSpeed, double within, Figures figures) {
    Sizing said =
        Sizing.of(
            "--keys=" + run.keys(),
            "--rate=1",
            "--fpr=" + (run.falsePositiveRate() == null ? RATE : run.falsePositiveRate()),
            "--backend=" + run.backend(),
            "--cached=" + (run.cached() == null ? 1 : run.cached()),
            "--dedup-shards=" + Firstseen.DEFAULT_SHARDS,
            "--parallelism=" + run.parallelism(),
            "--core-speed=" + coreSpeed);
    figures.title(run.what());
    Comparison comparison = new Comparison(figures, within);
    comparison.add(
        "events/s",
        run.eventsPerSecond(),
        run.parallelism() * said.operatorEventsPerSecondOfTask(),
        "/s");
    comparison.add("heap, bytes", run.heapBytes(), said.heapBytes(), "B");
    comparison.add("checkpoint, bytes", run.checkpointBytes(), said.checkpointBytes(), "B");
    comparison.add("checkpoint, seconds", run.checkpointSeconds(), said.checkpointSeconds(), "s");
  }

  private record Comparison(Figures figures, double within) {
    void add(String name, @Nullable Double measured, double said, String unit) {
      if (measured != null) {
        figures.within(name, measured, said, within, unit);
      }
    }
  }
}
