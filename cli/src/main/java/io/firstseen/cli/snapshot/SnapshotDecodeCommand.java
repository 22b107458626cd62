package io.firstseen.cli.snapshot;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.InputFile;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.JsonVerb;
import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import io.firstseen.filters.gcs.interop.CodedSet;
import io.firstseen.filters.gcs.interop.SetCodec;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Reads a set in the format of another program. */
@Command(
    name = "decode",
    footer = {
      "  firstseen snapshot decode --codec golombset --input set.bin",
      "  firstseen snapshot decode --codec original --input set.gcs --query example.org"
    },
    description = {
      "Reads a Golomb-coded set in the format of another program (docs/interop.md) and prints "
          + "its values, one per line, or reports whether it contains keys."
    })
final class SnapshotDecodeCommand extends JsonVerb {

  @Mixin private CodecOptions codec;

  @Parameters(
      arity = "0..1",
      paramLabel = "TEXT",
      description =
          "Set as text, see --as; - reads standard input. Write -- before a text that "
              + "starts with -.")
  private String text;

  @Option(
      names = "--input",
      paramLabel = "F",
      description = "File with the bytes of the set, instead of TEXT; - reads standard input.")
  private String input;

  @Option(
      names = "--query",
      paramLabel = "KEY",
      description =
          "Key to look up, in the form that encode reads; may be repeated. Prints KEY TAB "
              + "present|absent.")
  private List<String> queries = List.of();

  @Override
  public Integer call() {
    SetCodec chosen = codec.codec();
    if ((text == null) == (input == null)) {
      throw new UserErrorException("a set is needed, as TEXT or as a file with --input");
    }
    byte[] bytes = input == null ? codec.textForm().read(text()) : read(input, SetCodec.MAX_BYTES);
    CodedSet set;
    try {
      set = chosen.decode(bytes);
    } catch (MalformedGolombCodedSetException e) {
      throw new UserErrorException(
          "this is not a set of %s: %s".formatted(codec.name.id(), e.getMessage()));
    }
    if (!queries.isEmpty()) {
      queries.forEach(key -> answer(set, key));
    } else if (isJson()) {
      printJson(set);
    } else {
      set.values().forEachRemaining((long value) -> out().println(Long.toUnsignedString(value)));
    }
    return ExitCode.GOOD;
  }

  private String text() {
    return text.equals(InputFile.STANDARD_INPUT)
        ? new String(read(text, 2 * SetCodec.MAX_BYTES + 2), StandardCharsets.ISO_8859_1).strip()
        : text;
  }

  private static byte[] read(String pathOrDash, int maxBytes) {
    Path name = InputFile.nameOf(pathOrDash);
    try (InputStream stream = InputFile.open(pathOrDash)) {
      byte[] bytes = stream.readNBytes(maxBytes + 1);
      if (bytes.length > maxBytes) {
        throw new UserErrorException(name + " must be at most " + maxBytes + " bytes, it is more");
      }
      return bytes;
    } catch (IOException e) {
      throw UserErrorException.cannot("read", name, e);
    }
  }

  private void answer(CodedSet set, String key) {
    byte[] written = QueryVerb.bytesOf(key);
    boolean present = accepted(() -> set.mightContain(codec.name.keyForm.key(written)));
    String answer = present ? "present" : "absent";
    print(Json.object().put("key", key).put("answer", answer), key + "\t" + answer);
  }

  private void printJson(CodedSet set) {
    ObjectNode object = Json.object();
    object.put("codec", codec.name.id());
    set.header().forEach(object::put);
    object.put("count", set.count());
    ArrayNode array = object.putArray("values");
    set.values()
        .forEachRemaining((long value) -> array.add(new BigInteger(Long.toUnsignedString(value))));
    out().println(Json.line(object));
  }
}
