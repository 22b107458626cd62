package io.firstseen.cli.snapshot;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.InputFile;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.KeyLines;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.cli.shared.Verb;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.jobs.files.DeadLetterFile;
import io.firstseen.jobs.files.OutputFile;
import io.firstseen.jobs.options.DeclaredOptions;
import io.firstseen.jobs.options.KeyOptions;
import io.firstseen.jobs.options.NearOptions;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.dedup.Firstseen;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
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
      "Builds one snapshot from a file with one key per line.",
      "Lines without a usable key are skipped and reported on standard error.",
      "With --near, lines that resemble an earlier line are omitted."
    })
final class SnapshotBuildCommand extends Verb {
  @Option(
      names = "--input",
      required = true,
      paramLabel = "KEYS",
      description = "File with keys, decompressed if it is in gzip format; - reads standard input.")
  private String input;

  @Option(
      names = "--column",
      paramLabel = "N",
      converter = Column.class,
      description =
          "Column of the key, from 1, in tab-separated lines. Without it, a line is a key, and "
              + "lines with several columns are skipped with --canonicaliser url or "
              + "url-expression.")
  private int column;

  @Option(
      names = "--dead-letters",
      paramLabel = "OUT",
      description =
          "Output file of lines without a usable key, in the format: place TAB reason TAB line. "
              + "The first of these lines are also reported on standard error.")
  private Path deadLetters;

  @Option(names = "--output", required = true, paramLabel = "F", description = "Output file.")
  private Path output;

  @Option(
      names = "--fpr",
      description =
          "Probability, in (0, 0.1], that the snapshot returns present for one key that is not "
              + "in it. For a URL with n match expressions (most URLs have fewer than a dozen) "
              + "the probability is up to n times as high (default: "
              + Firstseen.DEFAULT_FALSE_POSITIVE_RATE
              + ").")
  private Double falsePositiveRate;

  @Option(
      names = "--url-fpr",
      paramLabel = "RATE",
      converter = OptionValues.FalsePositiveRate.class,
      description =
          "Probability, in (0, 0.1], that the snapshot returns present for one URL that is not"
              + " listed and has 30 match expressions; most URLs have fewer than a dozen. One key"
              + " then has the rate 1-(1-RATE)^(1/30). Replaces --fpr. Needs --canonicaliser"
              + " url-expression.")
  private Double urlFalsePositiveRate;

  @Option(
      names = "--set",
      defaultValue = DeclaredOptions.DEFAULT,
      description = "Name of the set of keys (default: ${DEFAULT-VALUE}).")
  private String setName;

  @Mixin private KeyOptions keys;

  @Mixin private NearOptions near;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  /** The number of a column. */
  static final class Column extends OptionValues.WholeNumber {
    Column() {
      super(1, 1_000);
    }
  }

  private long[] hashes = new long[1 << 12];
  private int hashCount;

  @Override
  public Integer call() throws Exception {
    return Cleanup.after(this::build);
  }

  private int build(Cleanup cleanup) throws IOException {
    KeyHash keyHash = keys.keyHash();
    double rate =
        keys.keyRate(
                new KeyOptions.Rate("--fpr", falsePositiveRate),
                new KeyOptions.Rate("--url-fpr", urlFalsePositiveRate))
            .orElse(Firstseen.DEFAULT_FALSE_POSITIVE_RATE);
    output = output(output);
    deadLetters = output(deadLetters);
    InputFile.requireOther(input, output);
    // Open the output first, so that an unwritable file is detected before the work.
    OutputFile file = new OutputFile(output);
    cleanup.add(file);
    SetHashes set = new SetHashes(keyHash, keys.canonicaliser(), 1, rate, near.rule());
    InputFile.requireOther(input, deadLetters);
    DeadLetterFile rejected =
        deadLetters == null ? null : new DeadLetterFile(deadLetters, event -> null);
    if (rejected != null) {
      cleanup.add(rejected);
    }
    KeyLines lines =
        new KeyLines(input, keys.canonicaliser(), err()).column(column).deadLetters(rejected);
    set.forEach(lines, this::add);
    if (rejected != null) {
      rejected.complete();
    }
    lines.requireUsable();
    Snapshot snapshot = build(set.parameters());
    file.write(snapshot.toBytes());
    file.complete();
    print(snapshot, lines, set);
    return ExitCode.GOOD;
  }

  private void add(long hash) {
    if (hashCount == hashes.length) {
      if (hashCount > Integer.MAX_VALUE / 2) {
        throw new UserErrorException(
            "one snapshot takes at most " + hashCount + " keys; " + input + " has more");
      }
      hashes = Arrays.copyOf(hashes, 2 * hashCount);
    }
    hashes[hashCount++] = hash;
  }

  private Snapshot build(SetParameters parameters) {
    try {
      return Snapshot.build(
          Arrays.copyOf(hashes, hashCount),
          new SnapshotParameters(parameters, setName, 0, 0, 0, 0));
    } catch (IllegalArgumentException e) {
      // The rate needs more bits than a hash has.
      throw new UserErrorException(e.getMessage());
    }
  }

  private void print(Snapshot snapshot, KeyLines lines, SetHashes set) {
    keys.missingKeyWarning().ifPresent(text -> err().println("warning: " + text));
    lines.warnOfUnusable();
    SnapshotSummary summary = SnapshotSummary.of(snapshot);
    ObjectNode object = Json.object().put("output", output.toString());
    object.put("digest", snapshot.digest());
    object.put("lines", lines.lineCount()).put("unusable", lines.unusableCount());
    if (near.rule().isPresent()) {
      object.put("nearDuplicates", set.nearDuplicates());
    }
    print(
        json,
        object.setAll(summary.fields().json()),
        output + ": " + summary.sentence() + set.omitted());
  }
}
