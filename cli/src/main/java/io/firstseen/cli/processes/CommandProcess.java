package io.firstseen.cli.processes;

import io.firstseen.cli.Main;
import io.firstseen.cli.shared.LogFormatOption;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A verb of the command in a process of its own. */
public final class CommandProcess {
  private static final int ANSWER_MILLIS = 1_000;

  private CommandProcess() {}

  /**
   * Starts {@code serve} and waits until it answers on {@code /healthz}.
   *
   * @param port to listen on, from {@link LocalPorts#choose}
   * @param words further options
   * @param environment variables that it gets beside those of this JVM
   * @param heapBytes its heap
   */
  public static LocalProcess serve(
      int port,
      List<String> words,
      Map<String, String> environment,
      long heapBytes,
      ProcessLogs logs)
      throws IOException {
    List<String> arguments = new ArrayList<>(List.of("serve", "--port=" + port));
    arguments.addAll(words);
    Map<String, String> variables = new HashMap<>(environment);
    variables.put(LogFormatOption.VARIABLE, logs.json() ? "json" : "text");
    // It is meant for the clients of another service; Prometheus would not know it.
    variables.putIfAbsent("FIRSTSEEN_HTTP_TOKEN", "");
    URI health = URI.create("http://127.0.0.1:" + port + "/healthz");
    return start(
        "serve",
        logs,
        new JavaProgram(
            Main.class.getName(),
            ClassPath.ofThisJvm(),
            options(heapBytes, logs),
            arguments,
            variables),
        start -> answers(health));
  }

  private static List<String> options(long heapBytes, ProcessLogs logs) {
    // If a set is too large for its heap, it says so and goes on with what it has.
    List<String> options =
        new ArrayList<>(
            List.of("-Xmx" + heapBytes, "-XX:+UseSerialGC", "-XX:-ExitOnOutOfMemoryError"));
    options.addAll(logs.options());
    return options;
  }

  private static LocalProcess start(
      String name, ProcessLogs logs, JavaProgram program, LocalProcess.Readiness readiness)
      throws IOException {
    Path log = logs.file(name);
    return LocalProcess.startJava(name, log, number -> program, readiness);
  }

  /** Whether a GET of the address has the status 200. */
  public static boolean answers(URI address) throws IOException {
    HttpURLConnection connection = (HttpURLConnection) address.toURL().openConnection();
    connection.setConnectTimeout(ANSWER_MILLIS);
    connection.setReadTimeout(ANSWER_MILLIS);
    try {
      return connection.getResponseCode() == HttpURLConnection.HTTP_OK;
    } finally {
      connection.disconnect();
    }
  }
}
