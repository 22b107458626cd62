package io.firstseen.server.http;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** A peer that sends given bytes. */
final class RawClient implements Closeable {
  private static final int READ_TIMEOUT_MILLIS = 20_000;

  private final Socket socket;
  private final InputStream in;

  /** The reply of a server; {@code head} is the status line and the headers. */
  record Answer(String head, String body) {
    int status() {
      return Integer.parseInt(head.split(" ", 3)[1]);
    }

    String header(String name) {
      for (String line : head.lines().toList()) {
        if (line.toLowerCase(Locale.ROOT).startsWith(name + ":")) {
          return line.substring(name.length() + 1).strip();
        }
      }
      return null;
    }
  }

  RawClient(InetSocketAddress server) throws IOException {
    this(server, 0);
  }

  /** Connects with a small receive buffer, so that the server soon has to wait. */
  RawClient(InetSocketAddress server, int receiveBufferBytes) throws IOException {
    socket = new Socket();
    if (receiveBufferBytes > 0) {
      socket.setReceiveBufferSize(receiveBufferBytes);
    }
    socket.setSoTimeout(READ_TIMEOUT_MILLIS);
    socket.setTcpNoDelay(true);
    socket.connect(server);
    in = new BufferedInputStream(socket.getInputStream());
  }

  /** Connects from another address of this machine. */
  static RawClient from(InetAddress local, InetSocketAddress server) throws IOException {
    return new RawClient(new Socket(server.getAddress(), server.getPort(), local, 0));
  }

  private RawClient(Socket connected) throws IOException {
    socket = connected;
    socket.setSoTimeout(READ_TIMEOUT_MILLIS);
    socket.setTcpNoDelay(true);
    in = new BufferedInputStream(socket.getInputStream());
  }

  RawClient send(String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    return this;
  }

  RawClient get(String target) throws IOException {
    return send("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
  }

  /** Reads a reply to a request other than HEAD. */
  Answer answer() throws IOException {
    Answer head = answerToHead();
    String length = head.header("content-length");
    int bytes = length == null ? 0 : Integer.parseInt(length);
    return new Answer(head.head(), new String(in.readNBytes(bytes), StandardCharsets.UTF_8));
  }

  Answer answerToHead() throws IOException {
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    while (!head.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
      int next = in.read();
      if (next < 0) {
        throw new IOException("the connection ended after: " + head);
      }
      head.write(next);
    }
    return new Answer(head.toString(StandardCharsets.ISO_8859_1), "");
  }

  /** Reads available bytes; -1 at the end. */
  int read() throws IOException {
    return in.read();
  }

  /** Waits until the server has closed the connection; discards bytes until then. */
  void awaitEnd() {
    try {
      while (in.read() >= 0) {}
    } catch (SocketTimeoutException e) {
      throw new AssertionError("the connection is still open", e);
    } catch (IOException e) {
      // A reset also counts as closed.
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
