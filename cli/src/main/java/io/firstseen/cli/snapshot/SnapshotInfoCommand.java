package io.firstseen.cli.snapshot;

import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.JsonVerb;
import io.firstseen.cli.shared.Progress;
import io.firstseen.consumer.NothingPublishedException;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints the content and parameters of a snapshot, a set, a manifest or a blob. */
@Command(
    name = "info",
    footer = {
      "  firstseen snapshot info keys.snapshot",
      "  firstseen snapshot info snapshots --sequence 7",
      "  firstseen snapshot info --bootstrap-servers kafka:9092 --set spam"
    },
    description = {
      "Shows the content and parameters of a snapshot, manifest, pack, base or list of bases; "
          + "for a directory or topic, also the newest pack and the list of bases. Reads all of a "
          + "topic first.",
      "Exit status 1 if the topic does not contain a snapshot of the set yet."
    })
final class SnapshotInfoCommand extends JsonVerb {
  private static final List<String> OF_A_PATH = List.of("--sequence", "--json");

  @ArgGroup(multiplicity = "1")
  private Origin origin;

  @Option(
      names = "--sequence",
      paramLabel = "N",
      description = "Sequence of the manifest in the directory F (default: the newest).")
  private Long sequence;

  @Mixin private SetOnTopic set;

  @Option(
      names = "--timeout",
      paramLabel = "DURATION",
      defaultValue = "1m",
      converter = OptionValues.PositiveDuration.class,
      description = "Maximum time to read the topic (default: ${DEFAULT-VALUE}).")
  private Duration timeout;

  static final class Origin {
    @Parameters(
        index = "0",
        paramLabel = "F",
        description = "Snapshot, manifest, blob, or directory of snapshots.")
    private Path path;

    @Option(
        names = "--bootstrap-servers",
        paramLabel = "HOST:PORT,...",
        description = "Kafka bootstrap servers, to show the set on a topic.")
    private String bootstrapServers;
  }

  @Override
  public Integer call() throws Exception {
    if (origin.bootstrapServers != null) {
      if (sequence != null) {
        throw new UserErrorException(
            "--sequence chooses among the manifests of a directory; of a topic only the newest "
                + "is read");
      }
      return Cleanup.after(this::infoOfTopic);
    }
    for (OptionSpec option : commandLine().getParseResult().matchedOptions()) {
      if (!OF_A_PATH.contains(option.longestName())) {
        throw new UserErrorException(option.longestName() + " goes with --bootstrap-servers");
      }
    }
    Optional<FileSummary> file = OpenedSnapshots.file(origin.path, sequence);
    print(
        file.isPresent()
            ? file.get().fields()
            : OpenedSnapshots.open(origin.path, sequence).allFields());
    return ExitCode.GOOD;
  }

  private int infoOfTopic(Cleanup cleanup) throws IOException {
    Path directory = cleanup.temporaryDirectory();
    try (Progress progress = new Progress(err())) {
      set.pull(origin.bootstrapServers, directory, timeout, progress);
    } catch (NothingPublishedException e) {
      print(Json.object().put("published", false).put("reason", e.getMessage()), e.getMessage());
      return ExitCode.NEGATIVE;
    }
    print(OpenedSnapshots.open(directory, null).allFields());
    return ExitCode.GOOD;
  }
}
