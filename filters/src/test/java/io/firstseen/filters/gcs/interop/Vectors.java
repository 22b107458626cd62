package io.firstseen.filters.gcs.interop;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** Sets that other programs wrote; vectors/README.md lists their sources. */
final class Vectors {
  private Vectors() {}

  static JsonNode read(String name) {
    try (InputStream in = Vectors.class.getResourceAsStream("/vectors/" + name + ".json")) {
      return new ObjectMapper().readTree(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Stream<JsonNode> elements(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false);
  }

  static List<byte[]> texts(JsonNode array) {
    return elements(array).map(node -> node.textValue().getBytes(UTF_8)).toList();
  }

  static long[] numbers(JsonNode array) {
    return elements(array).mapToLong(JsonNode::longValue).toArray();
  }

  static List<byte[]> keys(String... texts) {
    return Stream.of(texts).map(text -> text.getBytes(UTF_8)).toList();
  }

  static byte[] hex(String digits) {
    return HexFormat.of().parseHex(digits);
  }

  static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  static long[] values(CodedSet set) {
    return LongStream.generate(set.values()::nextLong).limit(set.count()).toArray();
  }
}
