package io.firstseen.server;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.firstseen.server.http.HttpFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The keys in the body of a request: an array of strings in JSON, or one key a line. */
final class BatchKeys {
  private static final JsonFactory JSON = new JsonFactory();

  private final int maxKeys;
  private final List<byte[]> keys = new ArrayList<>();

  private BatchKeys(int maxKeys) {
    this.maxKeys = maxKeys;
  }

  /**
   * Reads the keys.
   *
   * @param contentType the Content-Type header; null if there is none
   * @throws HttpFailure if they cannot be read or are too many
   */
  static List<byte[]> read(@Nullable String contentType, byte[] body, int maxKeys)
      throws HttpFailure {
    String type =
        contentType == null ? "" : contentType.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    BatchKeys batch = new BatchKeys(maxKeys);
    switch (type) {
      case "application/json" -> batch.readJson(body);
      case "text/plain" -> batch.readLines(body);
      default ->
          throw new HttpFailure(
              415,
              "the content type must be application/json, an array of keys, or text/plain, one key per"
                  + " line; got "
                  + (type.isEmpty() ? "none" : "'" + type + "'"));
    }
    return batch.keys;
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
    int start = 0;
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
