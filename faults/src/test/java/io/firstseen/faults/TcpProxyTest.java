package io.firstseen.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.fixtures.TcpProxy;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TcpProxyTest {
  private ServerSocket server;
  private TcpProxy proxy;

  @BeforeEach
  void start() throws IOException {
    server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    proxy = new TcpProxy(0, server.getLocalPort());
  }

  @AfterEach
  void stop() throws IOException {
    proxy.close();
    server.close();
  }

  private Socket connect() throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), proxy.port());
  }

  @Test
  void bytesPassInBothDirections() throws IOException {
    try (Socket client = connect();
        Socket accepted = server.accept()) {
      client.getOutputStream().write(7);
      assertThat(accepted.getInputStream().read()).isEqualTo(7);
      accepted.getOutputStream().write(8);
      assertThat(client.getInputStream().read()).isEqualTo(8);
      client.shutdownOutput();
      assertThat(accepted.getInputStream().read()).isEqualTo(-1);
    }
  }

  @Test
  void bytesSentWhileCutArriveLater() throws IOException {
    try (Socket client = connect();
        Socket accepted = server.accept()) {
      proxy.cut();
      client.getOutputStream().write(7);
      accepted.setSoTimeout(100);
      assertThatThrownBy(() -> accepted.getInputStream().read())
          .isInstanceOf(SocketTimeoutException.class);
      accepted.setSoTimeout(0);
      proxy.pass(0);
      assertThat(accepted.getInputStream().read()).isEqualTo(7);
    }
  }

  @Test
  void connectionsMadeWhileCutAreThereLater() throws IOException {
    proxy.cut();
    try (Socket client = connect()) {
      client.getOutputStream().write(7);
      server.setSoTimeout(100);
      assertThatThrownBy(() -> server.accept()).isInstanceOf(SocketTimeoutException.class);
      server.setSoTimeout(0);
      proxy.pass(0);
      try (Socket accepted = server.accept()) {
        assertThat(accepted.getInputStream().read()).isEqualTo(7);
      }
    }
  }

  @Test
  void aResetEndsConnectionsButNotTheNetwork() throws IOException {
    try (Socket client = connect();
        Socket accepted = server.accept()) {
      client.getOutputStream().write(7);
      assertThat(accepted.getInputStream().read()).isEqualTo(7);
      proxy.reset();
      assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(IOException.class);
    }
    try (Socket client = connect();
        Socket accepted = server.accept()) {
      client.getOutputStream().write(9);
      assertThat(accepted.getInputStream().read()).isEqualTo(9);
    }
  }

  @Test
  void aSlowNetworkTakesItsTime() throws IOException {
    proxy.pass(150);
    try (Socket client = connect();
        Socket accepted = server.accept()) {
      long begin = System.nanoTime();
      client.getOutputStream().write(7);
      assertThat(accepted.getInputStream().read()).isEqualTo(7);
      assertThat(System.nanoTime() - begin).isGreaterThan(140_000_000L);
    }
  }
}
