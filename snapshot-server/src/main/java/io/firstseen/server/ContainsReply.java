package io.firstseen.server;

import com.fasterxml.jackson.core.JsonGenerator;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.server.http.Reply;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * The response for one key. Most keys do not need escaping in JSON, and setting up a generator
 * would take longer than the query; for such keys this class writes the bytes directly. They equal
 * the generator's bytes.
 */
final class ContainsReply {
  private static final byte[] BEGIN = "{\"key\":\"".getBytes(StandardCharsets.US_ASCII);

  private ContainsReply() {}

  static Reply of(byte[] key, boolean present, Manifest manifest) {
    if (!isPlain(key)) {
      return Reply.json(
          200,
          json -> {
            json.writeStartObject();
            writeAnswer(json, key, present, manifest);
            json.writeEndObject();
          });
    }
    String rest =
        "\",\"present\":"
            + present
            + ",\"set\":\""
            + manifest.setName()
            + "\",\"sequence\":"
            + manifest.sequence()
            + ",\"windowEndMillis\":"
            + manifest.windowEndMillis()
            + "}\n";
    // A set's name has only characters that JSON does not escape.
    byte[] end = rest.getBytes(StandardCharsets.US_ASCII);
    byte[] body = new byte[BEGIN.length + key.length + end.length];
    System.arraycopy(BEGIN, 0, body, 0, BEGIN.length);
    System.arraycopy(key, 0, body, BEGIN.length, key.length);
    System.arraycopy(end, 0, body, BEGIN.length + key.length, end.length);
    return Reply.of(200, "application/json", body);
  }

  /** Returns whether bytes are ASCII and do not need escaping in JSON. */
  private static boolean isPlain(byte[] key) {
    for (byte each : key) {
      if (each < ' ' || each == '"' || each == '\\') {
        return false;
      }
    }
    return true;
  }

  /** Writes the fields of the response. */
  static void writeAnswer(JsonGenerator json, byte[] key, boolean present, Manifest manifest)
      throws IOException {
    json.writeStringField("key", ContainsEndpoint.text(key));
    json.writeBooleanField("present", present);
    json.writeStringField("set", manifest.setName());
    json.writeNumberField("sequence", manifest.sequence());
    json.writeNumberField("windowEndMillis", manifest.windowEndMillis());
  }
}
