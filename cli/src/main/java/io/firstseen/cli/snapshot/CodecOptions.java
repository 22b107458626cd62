package io.firstseen.cli.snapshot;

import com.fasterxml.jackson.databind.JsonNode;
import io.firstseen.cli.shared.Verb;
import io.firstseen.filters.gcs.interop.Bip158Codec;
import io.firstseen.filters.gcs.interop.CasperCodec;
import io.firstseen.filters.gcs.interop.GolombsetCodec;
import io.firstseen.filters.gcs.interop.OriginalCodec;
import io.firstseen.filters.gcs.interop.SetCodec;
import io.firstseen.operators.UserErrorException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for the format of another program, with its parameters. */
final class CodecOptions {
  /** The formats, with the formats of their keys and bytes. */
  enum Name {
    ORIGINAL(KeyForm.TEXT, TextForm.HEX),
    BIP158(KeyForm.HEX, TextForm.HEX),
    GOLOMBSET(KeyForm.NUMBER, TextForm.HEX),
    CASPER(KeyForm.TEXT, TextForm.BASE64URL);

    final KeyForm keyForm;
    private final TextForm textForm;

    Name(KeyForm keyForm, TextForm textForm) {
      this.keyForm = keyForm;
      this.textForm = textForm;
    }

    String id() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The form of a codec's keys in lines and in JSON. */
  enum KeyForm {
    /** Any bytes; in JSON a string, in UTF-8. */
    TEXT,
    /** The hexadecimal digits of bytes; in JSON a string of them. */
    HEX,
    /** Decimal numbers; in JSON a number, or a string of its digits. */
    NUMBER;

    /** Parses a line; throws an IllegalArgumentException if it is not a key of this form. */
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

    byte[] key(JsonNode node) {
      if (node.isTextual() || (this == NUMBER && node.isIntegralNumber())) {
        return key(utf8(node.asText()));
      }
      throw new IllegalArgumentException(
          "a key must be a " + (this == NUMBER ? "whole number" : "string") + ", this is not");
    }

    private static byte[] utf8(String text) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      if (!text.equals(new String(bytes, StandardCharsets.UTF_8))) {
        throw new IllegalArgumentException("a key must not have half a surrogate pair");
      }
      return bytes;
    }
  }

  /** The text encodings of bytes; base64url is without padding. */
  enum TextForm {
    HEX,
    BASE64URL;

    String write(byte[] bytes) {
      return this == HEX
          ? HexFormat.of().formatHex(bytes)
          : Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    byte[] read(String text) {
      try {
        byte[] bytes =
            this == HEX ? HexFormat.of().parseHex(text) : Base64.getUrlDecoder().decode(text);
        if (this == BASE64URL && !write(bytes).equals(text)) {
          throw new IllegalArgumentException("it has padding, or bits beyond its last byte");
        }
        return bytes;
      } catch (IllegalArgumentException e) {
        throw new UserErrorException(
            "the set is not written in %s: %s"
                .formatted(name().toLowerCase(Locale.ROOT), e.getMessage()));
      }
    }
  }

  @Option(
      names = "--codec",
      required = true,
      paramLabel = "NAME",
      description =
          "Format of the set. original: the file of the first tools in Python and C++; "
              + "bip158: the basic filter of a Bitcoin block; golombset: kazuho/golombset; "
              + "casper: the cookie of H2O.")
  Name name;

  @Option(
      names = "--as",
      paramLabel = "FORM",
      description =
          "Text encoding of the set: hex or base64url (default: base64url for casper, else hex).")
  private TextForm textForm;

  @Option(
      names = "--siphash-key",
      paramLabel = "HEX",
      description = "bip158: key of the hash, 32 hexadecimal digits.")
  private String sipHashKey;

  @Option(
      names = "--block-hash",
      paramLabel = "HEX",
      description =
          "bip158: hash of the block instead of the key, 64 hexadecimal digits as in block "
              + "explorers.")
  private String blockHash;

  @Option(
      names = "--capacity-bits",
      paramLabel = "BITS",
      description = "casper: number of bits of a value, in [1, 31] (default: 13).")
  private Integer capacityBits;

  @Option(
      names = "--remainder-bits",
      paramLabel = "BITS",
      description = "casper: parameter of the Rice code, in [0, 31] (default: 6).")
  private Integer remainderBits;

  TextForm textForm() {
    return textForm == null ? name.textForm : textForm;
  }

  SetCodec codec() {
    requireOnlyFor(Name.BIP158, "--siphash-key", sipHashKey);
    requireOnlyFor(Name.BIP158, "--block-hash", blockHash);
    requireOnlyFor(Name.CASPER, "--capacity-bits", capacityBits);
    requireOnlyFor(Name.CASPER, "--remainder-bits", remainderBits);
    return switch (name) {
      case ORIGINAL -> new OriginalCodec(OriginalCodec.DEFAULT_P);
      case BIP158 -> bip158();
      case GOLOMBSET -> new GolombsetCodec();
      case CASPER ->
          Verb.accepted(
              "--codec casper: ",
              () ->
                  new CasperCodec(
                      capacityBits == null ? CasperCodec.DEFAULT_CAPACITY_BITS : capacityBits,
                      remainderBits == null ? CasperCodec.DEFAULT_REMAINDER_BITS : remainderBits));
    };
  }

  private SetCodec bip158() {
    if ((sipHashKey == null) == (blockHash == null)) {
      throw new UserErrorException("--codec bip158 needs either --siphash-key or --block-hash");
    }
    if (blockHash != null) {
      return Verb.accepted(() -> Bip158Codec.ofBlock(blockHash));
    }
    try {
      return new Bip158Codec(HexFormat.of().parseHex(sipHashKey));
    } catch (IllegalArgumentException e) {
      throw new UserErrorException(
          "--siphash-key must be 32 hexadecimal digits, got '" + sipHashKey + "'");
    }
  }

  void requireOnlyFor(Name owner, String option, @Nullable Object value) {
    if (value != null && name != owner) {
      throw new UserErrorException(
          "%s is for --codec %s, not %s".formatted(option, owner.id(), name.id()));
    }
  }
}
