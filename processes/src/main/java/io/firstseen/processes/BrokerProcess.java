package io.firstseen.processes;

import io.firstseen.embedded.EmbeddedBroker;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;

/**
 * A Kafka broker and its controller in a separate process.
 *
 * @param bootstrapServers {@code localhost:port}; the same after each start
 */
public record BrokerProcess(LocalProcess process, String bootstrapServers) {
  private static final int ANSWER_MILLIS = 1_000;
  // The default retention of a broker.
  private static final String RETENTION_MILLIS = "604800000";

  /**
   * Starts a broker and waits until it responds.
   *
   * @param directory the directory of its data, created if absent
   * @param port the port for clients on localhost; 0 selects a free port, which is kept on restarts
   * @param properties properties of the broker, as in {@code server.properties}, that differ from
   *     {@link EmbeddedBroker.Settings#tuned}
   */
  public static BrokerProcess start(
      Path directory, int port, Map<String, String> properties, ProcessLogs logs)
      throws IOException {
    int chosen = LocalPorts.choose(port);
    List<String> arguments = new ArrayList<>(List.of(directory.toString(), "" + chosen));
    properties.forEach((name, value) -> arguments.add(name + "=" + value));
    List<String> options = new ArrayList<>(List.of("-Xmx512m", "-XX:+UseSerialGC"));
    options.addAll(logs.options());
    LocalProcess.Command command =
        LocalProcess.Command.java(
            BrokerProcess.class.getName(), ClassPath.ofThisJvm(), options, arguments, Map.of());
    String servers = "localhost:" + chosen;
    LocalProcess process =
        LocalProcess.start(
            "the Kafka broker", logs.file("kafka"), number -> command, number -> answers(servers));
    return new BrokerProcess(process, servers);
  }

  private static boolean answers(String servers) throws IOException {
    try (Admin admin =
        Admin.create(
            Map.of(
                AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG,
                servers,
                AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG,
                ANSWER_MILLIS,
                AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG,
                ANSWER_MILLIS,
                AdminClientConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG,
                50))) {
      return !admin.describeCluster().nodes().get(ANSWER_MILLIS, TimeUnit.MILLISECONDS).isEmpty();
    } catch (ExecutionException | TimeoutException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  /**
   * The main class of the process. Its arguments are a directory, a port, and properties as {@code
   * name=value}.
   */
  public static void main(String[] words) throws Exception {
    EmbeddedBroker.Settings settings =
        EmbeddedBroker.Settings.tuned()
            .with("log.retention.ms", RETENTION_MILLIS)
            .port(Integer.parseInt(words[1]));
    for (String property : List.of(words).subList(2, words.length)) {
      String[] parts = property.split("=", 2);
      settings = settings.with(parts[0], parts[1]);
    }
    EmbeddedBroker broker = EmbeddedBroker.start(Path.of(words[0]), settings);
    Runtime.getRuntime().addShutdownHook(new Thread(broker::close, "close-broker"));
    new CountDownLatch(1).await();
  }
}
