package io.firstseen.benchmarks.alternatives;

import io.firstseen.processes.LocalPorts;
import io.firstseen.processes.LocalProcess;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A Redis server of this machine's installation, which saves only when it is told to. */
final class RedisServer implements AutoCloseable {
  private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

  static final String HOST = LOOPBACK.getHostAddress();

  private static final String PROGRAM = "redis-server";
  private static final String DUMP = "dump.rdb";
  private static final int POLL_MILLIS = 5;

  private final Path directory;
  private final int port;
  private final LocalProcess process;
  private final Thread stop;

  private RedisServer(Path directory, int port, LocalProcess process) {
    this.directory = directory;
    this.port = port;
    this.process = process;
    this.stop = new Thread(process::kill);
    Runtime.getRuntime().addShutdownHook(stop);
  }

  /** Whether the program is on the path. */
  static boolean isInstalled() {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
        .anyMatch(place -> Files.isExecutable(Path.of(place, PROGRAM)));
  }

  /** Starts a server that listens on a free port, with its dump and log in a directory. */
  static RedisServer start(Path directory) throws IOException {
    int port = LocalPorts.choose(0);
    List<String> words =
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
            "no");
    LocalProcess process =
        LocalProcess.start(
            PROGRAM,
            directory.resolve("redis.log"),
            start -> new LocalProcess.Command(words, Map.of()),
            start -> listens(port));
    return new RedisServer(directory, port, process);
  }

  private static boolean listens(int port) {
    try (Socket socket = new Socket(LOOPBACK, port)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
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
    process.kill();
    process.startWithoutWaiting();
    // The time is measured, so poll more often than awaitReady.
    while (process.isAlive() && !listens(port)) {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }
  }

  @Override
  public void close() {
    process.kill();
    Runtime.getRuntime().removeShutdownHook(stop);
  }
}
