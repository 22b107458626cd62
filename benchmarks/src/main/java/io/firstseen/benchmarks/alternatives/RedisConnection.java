package io.firstseen.benchmarks.alternatives;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisLoadingException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A client of the Redis server of a run. */
final class RedisConnection implements AutoCloseable {
  private static final int POLL_MILLIS = 5;

  private final RedisClient client;
  private final StatefulRedisConnection<byte[], byte[]> connection;

  private RedisConnection(RedisClient client) {
    this.client = client;
    this.connection = client.connect(ByteArrayCodec.INSTANCE);
  }

  static RedisConnection open(int port) {
    RedisClient client =
        RedisClient.create(
            RedisURI.builder()
                .withHost(RedisServer.HOST)
                .withPort(port)
                .withTimeout(Duration.ofMinutes(1))
                .build());
    try {
      return new RedisConnection(client);
    } catch (RuntimeException e) {
      client.shutdown(Duration.ZERO, Duration.ZERO);
      throw e;
    }
  }

  StatefulRedisConnection<byte[], byte[]> connection() {
    return connection;
  }

  private RedisCommands<byte[], byte[]> sync() {
    return connection.sync();
  }

  /** The number of members of a set; waits while the server loads its dump. */
  long members(byte[] set) throws InterruptedException {
    while (true) {
      try {
        return sync().scard(set);
      } catch (RedisLoadingException e) {
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      }
    }
  }

  /** Removes a set, and frees its memory before this returns. */
  void remove(byte[] set) {
    sync().del(set);
  }

  /** Processor seconds of the server, without the processes that it has forked. */
  double cpuSeconds() {
    return Double.parseDouble(info("cpu", "used_cpu_user"))
        + Double.parseDouble(info("cpu", "used_cpu_sys"));
  }

  long memoryBytes() {
    return Long.parseLong(info("memory", "used_memory"));
  }

  /** Writes the dump, and returns when it is complete. */
  void dump() throws InterruptedException {
    sync().bgsave();
    while (!info("persistence", "rdb_bgsave_in_progress").equals("0")) {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }
    String status = info("persistence", "rdb_last_bgsave_status");
    if (!status.equals("ok")) {
      throw new IllegalStateException("Redis ended BGSAVE with '" + status + "'");
    }
  }

  private String info(String section, String name) {
    return sync()
        .info(section)
        .lines()
        .filter(line -> line.startsWith(name + ":"))
        .findAny()
        .orElseThrow(() -> new IllegalStateException("INFO " + section + " has no " + name))
        .substring(name.length() + 1);
  }

  @Override
  public void close() {
    connection.close();
    client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
  }
}
