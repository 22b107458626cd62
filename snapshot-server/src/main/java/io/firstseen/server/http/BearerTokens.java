package io.firstseen.server.http;

import io.firstseen.filters.key.SecretFiles;
import io.firstseen.filters.snapshot.Sha256;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The tokens, one of which a request must contain (RFC 6750). Stores only their digests; messages
 * and {@code toString} do not contain tokens.
 */
public final class BearerTokens {
  private static final BearerTokens NONE = new BearerTokens(List.of());
  private static final int MIN_CHARACTERS = 16;
  private static final int MAX_CHARACTERS = 1024;
  private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/-]+=*");
  private static final Pattern HEADER =
      Pattern.compile(" *bearer +([^ ]+) *", Pattern.CASE_INSENSITIVE);

  private final List<byte[]> digests;

  private BearerTokens(List<byte[]> digests) {
    this.digests = digests;
  }

  /** Accepts requests without a token. */
  public static BearerTokens none() {
    return NONE;
  }

  /**
   * Reads the tokens of a file. Logs a warning if users other than its owner may read or change it.
   *
   * @throws IOException if it cannot be read
   * @throws IllegalArgumentException as {@link #parse}
   */
  public static BearerTokens fromFile(Path file) throws IOException {
    SecretFiles.warnIfAccessible(file);
    // Latin-1 decodes any bytes, so parse() rejects a wrong file with its own message.
    return parse(Files.readString(file, StandardCharsets.ISO_8859_1));
  }

  /**
   * Parses tokens, one per line; empty lines are ignored.
   *
   * @throws IllegalArgumentException if there is no token, or if a token does not have 16 to 1,024
   *     characters or has characters that RFC 6750 does not allow
   */
  public static BearerTokens parse(String text) {
    List<byte[]> digests = new ArrayList<>();
    int number = 0;
    for (String line : text.lines().toList()) {
      number++;
      String token = line.strip();
      if (token.isEmpty()) {
        continue;
      }
      if (token.length() < MIN_CHARACTERS || token.length() > MAX_CHARACTERS) {
        throw new IllegalArgumentException(
            "a token must have %d to %d characters, the token in line %d has %d"
                .formatted(MIN_CHARACTERS, MAX_CHARACTERS, number, token.length()));
      }
      if (!TOKEN.matcher(token).matches()) {
        throw new IllegalArgumentException(
            "a token must be of A-Z a-z 0-9 . _ ~ + / - with = at its end only, the token in line "
                + number
                + " is not");
      }
      digests.add(digest(token));
    }
    if (digests.isEmpty()) {
      throw new IllegalArgumentException(
          "there must be at least one token, one per line, got none");
    }
    return new BearerTokens(digests);
  }

  /** Returns whether requests require a token. */
  public boolean areNeeded() {
    return !digests.isEmpty();
  }

  /**
   * Rejects a request without one of the tokens. The duration of the check does not reveal the
   * tokens.
   *
   * @param authorizations the values of its Authorization headers
   * @throws HttpFailure with 401
   */
  void require(List<String> authorizations) throws HttpFailure {
    if (digests.isEmpty()) {
      return;
    }
    String token = authorizations.size() == 1 ? tokenOf(authorizations.get(0)) : null;
    if (token == null) {
      throw new HttpFailure(
          401,
          "this needs the header 'Authorization: Bearer TOKEN', once, with a token of the service",
          Map.of("www-authenticate", "Bearer realm=\"firstseen\""));
    }
    byte[] digest = digest(token);
    boolean isOne = false;
    for (byte[] each : digests) {
      isOne |= MessageDigest.isEqual(each, digest);
    }
    if (!isOne) {
      throw new HttpFailure(
          401,
          "the token is not valid for this service",
          Map.of("www-authenticate", "Bearer realm=\"firstseen\", error=\"invalid_token\""));
    }
  }

  private static @Nullable String tokenOf(String authorization) {
    Matcher matcher = HEADER.matcher(authorization);
    return matcher.matches() ? matcher.group(1) : null;
  }

  private static byte[] digest(String token) {
    return Sha256.hex(token.getBytes(StandardCharsets.ISO_8859_1))
        .getBytes(StandardCharsets.US_ASCII);
  }

  /** Returns the number of tokens. */
  @Override
  public String toString() {
    return digests.size() + " bearer tokens";
  }
}
