package io.firstseen.cli.snapshot;

import static io.firstseen.cli.shared.SnapshotSummary.number;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ClosingVerb;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Json;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.jobs.options.DeclaredOptions;
import io.firstseen.jobs.options.KeyOptions;
import io.firstseen.jobs.options.PublicationOptions;
import io.firstseen.operators.dedup.Firstseen;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Publishes a file of keys as the next sequence of a set in a directory. */
@Command(
    name = "publish",
    footer = {
      "  firstseen snapshot publish --input list.txt --canonicaliser url-expression \\",
      "      --directory /srv/lists/phishing --set phishing",
      "  firstseen snapshot publish --input hashes.txt.gz --snapshot-fpr 1e-6 \\",
      "      --directory /srv/breached --set breached --signing-key signing.key --json"
    },
    modelTransformer = DeclaredOptions.class,
    description = {
      "Publishes a file with one key per line as the next sequence of a set in a "
          + "directory: a pack with the changes, bases, a list of bases, and a manifest. Clients "
          + "follow the directory, or its files on any web server.",
      "Lines without a usable key are skipped and reported on standard error. With --near, "
          + "lines that resemble an earlier line are omitted.",
      "Exit status 1 if the publication is on hold because the number of keys has changed too "
          + "much; clients keep the previous snapshot."
    })
final class SnapshotPublishCommand extends ClosingVerb {

  @Mixin private KeyFile keys;

  @Option(
      names = "--directory",
      required = true,
      paramLabel = "DIR",
      description = "Directory of the set, created if it does not exist.")
  private Path directory;

  @Option(
      names = "--set",
      required = true,
      description = "Name of the set of keys. Fixed for the directory.")
  private String setName;

  @Option(
      names = "--snapshot-fpr",
      description =
          "Probability, in (0, 0.1], that a snapshot returns present for one other key. Fixed for "
              + "the directory (default: "
              + Firstseen.DEFAULT_FALSE_POSITIVE_RATE
              + ").")
  private Double falsePositiveRate;

  @Option(
      names = "--snapshot-url-fpr",
      description =
          "The same for one other URL with 30 match expressions. Replaces --snapshot-fpr. "
              + "Needs --canonicaliser url-expression.")
  private Double urlFalsePositiveRate;

  @Option(
      names = "--snapshot-shards",
      defaultValue = DeclaredOptions.DEFAULT,
      description =
          "Number of shards, a power of two up to 65536. Fixed for the directory (default: "
              + "${DEFAULT-VALUE}).")
  private int shards;

  @Option(
      names = "--window",
      defaultValue = "1d",
      description =
          "Interval between two publications. Bases are renewed after 168 of them (default:"
              + " ${DEFAULT-VALUE}).")
  private Duration window;

  @Mixin private PublicationOptions publication;

  @Option(
      names = "--signing-key",
      description = "File with the private key that signs manifests ('firstseen snapshot keygen').")
  private Path signingKey;

  @Override
  protected int run(Cleanup cleanup) throws IOException {
    SetParameters parameters =
        keys.parameters(
            shards,
            new KeyOptions.Rate("--snapshot-fpr", falsePositiveRate),
            new KeyOptions.Rate("--snapshot-url-fpr", urlFalsePositiveRate));
    DirectoryPublisher publisher =
        new DirectoryPublisher(
            new SnapshotDirectory(directory),
            setName,
            parameters,
            window,
            publication.publication(window),
            signingKey == null ? null : SnapshotSignCommand.read(signingKey),
            warning -> err().println("warning: " + warning));
    long[] hashes = keys.read(cleanup, this::output, err());
    DirectoryPublisher.Result result = publisher.publish(hashes, System.currentTimeMillis());
    keys.warn(err());
    print(object(result), sentence(result));
    return result.held().isPresent() ? ExitCode.NEGATIVE : ExitCode.GOOD;
  }

  private ObjectNode object(DirectoryPublisher.Result result) {
    ObjectNode object = Json.object().put("published", result.held().isEmpty()).put("set", setName);
    SnapshotFollowCommand.describe(object, result.manifest()).put("listKeys", result.keys());
    keys.addLines(object)
        .put("changeBytes", result.changeBytes())
        .put("setBytes", result.setBytes())
        .put("removedManifests", result.pruned().manifests())
        .put("removedBlobs", result.pruned().blobs());
    result.held().ifPresent(reason -> object.put("held", reason));
    return object;
  }

  private String sentence(DirectoryPublisher.Result result) {
    if (result.held().isPresent()) {
      return "on hold at sequence %d of set '%s': %s"
          .formatted(result.manifest().sequence(), setName, result.held().get());
    }
    return "sequence %d of set '%s': %s, change of %s bytes, whole set in %s bytes%s"
        .formatted(
            result.manifest().sequence(),
            setName,
            keys.amount(result.keys()),
            number(result.changeBytes()),
            number(result.setBytes()),
            keys.omitted());
  }
}
