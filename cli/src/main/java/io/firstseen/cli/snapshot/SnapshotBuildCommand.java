package io.firstseen.cli.snapshot;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ClosingVerb;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.InputFile;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.jobs.files.OutputFile;
import io.firstseen.jobs.options.DeclaredOptions;
import io.firstseen.jobs.options.KeyOptions;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.operators.dedup.Firstseen;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Builds one snapshot of a single shard from a file of keys. */
@Command(
    name = "build",
    footer = {
      "  firstseen snapshot build --input keys.txt --output keys.snapshot",
      "  firstseen snapshot build --input domains.tsv --column 2 --fpr 0.0001 \\",
      "      --output domains.snapshot",
      "  firstseen snapshot build --input list.txt --canonicaliser url-expression \\",
      "      --set phishing --output phishing.snapshot",
      "  firstseen snapshot build --input texts.txt --canonicaliser text --near short \\",
      "      --output texts.snapshot"
    },
    modelTransformer = DeclaredOptions.class,
    description = {
      "Builds one snapshot from a file with one key per line. Lines without a usable key are "
          + "reported.",
      "With --near, lines that resemble an earlier line are omitted."
    })
final class SnapshotBuildCommand extends ClosingVerb {
  @Mixin private KeyFile keys;

  @Option(names = "--output", required = true, paramLabel = "F", description = "Output file.")
  private Path output;

  @Option(
      names = "--fpr",
      description =
          "Probability, in (0, 0.1], that the snapshot returns present for one other key; for a URL "
              + "with n match expressions, up to n times as high (default: "
              + Firstseen.DEFAULT_FALSE_POSITIVE_RATE
              + ").")
  private Double falsePositiveRate;

  @Option(
      names = "--url-fpr",
      paramLabel = "RATE",
      converter = OptionValues.FalsePositiveRate.class,
      description =
          "The same, in (0, 0.1], for one other URL with 30 match expressions; most have "
              + "fewer than a dozen. Replaces --fpr. Needs --canonicaliser url-expression.")
  private Double urlFalsePositiveRate;

  @Option(
      names = "--set",
      defaultValue = DeclaredOptions.DEFAULT,
      description = "Name of the set of keys (default: ${DEFAULT-VALUE}).")
  private String setName;

  @Override
  protected int run(Cleanup cleanup) throws IOException {
    SetParameters parameters =
        keys.parameters(
            1,
            new KeyOptions.Rate("--fpr", falsePositiveRate),
            new KeyOptions.Rate("--url-fpr", urlFalsePositiveRate));
    output = output(output);
    InputFile.requireOther(keys.input, output);
    // Open the output first, so that an unwritable file is detected before the work.
    OutputFile file = cleanup.open(() -> new OutputFile(output));
    long[] hashes = keys.read(cleanup, this::output, err());
    // The rate may need more bits than a hash has.
    Snapshot snapshot =
        accepted(
            () -> Snapshot.build(hashes, new SnapshotParameters(parameters, setName, 0, 0, 0, 0)));
    file.write(snapshot.toBytes());
    file.complete();
    keys.warn(err());
    SnapshotSummary summary = SnapshotSummary.of(snapshot);
    ObjectNode object = Json.object().put("output", output.toString());
    keys.addLines(object.put("digest", snapshot.digest()));
    keys.addNearDuplicates(object);
    print(
        object.setAll(summary.fields().json()),
        output + ": " + summary.sentence() + keys.omitted());
    return ExitCode.GOOD;
  }
}
