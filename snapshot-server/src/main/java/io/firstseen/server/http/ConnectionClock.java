package io.firstseen.server.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Ticker;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Closes a connection whose peer takes too long to begin a request, to complete it, or to read the
 * reply. The time for a request runs from its first byte.
 */
final class ConnectionClock extends ChannelDuplexHandler {
  private static final long MAX_CHECK_MILLIS = 1_000;

  private enum Phase {
    IDLE,
    RECEIVING,
    WORKING,
    REPLYING
  }

  private final HttpLimits limits;
  private final ChannelFutureListener progress = future -> sinceNanos = nanoTime();
  private Phase phase = Phase.IDLE;
  private Ticker ticker;
  private long sinceNanos;
  private Future<?> checks;

  ConnectionClock(HttpLimits limits) {
    this.limits = limits;
  }

  boolean isIdle() {
    return phase == Phase.IDLE;
  }

  /**
   * Called while a worker creates the reply. There is no time limit, because the peer does not
   * influence it.
   */
  void working() {
    enter(Phase.WORKING);
  }

  /** Called when the reply is passed to the network. */
  void replying() {
    enter(Phase.REPLYING);
  }

  /** Called when the reply was passed to the network; waits for the next request. */
  void idle() {
    enter(Phase.IDLE);
  }

  /** Called when the last reply was sent; waits for the peer to close the connection. */
  void ending() {
    enter(Phase.RECEIVING);
  }

  private void enter(Phase next) {
    phase = next;
    sinceNanos = nanoTime();
  }

  private long nanoTime() {
    return ticker.nanoTime();
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    ticker = context.executor().ticker();
    sinceNanos = nanoTime();
  }

  @Override
  public void channelActive(ChannelHandlerContext context) throws Exception {
    long shortest =
        Math.min(
            Math.min(limits.requestTimeout().toMillis(), limits.idleTimeout().toMillis()),
            limits.stallTimeout().toMillis());
    long everyMillis = Math.max(1, Math.min(MAX_CHECK_MILLIS, shortest / 4));
    checks =
        context
            .executor()
            .scheduleWithFixedDelay(
                () -> check(context), everyMillis, everyMillis, TimeUnit.MILLISECONDS);
    super.channelActive(context);
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) throws Exception {
    if (checks != null) {
      checks.cancel(false);
    }
    super.channelInactive(context);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
    if (phase == Phase.IDLE && message instanceof ByteBuf) {
      enter(Phase.RECEIVING);
    }
    super.channelRead(context, message);
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise)
      throws Exception {
    ChannelPromise watched = promise.unvoid();
    watched.addListener(progress);
    super.write(context, message, watched);
  }

  private void check(ChannelHandlerContext context) {
    if (phase == Phase.WORKING) {
      return;
    }
    long millis = TimeUnit.NANOSECONDS.toMillis(nanoTime() - sinceNanos);
    Duration allowed =
        switch (phase) {
          case IDLE -> limits.idleTimeout();
          case RECEIVING -> limits.requestTimeout();
          case WORKING, REPLYING -> limits.stallTimeout();
        };
    if (millis >= allowed.toMillis()) {
      var unused = context.close();
    }
  }
}
