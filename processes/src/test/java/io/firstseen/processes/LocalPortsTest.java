package io.firstseen.processes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.operators.UserErrorException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;

class LocalPortsTest {
  @Test
  void aPortInUseIsRejectedWithTheOptionThatSetsIt() throws Exception {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = other.getLocalPort();
      String inUse = "cannot listen on 127.0.0.1:" + port + ": the port is in use";
      assertThatThrownBy(() -> LocalPorts.choose(port))
          .isInstanceOf(UserErrorException.class)
          .hasMessage(inUse);
      assertThatThrownBy(() -> LocalPorts.chooseFor("--web-port", port))
          .isInstanceOf(UserErrorException.class)
          .hasMessage(inUse + ": choose another one with --web-port");
    }
  }

  @Test
  void zeroIsAnyFreePort() throws Exception {
    assertThat(LocalPorts.choose(0)).isPositive();
  }
}
