package io.firstseen.server.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A status, headers, and a body, which may be a part of larger content. */
public final class Reply {
  private static final JsonFactory JSON =
      JsonFactory.builder().enable(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8).build();
  private static final int FEW_BYTES = 256;

  private final int status;
  private final String contentType;
  private final ByteBuffer body;
  private final List<Map.Entry<String, String>> headers = new ArrayList<>(2);

  private Reply(int status, String contentType, ByteBuffer body) {
    this.status = status;
    this.contentType = contentType;
    this.body = body;
  }

  /**
   * Returns a reply with a body.
   *
   * @param contentType null if there is no body
   * @param body its remaining bytes are sent; must not be changed
   */
  public static Reply of(int status, @Nullable String contentType, ByteBuffer body) {
    return new Reply(status, contentType, body);
  }

  /** Returns a reply with an array as its body. */
  public static Reply of(int status, String contentType, byte[] body) {
    return of(status, contentType, ByteBuffer.wrap(body));
  }

  /** Returns a reply without a body. */
  public static Reply empty(int status) {
    return of(status, null, ByteBuffer.allocate(0));
  }

  /** Writes JSON. */
  @FunctionalInterface
  public interface JsonWriter {
    /** Writes one value. */
    void write(JsonGenerator json) throws IOException;
  }

  /** Returns a reply with an object of these fields in JSON, which caches do not store. */
  public static Reply json(JsonWriter fields) {
    return json(jsonBytes(object(fields)));
  }

  /** Returns a reply with JSON, which caches do not store. */
  public static Reply json(byte[] body) {
    return of(200, "application/json", body).header("cache-control", "no-store");
  }

  private static JsonWriter object(JsonWriter fields) {
    return json -> {
      json.writeStartObject();
      fields.write(json);
      json.writeEndObject();
    };
  }

  /** Returns JSON that ends with a line feed, for terminals. */
  public static byte[] jsonBytes(JsonWriter writer) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(FEW_BYTES);
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      writer.write(json);
      json.writeRaw('\n');
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  static Reply error(int status, String sentence) {
    JsonWriter error = object(json -> json.writeStringField("error", sentence));
    return of(status, "application/json", jsonBytes(error));
  }

  /** Adds a header. */
  public Reply header(String name, String value) {
    headers.add(Map.entry(name, value));
    return this;
  }

  /** Returns the HTTP status. */
  public int status() {
    return status;
  }

  String contentType() {
    return contentType;
  }

  ByteBuffer body() {
    return body.duplicate();
  }

  void forEachHeader(BiConsumer<String, String> action) {
    headers.forEach(header -> action.accept(header.getKey(), header.getValue()));
  }
}
