package io.firstseen.cli.snapshot;

import static io.firstseen.cli.shared.SnapshotSummary.number;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.InputFile;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.JsonVerb;
import io.firstseen.cli.snapshot.CodecOptions.KeyForm;
import io.firstseen.filters.gcs.interop.OriginalCodec;
import io.firstseen.filters.gcs.interop.SetCodec;
import io.firstseen.jobs.files.EventFiles;
import io.firstseen.jobs.files.LineReader;
import io.firstseen.jobs.files.OutputFile;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
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
      "Writes a Golomb-coded set in the format of another program (docs/interop.md), byte for "
          + "byte. Lines are neither canonicalised nor skipped."
    })
final class SnapshotEncodeCommand extends JsonVerb {

  private static final ObjectReader JSON =
      new ObjectMapper().reader().with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  enum Format {
    LINES,
    JSON
  }

  @Mixin private CodecOptions codec;

  @Option(
      names = "--p",
      paramLabel = "P",
      description =
          "original: probability 1/P that the set returns present for another key; a power "
              + "of two in [1, 2^31] (default: 1024).")
  private Long p;

  @Option(
      names = "--input",
      required = true,
      paramLabel = "KEYS",
      description =
          "File with keys, optionally in gzip format; - reads standard input. Keys are text"
              + " for original and casper, hexadecimal for bip158, decimal numbers for golombset.")
  private String input;

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      defaultValue = "lines",
      description =
          "lines: one key per line; json: an array of keys, see --at (default: ${DEFAULT-VALUE}).")
  private Format format;

  @Option(
      names = "--at",
      paramLabel = "POINTER",
      converter = Pointer.class,
      description =
          "JSON pointer to the array, such as /vectors/0/keys (default: the whole document).")
  private JsonPointer at;

  @Option(
      names = "--output",
      paramLabel = "F",
      description = "Output file of the bytes (default: they are printed as text).")
  private Path output;

  @Override
  public Integer call() throws Exception {
    codec.requireOnlyFor(CodecOptions.Name.ORIGINAL, "--p", p);
    SetCodec chosen = p == null ? codec.codec() : accepted(() -> new OriginalCodec(p));
    return Cleanup.after(cleanup -> encode(chosen, cleanup));
  }

  private int encode(SetCodec chosen, Cleanup cleanup) throws IOException {
    OutputFile file = null;
    output = output(output);
    if (output != null) {
      InputFile.requireOther(input, output);
      file = new OutputFile(output);
      cleanup.add(file);
    }
    List<byte[]> all = read(codec.name.keyForm);
    byte[] bytes = accepted(name() + ": ", () -> chosen.encode(all));
    if (file != null) {
      file.write(bytes);
      file.complete();
    }
    print(all.size(), bytes);
    return ExitCode.GOOD;
  }

  private void print(int keyCount, byte[] bytes) {
    ObjectNode object = Json.object();
    object.put("codec", codec.name.id()).put("keys", keyCount).put("bytes", bytes.length);
    if (output == null) {
      String text = codec.textForm().write(bytes);
      print(object.put("set", text), text);
    } else {
      String text = "%s: %s keys in %s bytes";
      print(
          object.put("output", output.toString()),
          text.formatted(output, number(keyCount), number(bytes.length)));
    }
  }

  private Path name() {
    return InputFile.nameOf(input);
  }

  private List<byte[]> read(KeyForm form) {
    if (at != null && format != Format.JSON) {
      throw new UserErrorException("--at is for --format json");
    }
    try (InputStream stream = InputFile.openText(input)) {
      return format == Format.JSON ? readJson(stream, form) : readLines(stream, form);
    } catch (JsonProcessingException e) {
      String line = e.getLocation() == null ? "" : ":" + e.getLocation().getLineNr();
      throw new UserErrorException(name() + line + ": this is not JSON: " + e.getOriginalMessage());
    } catch (IOException e) {
      throw UserErrorException.cannot("read", name(), e);
    }
  }

  private List<byte[]> readLines(InputStream stream, KeyForm form) throws IOException {
    List<byte[]> keys = new ArrayList<>();
    LineReader lines = new LineReader(stream, EventFiles.MAX_LINE_BYTES);
    for (byte[] line = lines.next(); line != null; line = lines.next()) {
      String place = name() + ":" + lines.lineNumber() + ": ";
      if (lines.wasTooLong()) {
        throw new UserErrorException(
            place + "a line must be at most " + EventFiles.MAX_LINE_BYTES + " bytes");
      }
      byte[] key = line;
      keys.add(accepted(place, () -> form.key(key)));
    }
    return keys;
  }

  private List<byte[]> readJson(InputStream stream, KeyForm form) throws IOException {
    String pointer = at == null ? "" : at.toString();
    JsonNode array = JSON.readTree(stream).at(pointer);
    if (!array.isArray()) {
      throw new UserErrorException(
          name() + (at == null ? "" : " at " + pointer) + ": this is not an array of keys");
    }
    List<byte[]> keys = new ArrayList<>(array.size());
    for (JsonNode node : array) {
      String place = "%s at %s/%d: ".formatted(name(), pointer, keys.size());
      keys.add(accepted(place, () -> form.key(node)));
    }
    return keys;
  }

  /** A JSON pointer. */
  static final class Pointer extends OptionValues.Value<JsonPointer> {
    Pointer() {
      super(JsonPointer::compile);
    }
  }
}
