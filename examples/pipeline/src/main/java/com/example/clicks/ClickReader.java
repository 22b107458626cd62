package com.example.clicks;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.api.common.serialization.AbstractDeserializationSchema;

/** Reads clicks such as {@code {"visitor": "ann", "url": "https://example.org/"}}. */
final class ClickReader extends AbstractDeserializationSchema<Click> {
  private static final long serialVersionUID = 1;

  private final ObjectMapper mapper = new ObjectMapper();

  /** Never fails: an exception here would stop the job at the same record again and again. */
  @Override
  public Click deserialize(byte[] value) {
    String json = value == null ? "" : new String(value, UTF_8);
    try {
      return new Click(mapper.readTree(json).path("url").textValue(), json);
    } catch (JsonProcessingException e) {
      return new Click(null, json);
    }
  }
}
