package io.firstseen.server;

import io.firstseen.server.http.Access;
import io.firstseen.server.http.AllowedHosts;
import io.firstseen.server.http.HttpLimits;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * Options of a {@link SnapshotServer}.
 *
 * @param address the address to listen on; port 0 means any free port
 * @param access which requests are allowed
 * @param refuseStale whether queries of a stale snapshot fail
 * @param limits limits on requests and connections
 * @param maxBatchKeys the maximum number of keys in one batch
 * @param drain how long it keeps serving after {@link SnapshotServer#close} was called, while
 *     {@code /readyz} fails
 * @param grace how long it then waits for running requests
 * @param firstSnapshotWithin the window and the idle timeout of the snapshot job together, if they
 *     are known, for the message of a set without a snapshot
 */
public record ServerOptions(
    InetSocketAddress address,
    Access access,
    boolean refuseStale,
    HttpLimits limits,
    int maxBatchKeys,
    Duration drain,
    Duration grace,
    Optional<Duration> firstSnapshotWithin) {

  /** The default of {@link #maxBatchKeys}. */
  public static final int DEFAULT_MAX_BATCH_KEYS = 10_000;

  /** Checks the values. */
  public ServerOptions {
    Objects.requireNonNull(address, "address");
    Objects.requireNonNull(access, "access");
    Objects.requireNonNull(limits, "limits");
    if (maxBatchKeys < 1) {
      throw new IllegalArgumentException("maxBatchKeys must be at least 1, got " + maxBatchKeys);
    }
  }

  /**
   * Creates default options: no tokens and no TLS, {@link AllowedHosts#defaultFor} the address,
   * stale snapshots may be queried, no drain time, 10 s of grace.
   */
  public static ServerOptions at(InetSocketAddress address) {
    return new ServerOptions(
        address,
        Access.by(AllowedHosts.defaultFor(address)),
        false,
        HttpLimits.DEFAULT,
        DEFAULT_MAX_BATCH_KEYS,
        Duration.ZERO,
        Duration.ofSeconds(10),
        Optional.empty());
  }

  /** Returns a copy with different access rules. */
  public ServerOptions withAccess(Access newAccess) {
    return new ServerOptions(
        address, newAccess, refuseStale, limits, maxBatchKeys, drain, grace, firstSnapshotWithin);
  }
}
