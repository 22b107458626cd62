package io.firstseen.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.jobs.HashKeyOptions;
import io.firstseen.jobs.KeyOptions;
import io.firstseen.jobs.OptionValues;
import io.firstseen.jobs.UserErrorException;
import io.firstseen.jobs.files.EventFiles;
import io.firstseen.jobs.files.LineReader;
import io.firstseen.jobs.files.OutputFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Makes one snapshot, of one shard, from a file of keys. */
@Command(
    name = "build",
    description = {
      "Makes one snapshot from a file of keys, one a line.",
      "Lines that hold no usable key are left out and told on standard error."
    })
final class SnapshotBuildCommand implements Callable<Integer> {
  private static final int MAX_UNUSABLE_TOLD = 5;

  @Option(
      names = "--input",
      required = true,
      paramLabel = "KEYS",
      description = "A file of keys, .gz is read by its name; - is standard input.")
  private String input;

  @Option(names = "--output", required = true, paramLabel = "F", description = "The snapshot.")
  private Path output;

  @Option(
      names = "--fpr",
      paramLabel = "RATE",
      defaultValue = "0.001",
      converter = OptionValues.FalsePositiveRate.class,
      description =
          "The probability, in (0, 0.1], with which it holds a strange key"
              + " (default: ${DEFAULT-VALUE}).")
  private double falsePositiveRate;

  @Option(
      names = "--set",
      paramLabel = "NAME",
      defaultValue = "firstseen",
      converter = OptionValues.SetName.class,
      description = "The name of the set of keys (default: ${DEFAULT-VALUE}).")
  private String setName;

  @Mixin private KeyOptions keys;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Spec private CommandSpec spec;

  private long[] hashes = new long[1 << 12];
  private int hashCount;
  private long lineCount;
  private long unusableCount;
  private final List<String> unusableTold = new ArrayList<>();

  @Override
  public Integer call() throws Exception {
    return Cleanup.after(this::build);
  }

  private int build(Cleanup cleanup) throws IOException {
    KeyHash keyHash = keys.keyHash();
    // First of all, so that an output that cannot be written is found before the work is done.
    OutputFile file = new OutputFile(output);
    cleanup.add(file);
    SetParameters parameters =
        SetParameters.of(keyHash, keys.canonicaliser(), new Shards(1), falsePositiveRate);
    readKeys(parameters, keyHash);
    Snapshot snapshot = build(parameters);
    file.write(snapshot.toBytes());
    file.complete();
    tell(snapshot);
    return ExitCode.GOOD;
  }

  private void readKeys(SetParameters parameters, KeyHash keyHash) {
    Path name = InputFile.nameOf(input);
    try (InputStream stream = InputFile.open(input);
        Progress progress = new Progress(spec.commandLine().getErr())) {
      LineReader lines = new LineReader(stream, EventFiles.MAX_LINE_BYTES);
      for (byte[] line = lines.next(); line != null; line = lines.next()) {
        lineCount++;
        progress.show(() -> SnapshotSummary.number(lineCount) + " lines");
        try {
          add(parameters.hash(null, line, keyHash));
        } catch (InvalidKeyException e) {
          unusableCount++;
          if (unusableTold.size() < MAX_UNUSABLE_TOLD) {
            unusableTold.add(name + ":" + lineCount + ": " + e.getMessage());
          }
        }
      }
    } catch (SnapshotException e) {
      throw new IllegalStateException("the parameters were made for this hash", e);
    } catch (IOException e) {
      throw UserErrorException.cannot("read", name, e);
    }
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

  private void tell(Snapshot snapshot) {
    PrintWriter err = spec.commandLine().getErr();
    if (keys.keyHash().isFixedKey()) {
      err.println("warning: " + HashKeyOptions.fixedKeyWarning());
    }
    if (unusableCount > 0) {
      err.printf(
          "warning: %s of %s lines hold no usable key and were left out%s%n",
          SnapshotSummary.number(unusableCount),
          SnapshotSummary.number(lineCount),
          unusableCount > unusableTold.size() ? ", the first ones:" : ":");
      unusableTold.forEach(err::println);
    }
    SnapshotSummary summary = SnapshotSummary.of(snapshot);
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      ObjectNode object = Json.object();
      object.put("output", output.toString());
      object.put("digest", snapshot.digest());
      object.put("lines", lineCount);
      object.put("unusable", unusableCount);
      object.setAll(summary.json());
      out.println(Json.line(object));
    } else {
      out.printf(
          "%s: %s keys in %s bytes%n",
          output, SnapshotSummary.number(summary.keys()), SnapshotSummary.number(summary.bytes()));
    }
  }
}
