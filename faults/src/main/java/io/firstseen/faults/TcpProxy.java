package io.firstseen.faults;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A network between a port and the port of a server, which can be slow, cut, or reset. */
final class TcpProxy implements Closeable {
  private static final int BUFFER_BYTES = 1 << 16;

  private final ServerSocket listener;
  private final int target;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition mended = lock.newCondition();
  private boolean cut;
  private volatile long delayMillis;

  /**
   * Listens on a port of this machine, 0 for any free one, and passes connections to another port
   * of it.
   */
  TcpProxy(int port, int target) throws IOException {
    this.target = target;
    this.listener = new ServerSocket();
    listener.setReuseAddress(true);
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    Worker.start("proxy-accept", this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  /** From now on nothing arrives. Connections stay open, also new ones; bytes are kept. */
  void cut() {
    lock.lock();
    try {
      cut = true;
    } finally {
      lock.unlock();
    }
  }

  /** From now on bytes arrive again, the kept ones first, each piece after a delay. */
  void pass(long newDelayMillis) {
    lock.lock();
    try {
      delayMillis = newDelayMillis;
      cut = false;
      mended.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Ends all connections with a reset; both sides lose what is under way. New ones are passed. */
  void reset() {
    for (Socket socket : sockets) {
      try {
        socket.setSoLinger(true, 0);
      } catch (IOException e) {
        // It is closed already.
      }
      close(socket);
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
    pass(0);
    reset();
  }

  private void accept() {
    while (true) {
      try {
        Socket client = listener.accept();
        sockets.add(client);
        Worker.start("proxy-connect", () -> connect(client));
      } catch (IOException e) {
        // The proxy was closed.
        return;
      }
    }
  }

  private void connect(Socket client) {
    try {
      awaitMended();
      Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
      sockets.add(server);
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
      Worker.start("proxy-up", () -> pump(client, server));
      pump(server, client);
    } catch (IOException e) {
      close(client);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void pump(Socket from, Socket to) {
    byte[] bytes = new byte[BUFFER_BYTES];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
        long delay = delayMillis;
        if (delay > 0) {
          TimeUnit.MILLISECONDS.sleep(delay);
        }
        awaitMended();
        out.write(bytes, 0, read);
      }
    } catch (IOException e) {
      // One of the two has ended the connection.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      close(from);
      close(to);
    }
  }

  private void awaitMended() throws InterruptedException {
    lock.lock();
    try {
      while (cut) {
        mended.await();
      }
    } finally {
      lock.unlock();
    }
  }

  private void close(Socket socket) {
    sockets.remove(socket);
    try {
      socket.close();
    } catch (IOException e) {
      // There is nothing more to close.
    }
  }
}
