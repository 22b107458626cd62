package io.firstseen.server;

import io.firstseen.server.http.Access;
import io.firstseen.server.http.AllowedHosts;
import io.firstseen.server.http.HttpLimits;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * How a {@link SnapshotServer} serves.
 *
 * @param address the address to listen on; port 0 means any free port
 * @param access who may ask, and how
 * @param refuseStale whether a stale snapshot no longer answers
 * @param limits limits on requests and connections
 * @param maxBatchKeys the maximum number of keys in one batch
 * @param drain how long it keeps serving after {@link SnapshotServer#close} was called, with {@code
 *     /readyz} failing
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

  /** Options that do not know when to expect a first snapshot. */
  public ServerOptions(
      InetSocketAddress address,
      Access access,
      boolean refuseStale,
      HttpLimits limits,
      int maxBatchKeys,
      Duration drain,
      Duration grace) {
    this(address, access, refuseStale, limits, maxBatchKeys, drain, grace, Optional.empty());
  }

  /** Options without tokens and TLS, with {@link AllowedHosts#defaultFor} the address. */
  public ServerOptions(
      InetSocketAddress address,
      boolean refuseStale,
      HttpLimits limits,
      int maxBatchKeys,
      Duration drain,
      Duration grace) {
    this(
        address,
        Access.by(AllowedHosts.defaultFor(address)),
        refuseStale,
        limits,
        maxBatchKeys,
        drain,
        grace);
  }

  /** Defaults: stale snapshots answer, nothing to drain, 10 s of grace. */
  public static ServerOptions at(InetSocketAddress address) {
    return new ServerOptions(
        address,
        false,
        HttpLimits.DEFAULT,
        DEFAULT_MAX_BATCH_KEYS,
        Duration.ZERO,
        Duration.ofSeconds(10));
  }

  /** A copy with other access. */
  public ServerOptions withAccess(Access newAccess) {
    return new ServerOptions(
        address, newAccess, refuseStale, limits, maxBatchKeys, drain, grace, firstSnapshotWithin);
  }
}
