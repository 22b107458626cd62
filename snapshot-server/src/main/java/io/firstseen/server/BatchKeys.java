package io.firstseen.server;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.firstseen.server.http.HttpFailure;
import io.firstseen.server.http.Request;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The keys in the body of a request: a JSON array of strings, or one key per line. */
final class BatchKeys {
  private static final JsonFactory JSON = new JsonFactory();
  private static final Pattern CHARSET = Pattern.compile(";\\s*charset\\s*=\\s*\"?([^\";\\s]*)");
  private static final Set<String> UTF_8_CHARSETS = Set.of("utf-8", "utf8", "us-ascii");

  private final int maxKeys;
  private final List<byte[]> keys = new ArrayList<>();

  private BatchKeys(int maxKeys) {
    this.maxKeys = maxKeys;
  }

  /**
   * Reads the keys in the body of a request.
   *
   * @throws HttpFailure if they cannot be read, or if there are too many
   */
  static List<byte[]> read(Request request, int maxKeys) throws HttpFailure {
    String coding = header(request, "content-encoding");
    if (!coding.isEmpty() && !coding.equals("identity")) {
      throw new HttpFailure(
          415, "the body must not be compressed, got the encoding '" + coding + "'");
    }
    String contentType = header(request, "content-type");
    Matcher charset = CHARSET.matcher(contentType);
    if (charset.find() && !UTF_8_CHARSETS.contains(charset.group(1))) {
      throw new HttpFailure(415, "the charset must be utf-8, got '" + charset.group(1) + "'");
    }
    String type = contentType.split(";", 2)[0].strip();
    BatchKeys batch = new BatchKeys(maxKeys);
    switch (type) {
      case "application/json" -> batch.readJson(request.body());
      case "text/plain" -> batch.readLines(request.body());
      default ->
          throw new HttpFailure(
              415,
              "the content type must be application/json, an array of keys, or text/plain, one key per"
                  + " line; got "
                  + (type.isEmpty() ? "none" : "'" + type + "'"));
    }
    return batch.keys;
  }

  private static String header(Request request, String name) {
    String value = request.header(name);
    return value == null ? "" : value.strip().toLowerCase(Locale.ROOT);
  }

  private void readJson(byte[] body) throws HttpFailure {
    try (JsonParser parser = JSON.createParser(body)) {
      if (parser.nextToken() != JsonToken.START_ARRAY) {
        throw new HttpFailure(400, "the body must be an array of strings in JSON");
      }
      JsonToken token = parser.nextToken();
      for (; token == JsonToken.VALUE_STRING; token = parser.nextToken()) {
        add(utf8(parser.getText()));
      }
      if (token != JsonToken.END_ARRAY) {
        throw new HttpFailure(400, "element " + keys.size() + " of the array must be a string");
      }
      if (parser.nextToken() != null) {
        throw new HttpFailure(400, "the body must end with the array");
      }
    } catch (IOException e) {
      throw new HttpFailure(400, "the body must be an array of strings in JSON, but is not JSON");
    }
  }

  private byte[] utf8(String text) throws HttpFailure {
    try {
      ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      byte[] copy = new byte[bytes.remaining()];
      bytes.get(copy);
      return copy;
    } catch (CharacterCodingException e) {
      throw new HttpFailure(
          400,
          "element "
              + keys.size()
              + " of the array has half a surrogate pair, which is not valid text");
    }
  }

  private void readLines(byte[] body) throws HttpFailure {
    String head = new String(body, 0, Math.min(body.length, 3), StandardCharsets.ISO_8859_1);
    if (head.startsWith("\u001F\u008B")) {
      throw new HttpFailure(415, "the body must not be compressed, got data in gzip format");
    } else if (head.startsWith("\u00FF\u00FE") || head.startsWith("\u00FE\u00FF")) {
      throw new HttpFailure(415, "the charset must be utf-8, got a byte order mark of utf-16");
    }
    int start = head.equals("\u00EF\u00BB\u00BF") ? 3 : 0;
    while (start < body.length) {
      int end = start;
      while (end < body.length && body[end] != '\n') {
        end++;
      }
      int keyEnd = end > start && body[end - 1] == '\r' ? end - 1 : end;
      add(Arrays.copyOfRange(body, start, keyEnd));
      start = end + 1;
    }
  }

  private void add(byte[] key) throws HttpFailure {
    if (keys.size() == maxKeys) {
      throw new HttpFailure(413, "a batch must have at most " + maxKeys + " keys");
    }
    keys.add(key);
  }
}
