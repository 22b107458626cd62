package io.firstseen.benchmarks.dedup;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.FlinkSettings;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import org.apache.flink.util.FileUtils;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/**
 * Prints the figures of the dedup operator in whole jobs, and whether they meet their bounds. Exits
 * with status 1 if a bound is missed or a figure cannot be measured.
 */
@Command(
    name = "DedupFigures",
    sortOptions = false,
    mixinStandardHelpOptions = true,
    description = {
      "Prints the figures of Firstseen's dedup in whole jobs, and the bounds that they must meet.",
      "",
      "It runs the dedup, the same job with an empty keyed function, and exact dedup keyed by hash"
          + " and by URL, on heap and on RocksDB, each in a JVM of its own on Flink's mini cluster."
          + " The source makes URLs of 85 bytes, half of the records repeats.",
      ""
    })
public final class DedupFigures implements Callable<Integer> {
  @Spec private CommandSpec command;

  @Option(
      names = "--keys",
      paramLabel = "N",
      defaultValue = "5000000",
      description = "Different keys, at least 1000 (${DEFAULT-VALUE}).")
  private long keys;

  @Option(
      names = "--rounds",
      paramLabel = "R",
      defaultValue = "3",
      description = "Runs of each job; rates are their medians (${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--only",
      paramLabel = "ROW",
      split = ",",
      converter = RowConverter.class,
      description = "Only these rows of the table; a wrong name lists all rows.")
  private List<Row> only = List.of();

  @Option(names = "--json", paramLabel = "FILE", description = "Write all figures here.")
  private Path json;

  @Option(
      names = "--svg",
      paramLabel = "FILE",
      description = "Run with fewer keys, too, and plot rate and bytes against their number.")
  private Path svg;

  @Option(
      names = "--parallelism",
      paramLabel = "P",
      defaultValue = "1",
      description = "Of every operator (${DEFAULT-VALUE}).")
  private int parallelism;

  @Option(
      names = "--warm-up",
      paramLabel = "N",
      defaultValue = "5000000",
      description =
          "Keys of the job that runs before each measured one, a fifth of them on RocksDB; with"
              + " filled filters, of the same job's first records (${DEFAULT-VALUE}).")
  private long warmUpKeys;

  @Option(
      names = "--object-reuse",
      description = "Let Flink hand objects on without a copy, in all jobs.")
  private boolean objectReuse;

  @Option(
      names = "--heap",
      paramLabel = "MIB",
      defaultValue = "4096",
      description = "Heap of each JVM (${DEFAULT-VALUE}).")
  private long heapMebibytes;

  @Option(
      names = "--managed-memory",
      paramLabel = "MIB",
      defaultValue = "256",
      description = "RocksDB's block cache and write buffers, in all jobs (${DEFAULT-VALUE}).")
  private int managedMemoryMebibytes;

  @Option(
      names = "--filters",
      paramLabel = "MIB",
      defaultValue = "512",
      description = "Filters of the row checkpoints (${DEFAULT-VALUE}).")
  private long filterMebibytes;

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      description = "For RocksDB and checkpoints; the system's temporary one unless given.")
  private Path directory;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  private DedupFigures() {}

  /** The command. */
  public static void main(String[] arguments) {
    Locale.setDefault(Locale.ROOT);
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return new CommandLine(new DedupFigures())
        .setParameterExceptionHandler(
            (e, given) -> {
              e.getCommandLine().getErr().println(e.getMessage());
              return ExitCode.USAGE;
            })
        .setExecutionExceptionHandler(
            (e, failed, given) -> {
              if (!(e instanceof ChildJvm.FailedException)) {
                throw e;
              }
              failed.getErr().println(e.getMessage());
              return ExitCode.SOFTWARE;
            });
  }

  @Override
  public Integer call() throws Exception {
    atLeast("--keys", 1000, keys);
    atLeast("--rounds", 1, rounds);
    atLeast("--warm-up", 1, warmUpKeys);
    atLeast("--parallelism", 1, parallelism);
    atLeast("--filters", 1, filterMebibytes);
    canBeWritten("--json", json);
    canBeWritten("--svg", svg);
    FigureRuns.Settings settings =
        new FigureRuns.Settings(
            keys,
            rounds,
            warmUpKeys,
            new FlinkSettings(parallelism, managedMemoryMebibytes, objectReuse),
            heapMebibytes,
            filterMebibytes);
    Set<Row> rows = only.isEmpty() ? EnumSet.allOf(Row.class) : EnumSet.copyOf(only);
    Measurements measured = measure(settings, rows);
    FigureTable table = new FigureTable(settings, rows, measured);
    out.print(table.text());
    if (json != null) {
      new ObjectMapper()
          .enable(SerializationFeature.INDENT_OUTPUT)
          .writeValue(json.toFile(), table.json());
    }
    if (svg != null) {
      Files.writeString(svg, FiguresPlot.svg(measured.pipelines()));
    }
    return table.allReached() ? 0 : 1;
  }

  private Measurements measure(FigureRuns.Settings settings, Set<Row> rows) throws Exception {
    Path work = Files.createTempDirectory(parentDirectory(), "dedup-figures");
    // Also runs when the user interrupts the command and its child process.
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> FileUtils.deleteDirectoryQuietly(work.toFile())));
    return new FigureRuns(settings, work, System.err).measure(rows, svg != null);
  }

  private Path parentDirectory() throws IOException {
    Path parent = directory == null ? Path.of(System.getProperty("java.io.tmpdir")) : directory;
    return Files.createDirectories(parent).toAbsolutePath();
  }

  private void atLeast(String option, long least, long value) {
    if (value < least) {
      throw new ParameterException(
          command.commandLine(), option + " must be at least " + least + ", got " + value);
    }
  }

  /** Checks this before hours of work. */
  private void canBeWritten(String option, Path file) {
    if (file == null) {
      return;
    }
    Path parent = file.toAbsolutePath().getParent();
    if (parent == null || !Files.isWritable(parent) || Files.isDirectory(file)) {
      throw new ParameterException(
          command.commandLine(),
          option + " must be a file in a directory that can be written to, got " + file);
    }
  }

  /** Reads the rows' names. */
  static final class RowConverter implements ITypeConverter<Row> {
    @Override
    public Row convert(String id) {
      try {
        return Row.of(id);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }
}
