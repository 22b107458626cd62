package io.firstseen.processes;

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
    return choose(port, "");
  }

  /**
   * Like {@link #choose(int)}, for the port of an option.
   *
   * @throws UserErrorException with the name of the option, if the port is in use, or this user may
   *     not listen on it
   */
  public static int chooseFor(String option, int port) throws IOException {
    return choose(port, ": choose another one with " + option);
  }

  private static int choose(int port, String advice) throws IOException {
    if (port == 0) {
      return LocalPort.free();
    }
    InetAddress loopback = InetAddress.getLoopbackAddress();
    try (ServerSocket probe = new ServerSocket()) {
      probe.bind(new InetSocketAddress(loopback, port));
      return probe.getLocalPort();
    } catch (BindException e) {
      String reason = e.getMessage().contains("in use") ? "the port is in use" : e.getMessage();
      throw new UserErrorException(
          "cannot listen on %s:%d: %s%s"
              .formatted(loopback.getHostAddress(), port, reason, advice));
    }
  }
}
