package io.firstseen.server.http;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Access rules.
 *
 * @param hosts the allowed names in the Host header of a request; requests with other names get 421
 * @param tokens the tokens, one of which every request must contain, except for open routes; other
 *     requests get 401
 * @param tls the TLS configuration of connections; null if they are not encrypted
 */
public record Access(AllowedHosts hosts, BearerTokens tokens, @Nullable Tls tls) {

  /** Checks the values. */
  public Access {
    Objects.requireNonNull(hosts, "hosts");
    Objects.requireNonNull(tokens, "tokens");
  }

  /** Creates rules without tokens and encryption. */
  public static Access by(AllowedHosts hosts) {
    return new Access(hosts, BearerTokens.none(), null);
  }
}
