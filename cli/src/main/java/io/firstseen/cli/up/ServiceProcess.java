package io.firstseen.cli.up;

import io.firstseen.cli.processes.ClassPath;
import io.firstseen.cli.processes.JavaProgram;
import io.firstseen.cli.processes.LocalProcess;
import io.firstseen.cli.processes.ProcessLogs;
import io.firstseen.cli.shared.LogFormatOption;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The HTTP service in a separate process. */
final class ServiceProcess {
  private static final int ANSWER_MILLIS = 1_000;

  private ServiceProcess() {}

  /**
   * Starts {@code serve} and waits until it responds on {@code /healthz}.
   *
   * @param main the class with the {@code main} of the command
   * @param port the port to listen on
   * @param words further options
   */
  static LocalProcess start(
      Class<?> main, int port, List<String> words, long heapBytes, ProcessLogs logs)
      throws IOException {
    List<String> arguments = new ArrayList<>(List.of("serve", "--port=" + port));
    arguments.addAll(words);
    // A service whose set exceeds its heap reports this and keeps its current sets.
    List<String> options =
        new ArrayList<>(
            List.of("-Xmx" + heapBytes, "-XX:+UseSerialGC", "-XX:-ExitOnOutOfMemoryError"));
    options.addAll(logs.options());
    Map<String, String> environment =
        Map.of(
            LogFormatOption.VARIABLE,
            logs.json() ? "json" : "text",
            // The user's token is for another service, and Prometheus does not send it.
            "FIRSTSEEN_HTTP_TOKEN",
            "");
    JavaProgram program =
        new JavaProgram(main.getName(), ClassPath.ofThisJvm(), options, arguments, environment);
    URI health = URI.create("http://127.0.0.1:" + port + "/healthz");
    return LocalProcess.startJava(
        "serve", logs.file("serve"), start -> program, start -> answers(health));
  }

  /** Whether a GET of the address has the status 200. */
  static boolean answers(URI address) throws IOException {
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
