package io.firstseen.server.http;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The times of a connection, by a clock that stands until it is moved. */
class ConnectionClockTest {
  private static final Duration REQUEST = Duration.ofSeconds(2);
  private static final Duration IDLE = Duration.ofSeconds(30);
  private static final Duration STALL = Duration.ofSeconds(4);

  private final ConnectionClock clock =
      new ConnectionClock(HttpLimits.DEFAULT.withTimeouts(REQUEST, IDLE, STALL));
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
  void aPeerThatTakesALongReplySlowlyGetsAllOfIt() {
    receive("GET");
    clock.replying();
    for (int i = 0; i < 8; i++) {
      assertThat(isOpenAfter(STALL.toSeconds() - 1)).isTrue();
      send();
    }
    assertThat(isOpenAfter(STALL.toSeconds())).isFalse();
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

  @Test
  void aPeerThatDoesNotCloseAfterTheLastReplyIsCutOff() {
    clock.ending();
    assertThat(isOpenAfter(1)).isTrue();
    assertThat(isOpenAfter(1)).isFalse();
  }
}
