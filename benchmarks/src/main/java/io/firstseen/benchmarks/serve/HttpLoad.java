package io.firstseen.benchmarks.serve;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Sends requests to one server over persistent connections, one request at a time on each, from one
 * thread. Does not parse replies; it relies on their equal length, so that it needs less CPU time
 * than the server.
 */
final class HttpLoad implements AutoCloseable {
  private static final int BUFFER_BYTES = 16 << 10;

  private final List<byte[]> requests;
  private final Selector selector = Selector.open();
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private final int replyBytes;
  private int next;

  private static final class Peer {
    private int missing;
  }

  /**
   * Connects.
   *
   * @param targets the request targets, used in turn. Targets whose reply does not contain {@code
   *     expected}, or is not as long as the first, are left out, since a set answers some absent
   *     keys by 'present'
   */
  HttpLoad(InetSocketAddress server, List<String> targets, int connections, String expected)
      throws IOException {
    List<byte[]> kept = new ArrayList<>();
    int length = 0;
    try (SocketChannel channel = SocketChannel.open(server)) {
      for (String target : targets) {
        byte[] request =
            ("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
        channel.write(ByteBuffer.wrap(request));
        String reply = reply(channel);
        if (reply.startsWith("HTTP/1.1 200 OK\r\n")
            && reply.contains(expected)
            && (kept.isEmpty() || reply.length() == length)) {
          kept.add(request);
          length = reply.length();
        }
      }
    }
    if (kept.isEmpty()) {
      throw new IOException("no reply contains " + expected);
    }
    this.requests = kept;
    this.replyBytes = length;
    for (int i = 0; i < connections; i++) {
      SocketChannel channel = SocketChannel.open(server);
      channel.socket().setTcpNoDelay(true);
      channel.configureBlocking(false);
      channel.register(selector, SelectionKey.OP_READ, new Peer());
    }
  }

  private String reply(SocketChannel channel) throws IOException {
    StringBuilder reply = new StringBuilder();
    while (true) {
      buffer.clear();
      if (channel.read(buffer) < 0) {
        throw new IOException("the server closed the connection after " + reply);
      }
      reply.append(StandardCharsets.ISO_8859_1.decode(buffer.flip()));
      int body = reply.indexOf("\r\n\r\n") + 4;
      if (body >= 4) {
        String head = reply.substring(0, body).toLowerCase(Locale.ROOT);
        int at = head.indexOf("content-length: ") + 16;
        int length = body + Integer.parseInt(head.substring(at, head.indexOf("\r", at)));
        if (reply.length() == length) {
          return reply.toString();
        }
      }
    }
  }

  /** Sends requests for some time and returns the number of replies. */
  long run(Duration time) throws IOException {
    for (SelectionKey key : selector.keys()) {
      ask(key);
    }
    long replies = 0;
    long end = System.nanoTime() + time.toNanos();
    boolean asking = true;
    int waiting = selector.keys().size();
    while (waiting > 0) {
      // Busy polling: waking a sleeping thread would cost time on the server's core, which is
      // measured.
      selector.selectNow();
      asking &= System.nanoTime() < end;
      for (SelectionKey key : selector.selectedKeys()) {
        buffer.clear();
        int read = ((SocketChannel) key.channel()).read(buffer);
        Peer peer = (Peer) key.attachment();
        peer.missing -= read;
        if (read < 0 || peer.missing < 0) {
          throw new IOException("a reply was not " + replyBytes + " bytes long");
        }
        if (peer.missing == 0) {
          replies++;
          if (asking) {
            ask(key);
          } else {
            waiting--;
          }
        }
      }
      selector.selectedKeys().clear();
    }
    return replies;
  }

  private void ask(SelectionKey key) throws IOException {
    ByteBuffer request = ByteBuffer.wrap(requests.get(next));
    next = (next + 1) % requests.size();
    ((Peer) key.attachment()).missing = replyBytes;
    while (request.hasRemaining()) {
      ((SocketChannel) key.channel()).write(request);
    }
  }

  @Override
  public void close() throws IOException {
    for (SelectionKey key : selector.keys()) {
      key.channel().close();
    }
    selector.close();
  }
}
