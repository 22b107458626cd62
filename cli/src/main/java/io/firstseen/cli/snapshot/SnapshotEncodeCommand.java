package io.firstseen.cli.snapshot;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.cli.shared.Verb;
import io.firstseen.filters.gcs.interop.OriginalCodec;
import io.firstseen.filters.gcs.interop.SetCodec;
import io.firstseen.jobs.files.OutputFile;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Makes a set in the format of another program. */
@Command(
    name = "encode",
    footer = {
      "  firstseen snapshot encode --codec original --input keys.txt --output set.gcs",
      "  firstseen snapshot encode --codec golombset --input numbers.txt --as hex"
    },
    description = {
      "Writes a Golomb-coded set in the format of another program, byte for byte. Keys are "
          + "used unchanged: lines are neither canonicalised nor skipped. docs/interop.md "
          + "describes the formats."
    })
final class SnapshotEncodeCommand extends Verb {

  @Mixin private CodecOptions codec;

  @Option(
      names = "--p",
      paramLabel = "P",
      description =
          "original: probability 1/P that the set returns present for a key outside the set; a "
              + "power of two in [1, 2^31] (default: 1024).")
  private Long p;

  @Mixin private SetKeys keys;

  @Option(
      names = "--output",
      paramLabel = "F",
      description = "Output file of the bytes (default: the bytes are printed as text).")
  private Path output;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Override
  public Integer call() throws Exception {
    codec.requireOnlyFor(CodecOptions.Name.ORIGINAL, "--p", p);
    SetCodec chosen = p == null ? codec.codec() : CodecOptions.accepted(() -> new OriginalCodec(p));
    return Cleanup.after(cleanup -> encode(chosen, cleanup));
  }

  private int encode(SetCodec chosen, Cleanup cleanup) throws IOException {
    OutputFile file = null;
    output = output(output);
    if (output != null) {
      keys.requireOther(output);
      file = new OutputFile(output);
      cleanup.add(file);
    }
    List<byte[]> all = keys.read(codec.name().keyForm());
    byte[] bytes;
    try {
      bytes = chosen.encode(all);
    } catch (IllegalArgumentException e) {
      throw new UserErrorException(keys.name() + ": " + e.getMessage());
    }
    if (file != null) {
      file.write(bytes);
      file.complete();
    }
    print(all.size(), bytes);
    return ExitCode.GOOD;
  }

  private void print(int keyCount, byte[] bytes) {
    ObjectNode object = Json.object();
    object.put("codec", codec.name().id()).put("keys", keyCount).put("bytes", bytes.length);
    String text;
    if (output == null) {
      text = codec.textForm().write(bytes);
      object.put("set", text);
    } else {
      text =
          "%s: %s keys in %s bytes"
              .formatted(
                  output, SnapshotSummary.number(keyCount), SnapshotSummary.number(bytes.length));
      object.put("output", output.toString());
    }
    print(json, object, text);
  }
}
