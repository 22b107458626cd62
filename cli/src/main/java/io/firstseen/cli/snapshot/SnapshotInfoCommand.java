package io.firstseen.cli.snapshot;

import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Fields;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.Progress;
import io.firstseen.cli.shared.Verb;
import io.firstseen.consumer.NothingPublishedException;
import io.firstseen.filters.snapshot.Manifest;
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
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints the content and parameters of a snapshot, a set, a manifest or a blob. */
@Command(
    name = "info",
    description = {
      "Shows the content and the parameters of a snapshot, a manifest, a pack, a base or a list of"
          + " bases; for a directory or a topic also the newest pack and the list of bases, shard by"
          + " shard. A topic is read whole, as 'pull' does, into a temporary directory.",
      "Exit status 1 if the topic holds no snapshot of the set yet."
    })
final class SnapshotInfoCommand extends Verb {
  private static final List<String> OF_A_TOPIC =
      List.of(
          "--topic",
          "--set",
          "--kafka-property",
          "--kafka-properties",
          "--public-key",
          "--blobs",
          "--timeout");

  @ArgGroup(multiplicity = "1")
  private Origin origin;

  @Option(
      names = "--sequence",
      paramLabel = "N",
      description = "Which manifest of a directory (default: the newest).")
  private Long sequence;

  @Mixin private SetOnTopic set;

  @Option(
      names = "--timeout",
      paramLabel = "DURATION",
      defaultValue = "1m",
      converter = OptionValues.PositiveDuration.class,
      description = "How long reading the topic may take (default: ${DEFAULT-VALUE}).")
  private Duration timeout;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  /** The location of the snapshot. */
  static final class Origin {
    @Parameters(
        index = "0",
        paramLabel = "F",
        description =
            "A snapshot, a manifest, a blob, or a directory of snapshots with a manifest for each"
                + " window.")
    private Path path;

    @Option(
        names = "--bootstrap-servers",
        paramLabel = "HOST:PORT,...",
        description = "Brokers to ask first: shows the set on a topic.")
    private String bootstrapServers;
  }

  @Override
  public Integer call() throws Exception {
    if (origin.bootstrapServers != null) {
      if (sequence != null) {
        throw new UserErrorException(
            "--sequence chooses among the manifests of a directory; of a topic only the newest is read");
      }
      return Cleanup.after(this::infoOfTopic);
    }
    for (String name : OF_A_TOPIC) {
      if (commandLine().getParseResult().hasMatchedOption(name)) {
        throw new UserErrorException(name + " goes with --bootstrap-servers");
      }
    }
    Optional<FileSummary> file = OpenedSnapshots.file(origin.path, sequence);
    if (file.isPresent()) {
      file.get().fields().print(out(), json);
      return ExitCode.GOOD;
    }
    return info(OpenedSnapshots.open(origin.path, sequence));
  }

  private int infoOfTopic(Cleanup cleanup) throws IOException {
    Path directory = cleanup.temporaryDirectory();
    try (Progress progress = new Progress(err())) {
      set.pull(origin.bootstrapServers, directory, timeout, progress);
    } catch (NothingPublishedException e) {
      print(
          json,
          Json.object().put("published", false).put("reason", e.getMessage()),
          e.getMessage());
      return ExitCode.NEGATIVE;
    }
    return info(OpenedSnapshots.open(directory, null));
  }

  private int info(OpenedSnapshots opened) throws IOException {
    Fields fields = opened.summary().fields();
    Manifest manifest = opened.manifest();
    if (manifest != null) {
      ManifestSummary.addTo(fields, manifest);
    }
    opened
        .chain()
        .map(ChainSummary::fields)
        .ifPresent(chain -> fields.text(chain.table()).json("chain", chain.json()));
    fields.print(out(), json);
    return ExitCode.GOOD;
  }
}
