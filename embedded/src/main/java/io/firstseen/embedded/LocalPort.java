package io.firstseen.embedded;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.atomic.AtomicInteger;

/** Ports of localhost, before a server listens on them. */
public final class LocalPort {
  private static final int FIRST_PORT = 20_000;
  private static final int PORTS = 12_000;

  // Other JVMs choose ports at the same time.
  private static final AtomicInteger NEXT_PORT =
      new AtomicInteger(Math.toIntExact(ProcessHandle.current().pid() % PORTS) * 37);

  private LocalPort() {}

  /**
   * Returns a port where nothing listens. It is below the ports that Linux gives to connections and
   * to sockets without a port, so it stays free until the server listens on it.
   */
  public static int free() throws IOException {
    while (true) {
      int port = FIRST_PORT + Math.floorMod(NEXT_PORT.getAndIncrement(), PORTS);
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getByName("localhost"))) {
        return socket.getLocalPort();
      } catch (BindException e) {
        // Try the next one.
      }
    }
  }

  /**
   * Checks that a number is a port.
   *
   * @return the port; 0 means any free port
   */
  static int checked(int port) {
    if (port < 0 || port > 65535) {
      throw new IllegalArgumentException("port must be in [0, 65535], got " + port);
    }
    return port;
  }

  /**
   * Checks that a port is free, because Kafka and Flink would print several stack traces for a used
   * port.
   *
   * @throws BindException if something listens on the port
   */
  static void requireFree(int port) throws IOException {
    try (ServerSocket probe = new ServerSocket()) {
      probe.bind(new InetSocketAddress("localhost", port));
    } catch (BindException e) {
      throw new BindException("port %d of localhost is taken".formatted(port));
    }
  }
}
