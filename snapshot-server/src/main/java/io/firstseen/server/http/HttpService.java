package io.firstseen.server.http;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.stream.ChunkedWriteHandler;
import io.netty.util.AttributeKey;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A server of routes over HTTP/1.1, from its creation until {@link #close}. */
public final class HttpService implements AutoCloseable {
  private static final int BACKLOG = 1024;
  static final int MAX_WAITING_FOR_WORKER = 64;
  private static final long THREADS_END_MILLIS = 2_000;

  // RFC 9110, section 5.6.7; Java's RFC_1123_DATE_TIME writes days below 10 with one digit.
  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
          .withZone(ZoneOffset.UTC);

  final HttpLimits limits;
  final Access access;
  final BodyBudget bodies;
  final Routes routes;
  final RequestObserver observer;
  final ExecutorService workers;
  private final Admission admission;
  private final Duration grace;
  private final AtomicInteger connections = new AtomicInteger();
  private final ChannelGroup open = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private final EventLoopGroup acceptor;
  private final EventLoopGroup loops;
  private final Channel listening;
  private volatile boolean ending;
  private volatile Date date = new Date(0, "");

  private record Date(long epochSecond, String text) {}

  /**
   * Binds to an address and serves.
   *
   * @param address the address to listen on; port 0 means any free port
   * @param access which requests are allowed
   * @param grace how long {@link #close} waits for running requests
   * @throws IOException if the address cannot be bound
   */
  public HttpService(
      InetSocketAddress address,
      HttpLimits limits,
      Access access,
      Duration grace,
      RequestObserver observer,
      List<Route> routes)
      throws IOException {
    this.limits = limits;
    this.access = access;
    this.admission = new Admission(limits);
    this.bodies = new BodyBudget(limits.maxBodiesBytes());
    this.grace = grace;
    this.observer = observer;
    this.routes = new Routes(routes);
    int cores = Runtime.getRuntime().availableProcessors();
    // A thread may be occupied for minutes.
    int workerCount = Math.max(2, cores);
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            workerCount,
            workerCount,
            1,
            TimeUnit.MINUTES,
            new ArrayBlockingQueue<>(MAX_WAITING_FOR_WORKER),
            new DefaultThreadFactory("firstseen-http-worker", true));
    threads.allowCoreThreadTimeOut(true);
    this.workers = threads;
    this.acceptor =
        new MultiThreadIoEventLoopGroup(
            1,
            new DefaultThreadFactory("firstseen-http-acceptor", true),
            NioIoHandler.newFactory());
    this.loops =
        new MultiThreadIoEventLoopGroup(
            cores, new DefaultThreadFactory("firstseen-http", true), NioIoHandler.newFactory());
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(acceptor, loops)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .option(ChannelOption.SO_REUSEADDR, true)
            .handler(new Arrivals())
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.AUTO_READ, false)
            .childHandler(new Initializer());
    ChannelFuture bound = bootstrap.bind(address).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      endThreads();
      throw cannotListen(address, bound.cause());
    }
    this.listening = bound.channel();
  }

  private static IOException cannotListen(InetSocketAddress address, Throwable cause) {
    String reason =
        address.isUnresolved()
            ? "no such host"
            : cause instanceof BindException && cause.getMessage().contains("in use")
                ? "the port is in use"
                : cause.getMessage();
    return new IOException(
        "cannot listen on %s:%d: %s".formatted(address.getHostString(), address.getPort(), reason),
        cause);
  }

  /**
   * Numbers connections in the order of their arrival, because the threads that serve them start in
   * any order.
   */
  private static final class Arrivals extends ChannelInboundHandlerAdapter {
    static final AttributeKey<Long> NUMBER = AttributeKey.valueOf(Arrivals.class, "number");

    private long next;

    @Override
    public void channelRead(ChannelHandlerContext context, Object connection) {
      ((Channel) connection).attr(NUMBER).set(next++);
      context.fireChannelRead(connection);
    }
  }

  private final class Initializer extends ChannelInitializer<SocketChannel> {
    @Override
    protected void initChannel(SocketChannel channel) {
      String refusal = admit(channel);
      connections.incrementAndGet();
      channel.closeFuture().addListener(unused -> connections.decrementAndGet());
      open.add(channel);
      ConnectionClock clock = new ConnectionClock(limits);
      channel.pipeline().addLast(clock);
      if (access.tls() != null) {
        channel.pipeline().addLast(access.tls().handler(channel, limits.requestTimeout()));
      }
      channel
          .pipeline()
          .addLast(
              new HttpServerCodec(
                  new HttpDecoderConfig()
                      .setMaxInitialLineLength(limits.maxRequestLineBytes())
                      .setMaxHeaderSize(limits.maxHeaderBytes())),
              new ChunkedWriteHandler(),
              new Connection(HttpService.this, clock, refusal));
      if (ending) {
        var unused = channel.close();
      }
    }
  }

  /** Counts a connection; returns why it may only request health checks, or null. */
  private @Nullable String admit(SocketChannel channel) {
    Object peer = Admission.peer(channel.remoteAddress());
    String refusal = admission.enter(peer);
    if (refusal == null) {
      channel.closeFuture().addListener(unused -> admission.leave(peer));
      return null;
    }
    long number = channel.attr(Arrivals.NUMBER).get();
    channel.closeFuture().addListener(unused -> admission.leaveReserve(number));
    Channel leaves = admission.reserve(number, channel);
    if (leaves != null) {
      observer.onConnectionRefused();
      leaves.eventLoop().execute(() -> refuse(leaves));
    }
    return refusal;
  }

  private void refuse(Channel channel) {
    // Written from the first handler, because the codec would reject bytes. A closed channel no
    // longer has it.
    ChannelHandlerContext first = channel.pipeline().firstContext();
    if (access.tls() != null) {
      // Its handshake may not be complete.
      var unused = channel.close();
    } else if (first != null) {
      first
          .writeAndFlush(Unpooled.wrappedBuffer(full(limits)))
          .addListener(ChannelFutureListener.CLOSE);
    }
  }

  private static byte[] full(HttpLimits limits) {
    String body =
        ("{\"error\":\"too many connections are open; the most are %d, %d of one peer, and %d more for"
                + " health: try again later\"}\n")
            .formatted(
                limits.maxConnections(),
                limits.maxConnectionsPerPeer(),
                limits.reservedForHealth());
    return ("HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n"
            + "connection: close\r\ncontent-length: "
            + body.length()
            + "\r\n\r\n"
            + body)
        .getBytes(StandardCharsets.US_ASCII);
  }

  /** Returns the address that it listens on. */
  public InetSocketAddress address() {
    return (InetSocketAddress) listening.localAddress();
  }

  /** Returns the number of open connections. */
  public int connections() {
    return connections.get();
  }

  /**
   * Stops accepting connections, closes those without a request, waits up to the grace time for
   * running replies, and closes the rest.
   */
  @Override
  public void close() {
    // Replies from here on announce that the connection is closed.
    ending = true;
    // A closed channel still listens until its selector runs again. Ending the selector's thread
    // before any connection makes sure that no new one is served once peers notice the end.
    end(acceptor);
    for (Channel channel : open) {
      channel.eventLoop().execute(() -> end(channel));
    }
    boolean ended =
        open.newCloseFuture().awaitUninterruptibly(grace.toMillis(), TimeUnit.MILLISECONDS);
    if (!ended) {
      open.close().awaitUninterruptibly(THREADS_END_MILLIS);
    }
    endThreads();
  }

  private static void end(Channel channel) {
    ChannelHandlerContext context = channel.pipeline().context(Connection.class);
    if (context != null) {
      ((Connection) context.handler()).end(context);
    }
  }

  private void endThreads() {
    workers.shutdownNow();
    end(acceptor);
    end(loops);
  }

  private static void end(EventLoopGroup group) {
    group
        .shutdownGracefully(0, THREADS_END_MILLIS, TimeUnit.MILLISECONDS)
        .awaitUninterruptibly(THREADS_END_MILLIS);
  }

  boolean isEnding() {
    return ending;
  }

  /** Returns the current time in HTTP's format, formatted once a second. */
  String date() {
    Date current = date;
    long now = Instant.now().getEpochSecond();
    if (current.epochSecond() != now) {
      current = new Date(now, DATE.format(Instant.ofEpochSecond(now)));
      date = current;
    }
    return current.text();
  }
}
