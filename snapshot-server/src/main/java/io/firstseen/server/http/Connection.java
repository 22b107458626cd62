package io.firstseen.server.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufInputStream;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.handler.stream.ChunkedStream;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection, which serves one request after the other. Input is not read while a reply is
 * sent, so a peer that sends without reading uses at most one buffer.
 */
// A failed operation closes its channel, and ConnectionClock closes a channel that hangs.
@SuppressWarnings("FutureReturnValueIgnored")
final class Connection extends ChannelInboundHandlerAdapter {
  private static final Logger LOG = LoggerFactory.getLogger(Connection.class);
  // Bodies up to this length are sent in one piece.
  private static final int MAX_PIECE_BYTES = 64 << 10;

  private enum State {
    /** Waits for a request or for the rest of one. */
    READING,
    /** Waits until the reply is created and the peer has read it. */
    REPLYING,
    /** The last reply was sent; discards input until the peer has read it. */
    ENDING
  }

  private final HttpService service;
  private final ConnectionClock clock;
  private final @Nullable String refusal;
  private final Queue<HttpObject> waiting = new ArrayDeque<>();
  private State state = State.READING;
  private boolean draining;
  private boolean isDisconnected;
  // Whether a worker is creating the reply and therefore uses the body.
  private boolean isAtWork;

  // The current request; null between requests.
  private @Nullable HttpRequest head;
  private final BodyBuffer body;
  private long completeNanos;

  /**
   * Creates a handler.
   *
   * @param refusal why this connection may only request health checks; null if it may send all
   *     requests
   */
  Connection(HttpService service, ConnectionClock clock, @Nullable String refusal) {
    this.service = service;
    this.clock = clock;
    this.refusal = refusal;
    this.body = new BodyBuffer(service.bodies, service.limits.maxBodyBytes());
  }

  void end(ChannelHandlerContext context) {
    if (clock.isIdle() || state == State.ENDING) {
      context.close();
    }
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    context.read();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    waiting.add((HttpObject) message);
    drain(context);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (state != State.REPLYING) {
      context.read();
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    isDisconnected = true;
    if (!isAtWork) {
      body.release();
    }
    waiting.forEach(ReferenceCountUtil::release);
    waiting.clear();
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
    // The handshake is not part of the first request.
    if (event instanceof SslHandshakeCompletionEvent && state == State.READING && head == null) {
      clock.idle();
    }
    super.userEventTriggered(context, event);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
    // A peer that disconnects is normal.
    if (failure instanceof IOException || failure.getCause() instanceof SSLException) {
      LOG.debug("connection lost", failure);
    } else {
      LOG.warn("a connection failed", failure);
    }
    context.close();
  }

  private void drain(ChannelHandlerContext context) {
    if (draining) {
      return;
    }
    draining = true;
    try {
      while (state != State.REPLYING && !waiting.isEmpty()) {
        HttpObject next = waiting.remove();
        try {
          if (state == State.READING) {
            accept(context, next);
          }
        } finally {
          ReferenceCountUtil.release(next);
        }
      }
    } finally {
      draining = false;
    }
  }

  private void accept(ChannelHandlerContext context, HttpObject next) {
    try {
      if (next instanceof HttpRequest request) {
        begin(context, request);
      }
      if (next instanceof HttpContent content) {
        requireDecoded(content);
        body.add(content.content());
        if (next instanceof LastHttpContent) {
          complete(context);
        }
      }
    } catch (HttpFailure failure) {
      // The rest of the request is not read.
      completeNanos = System.nanoTime();
      state = State.REPLYING;
      clock.replying();
      send(context, Routes.OTHER, failure.reply(), true);
    }
  }

  private void begin(ChannelHandlerContext context, HttpRequest request) throws HttpFailure {
    forget();
    requireDecoded(request);
    head = request;
    if (request.protocolVersion().equals(HttpVersion.HTTP_1_1)
        && request.headers().getAll(HttpHeaderNames.HOST).size() != 1) {
      throw new HttpFailure(400, "a request in HTTP/1.1 must have one Host header");
    }
    requireAllowed(request);
    body.expect(HttpUtil.getContentLength(request, 0L));
    String expected = request.headers().get(HttpHeaderNames.EXPECT);
    if (expected != null) {
      if (!HttpHeaderValues.CONTINUE.contentEqualsIgnoreCase(expected)) {
        throw new HttpFailure(417, "expectations other than 100-continue are not met");
      }
      context.writeAndFlush(
          new DefaultFullHttpResponse(
              HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
    }
  }

  private void requireAllowed(HttpRequest request) throws HttpFailure {
    String host = request.headers().get(HttpHeaderNames.HOST);
    AllowedHosts hosts = service.access.hosts();
    if (!hosts.allow(host)) {
      throw new HttpFailure(
          421,
          "the Host header must be %s, got '%s' (serve --allow-host NAME allows more)"
              .formatted(hosts, host));
    }
    String path = path(originForm(request.uri()));
    if (refusal != null && !service.routes.areForHealth(path)) {
      service.observer.onConnectionRefused();
      throw new HttpFailure(503, refusal);
    }
    if (!service.routes.areOpen(path)) {
      service.access.tokens().require(request.headers().getAll(HttpHeaderNames.AUTHORIZATION));
    }
  }

  private static void requireDecoded(HttpObject object) throws HttpFailure {
    if (object.decoderResult().isSuccess()) {
      return;
    }
    Throwable cause = object.decoderResult().cause();
    if (cause instanceof TooLongHttpLineException) {
      throw new HttpFailure(414, "the request line is too long; POST takes long keys");
    }
    if (cause instanceof TooLongHttpHeaderException) {
      throw new HttpFailure(431, "the header lines are too long");
    }
    throw new HttpFailure(400, "this is not a request in HTTP/1.1");
  }

  private void forget() {
    head = null;
    body.release();
  }

  private void complete(ChannelHandlerContext context) throws HttpFailure {
    completeNanos = System.nanoTime();
    state = State.REPLYING;
    clock.replying();
    String target = originForm(head.uri());
    int question = target.indexOf('?');
    String path = path(target);
    String query = question < 0 ? "" : target.substring(question + 1);
    String method = head.method().name();
    Route route;
    try {
      route = service.routes.find(method, path);
    } catch (HttpFailure failure) {
      send(context, Routes.OTHER, failure.reply(), false);
      return;
    }
    Request request = new Request(method, path, query, head.headers(), body.bytes());
    if (!route.takesLong()) {
      send(context, route.name(), answer(route, request), false);
      return;
    }
    isAtWork = true;
    clock.working();
    try {
      service.workers.execute(
          () -> {
            try {
              Reply reply = answer(route, request);
              body.countReply(reply.body().remaining());
              context.executor().execute(() -> sendFromWorker(context, route.name(), reply));
            } catch (RuntimeException | Error e) {
              // For example because of insufficient memory: the connection must not wait
              // forever.
              context.executor().execute(() -> giveUp(context));
              throw e;
            }
          });
    } catch (RejectedExecutionException e) {
      isAtWork = false;
      clock.replying();
      send(context, route.name(), Reply.error(503, "too many requests are waiting"), false);
    }
  }

  /** RFC 9112, section 3.2.2: servers must also accept the absolute form. */
  private static String originForm(String target) {
    for (String scheme : new String[] {"http://", "https://"}) {
      if (target.regionMatches(true, 0, scheme, 0, scheme.length())) {
        int slash = target.indexOf('/', scheme.length());
        return slash < 0 ? "/" : target.substring(slash);
      }
    }
    return target;
  }

  private static String path(String target) {
    int question = target.indexOf('?');
    return question < 0 ? target : target.substring(0, question);
  }

  private static Reply answer(Route route, Request request) {
    try {
      return route.endpoint().answer(request);
    } catch (HttpFailure failure) {
      return failure.reply();
    } catch (RuntimeException | Error e) {
      // The bytes of the body are released with the reply. A mapped file that was truncated throws
      // InternalError.
      LOG.error("{} {} failed", request.method(), request.path(), e);
      return Reply.error(500, "the server failed; see its log for the reason");
    }
  }

  private void giveUp(ChannelHandlerContext context) {
    isAtWork = false;
    body.release();
    var unused = context.close();
  }

  private void sendFromWorker(ChannelHandlerContext context, String route, Reply reply) {
    isAtWork = false;
    clock.replying();
    if (isDisconnected) {
      body.release();
    }
    send(context, route, reply, false);
  }

  private void send(ChannelHandlerContext context, String route, Reply reply, boolean last) {
    boolean end =
        last
            || refusal != null
            || service.isEnding()
            || head == null
            || !HttpUtil.isKeepAlive(head);
    ByteBuffer bytes = reply.body();
    int length = bytes.remaining();
    boolean withoutBody =
        reply.status() == 304 || (head != null && head.method().name().equals("HEAD"));
    HttpResponseStatus status = HttpResponseStatus.valueOf(reply.status());
    HttpResponse response;
    if (withoutBody || length <= MAX_PIECE_BYTES) {
      ByteBuf content = withoutBody ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(bytes);
      response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, content);
    } else {
      response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, status);
    }
    HttpHeaders headers = response.headers();
    headers.set(HttpHeaderNames.DATE, service.date());
    if (reply.contentType() != null) {
      headers.set(HttpHeaderNames.CONTENT_TYPE, reply.contentType());
      headers.set("x-content-type-options", "nosniff");
    }
    if (reply.status() != 304) {
      headers.set(HttpHeaderNames.CONTENT_LENGTH, Integer.toString(length));
    }
    reply.forEachHeader(headers::set);
    if (end) {
      headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    } else if (head.protocolVersion().equals(HttpVersion.HTTP_1_0)) {
      headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
    }
    ChannelFuture sent;
    if (response instanceof DefaultFullHttpResponse) {
      sent = context.writeAndFlush(response);
    } else {
      context.write(response);
      InputStream pieces = new ByteBufInputStream(Unpooled.wrappedBuffer(bytes));
      sent =
          context.writeAndFlush(new HttpChunkedInput(new ChunkedStream(pieces, MAX_PIECE_BYTES)));
    }
    long sentBytes = withoutBody ? 0 : length;
    sent.addListener(
        future -> {
          observe(context, route, reply.status(), sentBytes);
          if (future.isSuccess()) {
            after(context, end);
          } else {
            context.close();
          }
        });
  }

  private void observe(ChannelHandlerContext context, String route, int status, long bytes) {
    service.observer.onRequest(
        new RequestObserver.Answered(
            context.channel().remoteAddress(),
            head == null ? null : head.method().name(),
            head == null ? null : path(originForm(head.uri())),
            route,
            status,
            bytes,
            System.nanoTime() - completeNanos));
  }

  private void after(ChannelHandlerContext context, boolean end) {
    forget();
    if (end) {
      // Closing with unread input would reset the connection, and the peer might lose the reply.
      // Only the output is therefore shut down, and ConnectionClock closes the connection.
      state = State.ENDING;
      clock.ending();
      SslHandler tls = context.pipeline().get(SslHandler.class);
      DuplexChannel channel = (DuplexChannel) context.channel();
      if (tls == null) {
        channel.shutdownOutput();
      } else {
        tls.closeOutbound().addListener(unused -> channel.shutdownOutput());
      }
    } else {
      state = State.READING;
      clock.idle();
      if (service.isEnding()) {
        context.close();
        return;
      }
    }
    drain(context);
    if (state != State.REPLYING) {
      context.read();
    }
  }
}
