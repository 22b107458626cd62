package io.firstseen.testing;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;

/** Checks of a localhost port before an embedded server listens on it. */
final class LocalPort {

  private LocalPort() {}

  /**
   * Refuses a number that is not a port.
   *
   * @return the port; 0 stands for any free one
   */
  static int checked(int port) {
    if (port < 0 || port > 65535) {
      throw new IllegalArgumentException("port must be in [0, 65535], got " + port);
    }
    return port;
  }

  /**
   * Refuses a used port before Kafka and Flink print several stack traces about it.
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
