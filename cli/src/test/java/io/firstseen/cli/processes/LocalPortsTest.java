package io.firstseen.cli.processes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.operators.UserErrorException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;

class LocalPortsTest {
  @Test
  void aPortInUseIsRefusedWithTheReason() throws Exception {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = other.getLocalPort();
      assertThatThrownBy(() -> LocalPorts.choose(port))
          .isInstanceOf(UserErrorException.class)
          .hasMessageStartingWith("cannot listen on port " + port + " of localhost: ")
          .hasMessageContaining("in use");
    }
  }

  @Test
  void zeroIsAnyFreePort() throws Exception {
    assertThat(LocalPorts.choose(0)).isPositive();
  }
}
