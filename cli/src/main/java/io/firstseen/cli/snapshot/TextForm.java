package io.firstseen.cli.snapshot;

import io.firstseen.jobs.options.OptionValues;
import io.firstseen.operators.UserErrorException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Locale;

/** The text encodings of bytes. */
enum TextForm {
  HEX {
    @Override
    String write(byte[] bytes) {
      return HexFormat.of().formatHex(bytes);
    }

    @Override
    byte[] parse(String text) {
      return HexFormat.of().parseHex(text);
    }
  },
  /** Without padding. */
  BASE64URL {
    @Override
    String write(byte[] bytes) {
      return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    @Override
    byte[] parse(String text) {
      byte[] bytes = Base64.getUrlDecoder().decode(text);
      if (!write(bytes).equals(text)) {
        throw new IllegalArgumentException("it has padding, or bits beyond its last byte");
      }
      return bytes;
    }
  };

  abstract String write(byte[] bytes);

  /** Parses the bytes; throws IllegalArgumentException if the text is not in this encoding. */
  abstract byte[] parse(String text);

  byte[] read(String text) {
    try {
      return parse(text);
    } catch (IllegalArgumentException e) {
      throw new UserErrorException(
          "the set is not written in %s: %s"
              .formatted(name().toLowerCase(Locale.ROOT), e.getMessage()));
    }
  }

  /** A form by its name in lower case. */
  static final class Name extends OptionValues.LowerCaseName<TextForm> {
    Name() {
      super(TextForm.class);
    }
  }
}
