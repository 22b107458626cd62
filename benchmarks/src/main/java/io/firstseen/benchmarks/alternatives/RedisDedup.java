package io.firstseen.benchmarks.alternatives;

import io.firstseen.benchmarks.dedup.Pipelines;
import io.firstseen.benchmarks.shared.Url;
import io.firstseen.benchmarks.shared.UrlSerializer;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.streaming.api.datastream.AsyncDataStream;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.async.ResultFuture;
import org.apache.flink.streaming.api.functions.async.RichAsyncFunction;

/**
 * Asks Redis to add the hash of each record to a set, and forwards records that the set did not
 * contain.
 */
final class RedisDedup extends RichAsyncFunction<Url, Url> {
  private static final long serialVersionUID = 1;

  /** Requests that may be under way; with more the rate no longer grows. */
  private static final int REQUESTS = 10_000;

  private static final int TIMEOUT_SECONDS = 60;
  private static final int COMMANDS_AT_ONCE = 256;
  private static final int FLUSH_MILLIS = 5;

  private final int port;
  private final byte[] set;

  private transient RedisConnection redis;
  private transient Timer clock;
  private transient int unsent;

  private RedisDedup(int port, byte[] set) {
    this.port = port;
    this.set = set;
  }

  /**
   * The first record of each URL.
   *
   * @param set the name of the set in Redis
   */
  static DataStream<Url> firstOfEach(DataStream<Url> urls, int port, byte[] set) {
    return AsyncDataStream.unorderedWait(
            urls, new RedisDedup(port, set), TIMEOUT_SECONDS, TimeUnit.SECONDS, REQUESTS)
        .returns(UrlSerializer.TYPE);
  }

  @Override
  public void open(OpenContext context) {
    redis = RedisConnection.open(port);
    // Sending each command at once costs a system call a record.
    redis.connection().setAutoFlushCommands(false);
    clock = new Timer("flush", /* isDaemon= */ true);
    clock.schedule(
        new TimerTask() {
          @Override
          public void run() {
            redis.connection().flushCommands();
          }
        },
        FLUSH_MILLIS,
        FLUSH_MILLIS);
  }

  @Override
  public void asyncInvoke(Url url, ResultFuture<Url> result) {
    byte[] member =
        ByteBuffer.allocate(Long.BYTES).putLong(Pipelines.HASH.hash(url.utf8())).array();
    redis
        .connection()
        .async()
        .sadd(set, member)
        .whenComplete(
            (added, failure) -> {
              if (failure == null) {
                result.complete(added == 1 ? List.of(url) : List.of());
              } else {
                result.completeExceptionally(failure);
              }
            });
    if (++unsent == COMMANDS_AT_ONCE) {
      redis.connection().flushCommands();
      unsent = 0;
    }
  }

  @Override
  public void close() {
    if (clock != null) {
      clock.cancel();
    }
    if (redis != null) {
      redis.close();
    }
  }
}
