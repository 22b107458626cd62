package io.firstseen.fuzz;

import static io.firstseen.fuzz.Fail.require;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.filters.snapshot.TrustedKey;
import java.nio.charset.StandardCharsets;

/**
 * Key files are either rejected with an {@link IllegalArgumentException} whose message contains
 * none of their bytes, or written in a form that is read as the same key.
 */
class KeyFileFuzzTest {
  /** The text and its Base64 form, each held several times. */
  private static final long FACTOR = 64;

  private static final int MAX_MESSAGE_CHARS = 200;

  @FuzzTest
  void keyFile(byte[] input) throws Exception {
    String text = new String(input, StandardCharsets.ISO_8859_1);
    Bounds.hold(
        input.length,
        FACTOR,
        () -> {
          hashKey(text);
          trustedKey(text);
          signingKey(text);
        });
  }

  private static void hashKey(String text) {
    try {
      KeyHash hash = KeyHash.parse(text);
      require(!hash.toString().contains(text), "a hash key must not be printed");
    } catch (IllegalArgumentException e) {
      requireShort(e);
    }
  }

  private static void trustedKey(String text) {
    try {
      TrustedKey key = TrustedKey.parse(text);
      require(TrustedKey.parse(key.toPem()).equals(key), "a public key must be what it writes");
    } catch (IllegalArgumentException e) {
      requireShort(e);
    }
  }

  private static void signingKey(String text) {
    try {
      SigningKey key = SigningKey.parse(text);
      require(
          SigningKey.parse(key.toPem()).publicKey().equals(key.publicKey()),
          "a private key must be what it writes");
    } catch (IllegalArgumentException e) {
      requireShort(e);
    }
  }

  private static void requireShort(IllegalArgumentException e) {
    require(e.getMessage().length() <= MAX_MESSAGE_CHARS, "a message must be short");
  }
}
