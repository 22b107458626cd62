package io.firstseen.benchmarks.alternatives;

import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A Redis server of this machine's installation, which saves only when it is told to. */
final class RedisServer implements AutoCloseable {
  private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

  static final String HOST = LOOPBACK.getHostAddress();

  private static final String PROGRAM = "redis-server";
  private static final String DUMP = "dump.rdb";
  private static final int ATTEMPTS = 5;
  private static final int POLL_MILLIS = 5;

  private final Path directory;
  private final int port;
  private final Thread stop = new Thread(this::kill);
  private volatile Process process;

  private RedisServer(Path directory, int port) throws IOException {
    this.directory = directory;
    this.port = port;
    this.process = launch();
    Runtime.getRuntime().addShutdownHook(stop);
  }

  /** Whether the program is on the path. */
  static boolean isInstalled() {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
        .anyMatch(place -> Files.isExecutable(Path.of(place, PROGRAM)));
  }

  /** Starts a server that listens on a free port, with its dump and log in a directory. */
  static RedisServer start(Path directory) throws IOException, InterruptedException {
    for (int attempt = 1; ; attempt++) {
      RedisServer server = new RedisServer(directory, freePort());
      try {
        server.awaitPort();
        return server;
      } catch (IOException e) {
        server.close();
        // Another process may have taken the port in between.
        if (attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket probe = new ServerSocket(0, 1, LOOPBACK)) {
      return probe.getLocalPort();
    }
  }

  private Process launch() throws IOException {
    return new ProcessBuilder(
            List.of(
                PROGRAM,
                "--bind",
                HOST,
                "--port",
                Integer.toString(port),
                "--dir",
                directory.toString(),
                "--dbfilename",
                DUMP,
                "--save",
                "",
                "--appendonly",
                "no",
                "--daemonize",
                "no"))
        .redirectErrorStream(true)
        .redirectOutput(Redirect.appendTo(log().toFile()))
        .start();
  }

  private Path log() {
    return directory.resolve("redis.log");
  }

  private void awaitPort() throws IOException, InterruptedException {
    while (true) {
      try (Socket socket = new Socket()) {
        socket.connect(new InetSocketAddress(LOOPBACK, port));
        return;
      } catch (IOException e) {
        if (!process.isAlive()) {
          throw new IOException(
              "%s has ended with status %d:%n%s"
                  .formatted(PROGRAM, process.exitValue(), Files.readString(log())),
              e);
        }
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      }
    }
  }

  int port() {
    return port;
  }

  long dumpBytes() throws IOException {
    return Files.size(directory.resolve(DUMP));
  }

  /**
   * Kills the server and starts it again; returns when it listens, maybe still loading its dump.
   */
  void restart() throws IOException, InterruptedException {
    kill();
    process.onExit().join();
    process = launch();
    awaitPort();
  }

  private void kill() {
    process.destroyForcibly();
  }

  @Override
  public void close() {
    kill();
    process.onExit().join();
    Runtime.getRuntime().removeShutdownHook(stop);
  }
}
