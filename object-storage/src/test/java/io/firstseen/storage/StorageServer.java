package io.firstseen.storage;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** An S3 server in a separate process; its buckets are the subdirectories of a directory. */
final class StorageServer implements Closeable {
  static final String KEY = "key";
  static final String SECRET = "secret";

  private static final long START_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final Process process;
  private final int port;

  private StorageServer(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  static StorageServer start(Path scratch, Path buckets) throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    Path properties = scratch.resolve("server.properties");
    Files.writeString(
        properties,
        """
        s3proxy.endpoint=http://127.0.0.1:%d
        s3proxy.authorization=aws-v2-or-v4
        s3proxy.identity=%s
        s3proxy.credential=%s
        jclouds.provider=filesystem-nio2
        jclouds.filesystem.basedir=%s
        jclouds.identity=local
        jclouds.credential=local
        """
            .formatted(port, KEY, SECRET, buckets));
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-DLOG_LEVEL=warn",
                "-cp",
                Path.of("server", "target", "lib").toAbsolutePath() + "/*",
                "org.gaul.s3proxy.Main",
                "--properties",
                properties.toString())
            .redirectErrorStream(true)
            .redirectOutput(scratch.resolve("server.log").toFile())
            .start();
    StorageServer server = new StorageServer(process, port);
    try {
      server.awaitPort(scratch.resolve("server.log"));
      return server;
    } catch (Exception e) {
      server.close();
      throw e;
    }
  }

  private void awaitPort(Path log) throws Exception {
    long deadlineNanos = System.nanoTime() + START_NANOS;
    while (true) {
      try (Socket socket = new Socket()) {
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1_000);
        return;
      } catch (IOException e) {
        if (!process.isAlive() || System.nanoTime() > deadlineNanos) {
          throw new IOException("the server did not start: " + Files.readString(log), e);
        }
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  String endpoint() {
    return "http://127.0.0.1:" + port;
  }

  @Override
  public void close() {
    process.destroyForcibly();
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
