package io.firstseen.server;

import io.firstseen.server.http.HttpLimits;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;

/**
 * How a {@link SnapshotServer} serves.
 *
 * @param address where it listens; port 0 takes a free one
 * @param refuseStale whether a stale snapshot no longer answers
 * @param limits what a peer may ask for
 * @param maxBatchKeys the keys of one batch
 * @param drain how long, once told to end, it goes on as before but for {@code /readyz}
 * @param grace how long it then waits for requests under way
 */
public record ServerOptions(
    InetSocketAddress address,
    boolean refuseStale,
    HttpLimits limits,
    int maxBatchKeys,
    Duration drain,
    Duration grace) {

  /** The keys of one batch if nothing else is said. */
  public static final int DEFAULT_MAX_BATCH_KEYS = 10_000;

  /** Refuses what makes no sense. */
  public ServerOptions {
    Objects.requireNonNull(address, "address");
    Objects.requireNonNull(limits, "limits");
    if (maxBatchKeys < 1) {
      throw new IllegalArgumentException("maxBatchKeys must be at least 1, got " + maxBatchKeys);
    }
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
}
