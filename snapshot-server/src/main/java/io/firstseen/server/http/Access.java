package io.firstseen.server.http;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Who may ask, and how.
 *
 * @param hosts the names that the Host header of a request may have; others get 421
 * @param tokens of which every request must bring one, but for routes that are open; others get 401
 * @param tls with which connections are encrypted; null if they are not
 */
public record Access(AllowedHosts hosts, BearerTokens tokens, @Nullable Tls tls) {

  /** Checks the values. */
  public Access {
    Objects.requireNonNull(hosts, "hosts");
    Objects.requireNonNull(tokens, "tokens");
  }

  /** Without tokens and not encrypted. */
  public static Access by(AllowedHosts hosts) {
    return new Access(hosts, BearerTokens.none(), null);
  }
}
