package io.firstseen.cli.processes;

import io.firstseen.embedded.LocalPort;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;

/** Ports of the loopback address, chosen before the process that listens on them starts. */
public final class LocalPorts {

  private LocalPorts() {}

  /**
   * Returns the port, or a free port if it is 0.
   *
   * @throws UserErrorException if the port is in use, or this user may not listen on it
   */
  public static int choose(int port) throws IOException {
    if (port == 0) {
      return LocalPort.free();
    }
    try (ServerSocket probe = new ServerSocket()) {
      probe.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return probe.getLocalPort();
    } catch (BindException e) {
      throw new UserErrorException(
          "cannot listen on port %d of localhost: %s".formatted(port, e.getMessage()));
    }
  }
}
