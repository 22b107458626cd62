package io.firstseen.cli.snapshot;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** The form of a codec's keys in lines and in JSON. */
enum KeyForm {
  /** Any bytes; in JSON a string, in UTF-8. */
  TEXT,
  /** The hexadecimal digits of bytes; in JSON a string of them. */
  HEX,
  /** Decimal numbers; in JSON a number, or a string of its digits. */
  NUMBER;

  /**
   * Parses the key in a line.
   *
   * @throws IllegalArgumentException if the line is not a key of this form
   */
  byte[] key(byte[] line) {
    if (this != HEX) {
      return line;
    }
    try {
      return HexFormat.of().parseHex(new String(line, StandardCharsets.ISO_8859_1));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("a key must be pairs of hexadecimal digits", e);
    }
  }

  /** Parses a key in JSON. */
  byte[] key(JsonNode node) {
    if (node.isTextual() || (this == NUMBER && node.isIntegralNumber())) {
      return key(utf8(node.asText()));
    }
    throw new IllegalArgumentException(
        "a key must be a " + (this == NUMBER ? "whole number" : "string") + ", this is not");
  }

  private static byte[] utf8(String text) {
    try {
      ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      byte[] bytes = new byte[encoded.remaining()];
      encoded.get(bytes);
      return bytes;
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("a key must not have half a surrogate pair", e);
    }
  }
}
