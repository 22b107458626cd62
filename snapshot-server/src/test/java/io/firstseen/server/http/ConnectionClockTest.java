package io.firstseen.server.http;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.handler.stream.ChunkedWriteHandler;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The times of a connection, by a clock that stands until it is moved. */
class ConnectionClockTest {
  private static final Duration REQUEST = Duration.ofSeconds(2);
  private static final Duration IDLE = Duration.ofSeconds(30);
  private static final Duration STALL = Duration.ofSeconds(4);

  private static final HttpLimits LIMITS = HttpLimits.DEFAULT.withTimeouts(REQUEST, IDLE, STALL);

  private final ConnectionClock clock = new ConnectionClock(LIMITS);
  private final EmbeddedChannel channel = open();

  private EmbeddedChannel open() {
    EmbeddedChannel opened = new EmbeddedChannel();
    opened.freezeTime();
    opened.pipeline().addLast(clock);
    // As when the channel becomes active, which this one is from the start.
    opened.pipeline().fireChannelActive();
    return opened;
  }

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  private boolean isOpenAfter(long seconds) {
    channel.advanceTimeBy(seconds, TimeUnit.SECONDS);
    channel.runScheduledPendingTasks();
    return channel.isOpen();
  }

  private void receive(String text) {
    channel.writeInbound(Unpooled.copiedBuffer(text, US_ASCII));
  }

  private void send() {
    channel.writeOutbound(Unpooled.copiedBuffer("part", US_ASCII));
  }

  @Test
  void aConnectionWithoutRequestsHasTheLongestTime() {
    assertThat(isOpenAfter(IDLE.toSeconds() - 1)).isTrue();
    assertThat(isOpenAfter(1)).isFalse();
  }

  @Test
  void partsOfARequestDoNotExtendItsTime() {
    assertThat(isOpenAfter(20)).isTrue();
    receive("GET /");
    assertThat(isOpenAfter(1)).isTrue();
    receive("echo");
    assertThat(isOpenAfter(1)).isFalse();
  }

  @Test
  void eachPartThatIsTakenExtendsTheTimeOfAReply() {
    receive("GET");
    clock.replying();
    for (int i = 0; i < 8; i++) {
      assertThat(isOpenAfter(STALL.toSeconds() - 1)).isTrue();
      send();
    }
    assertThat(isOpenAfter(STALL.toSeconds())).isFalse();
  }

  @Test
  void aReplyHasItsTimeFromWhenItIsMade() {
    receive("GET");
    clock.working();
    assertThat(isOpenAfter(100 * STALL.toSeconds())).isTrue();
    clock.replying();
    assertThat(isOpenAfter(STALL.toSeconds() - 1)).isTrue();
    assertThat(isOpenAfter(1)).isFalse();
  }

  @Test
  void betweenTwoRequestsAConnectionIsIdleAgain() {
    receive("GET");
    assertThat(isOpenAfter(1)).isTrue();
    clock.replying();
    assertThat(isOpenAfter(1)).isTrue();
    clock.idle();
    assertThat(isOpenAfter(IDLE.toSeconds() - 1)).isTrue();
    receive("GET");
    assertThat(isOpenAfter(1)).isTrue();
    assertThat(isOpenAfter(1)).isFalse();
  }

  private static HttpService serviceOf(Route... routes) throws IOException {
    return new HttpService(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
        LIMITS,
        Access.by(AllowedHosts.any()),
        Duration.ofSeconds(1),
        new RequestObserver() {},
        List.of(routes));
  }

  /** Like the time of a reply, which applies to each part. */
  @Test
  void aLongReplyLeavesInParts() throws Exception {
    int length = 1 << 20;
    Route large =
        Route.get("large", "/", request -> Reply.of(200, "x/y", ByteBuffer.allocate(length)));
    try (HttpService service = serviceOf(large)) {
      channel
          .pipeline()
          .addLast(
              new HttpServerCodec(),
              new ChunkedWriteHandler(),
              new Connection(service, clock, null));
      receive("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
      List<Integer> parts = new ArrayList<>();
      for (ByteBuf part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
        parts.add(part.readableBytes());
        part.release();
      }
      assertThat(parts).allMatch(bytes -> bytes <= 1 << 16);
      assertThat(parts.stream().mapToInt(bytes -> bytes).sum()).isGreaterThan(length);
    }
  }

  @Test
  void afterTheTlsHandshakeAConnectionIsIdle() throws Exception {
    try (HttpService service = serviceOf()) {
      Connection connection = new Connection(service, clock, null);
      channel
          .pipeline()
          .addLast(
              new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext context, Object handshake) {
                  ReferenceCountUtil.release(handshake);
                }
              },
              connection);
      receive("bytes of the handshake");
      assertThat(isOpenAfter(1)).isTrue();
      channel.pipeline().fireUserEventTriggered(SslHandshakeCompletionEvent.SUCCESS);
      assertThat(isOpenAfter(IDLE.toSeconds() - 1)).isTrue();
      assertThat(isOpenAfter(1)).isFalse();
    }
  }

  @Test
  void aPeerThatDoesNotCloseAfterTheLastReplyIsCutOff() {
    clock.ending();
    assertThat(isOpenAfter(1)).isTrue();
    assertThat(isOpenAfter(1)).isFalse();
  }
}
