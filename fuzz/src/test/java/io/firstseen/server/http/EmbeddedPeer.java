package io.firstseen.server.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.stream.ChunkedWriteHandler;
import java.nio.charset.StandardCharsets;

/** Sends requests to a service over a connection without a network, in the calling thread. */
public final class EmbeddedPeer {
  private EmbeddedPeer() {}

  /**
   * Sends bytes, in two parts, and ends the connection.
   *
   * @param firstBytes the length of the first part
   * @return what the service sent until then
   */
  public static String ask(HttpService service, byte[] bytes, int firstBytes) {
    ConnectionClock clock = new ConnectionClock(service.limits);
    Channel channel =
        new Channel(
            clock,
            new HttpServerCodec(
                new HttpDecoderConfig()
                    .setMaxInitialLineLength(service.limits.maxRequestLineBytes())
                    .setMaxHeaderSize(service.limits.maxHeaderBytes())),
            new ChunkedWriteHandler(),
            new Connection(service, clock, null));
    channel.writeInbound(Unpooled.wrappedBuffer(bytes, 0, firstBytes));
    channel.writeInbound(Unpooled.wrappedBuffer(bytes, firstBytes, bytes.length - firstBytes));
    channel.checkException();
    StringBuilder sent = new StringBuilder();
    for (ByteBuf part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
      sent.append(part.toString(StandardCharsets.ISO_8859_1));
      part.release();
    }
    channel.finishAndReleaseAll();
    if (service.bodies.taken() != 0) {
      throw new AssertionError(service.bodies.taken() + " bytes of bodies were not given back");
    }
    return sent.toString();
  }

  private static final class Channel extends EmbeddedChannel implements DuplexChannel {
    private boolean outputShutdown;

    Channel(io.netty.channel.ChannelHandler... handlers) {
      super(handlers);
    }

    @Override
    public boolean isInputShutdown() {
      return false;
    }

    @Override
    public ChannelFuture shutdownInput() {
      return newSucceededFuture();
    }

    @Override
    public ChannelFuture shutdownInput(ChannelPromise promise) {
      return promise.setSuccess();
    }

    @Override
    public boolean isOutputShutdown() {
      return outputShutdown;
    }

    @Override
    public ChannelFuture shutdownOutput() {
      outputShutdown = true;
      return newSucceededFuture();
    }

    @Override
    public ChannelFuture shutdownOutput(ChannelPromise promise) {
      outputShutdown = true;
      return promise.setSuccess();
    }

    @Override
    public boolean isShutdown() {
      return outputShutdown;
    }

    @Override
    public ChannelFuture shutdown() {
      return shutdownOutput();
    }

    @Override
    public ChannelFuture shutdown(ChannelPromise promise) {
      return shutdownOutput(promise);
    }
  }
}
