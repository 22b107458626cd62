package io.firstseen.benchmarks.kafka;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.Processors;
import io.firstseen.embedded.EmbeddedBroker;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.NewTopic;

/** A Kafka broker in a separate process. It ends when its standard input does. */
final class BrokerProcess implements AutoCloseable {
  private static final int HEAP_MEBIBYTES = 512;
  private static final int STOP_SECONDS = 20;

  private final Process process;
  private final Thread kill;
  private final String bootstrapServers;

  private BrokerProcess(Process process, Thread kill, String bootstrapServers) {
    this.process = process;
    this.kill = kill;
    this.bootstrapServers = bootstrapServers;
  }

  /**
   * What to start.
   *
   * @param directory of the data, which stay
   * @param topic a topic to make
   * @param partitions of it
   */
  record Spec(String directory, String topic, int partitions) {}

  static BrokerProcess start(Processors processors, Spec spec) throws IOException {
    Process process =
        ChildJvm.withHeap(HEAP_MEBIBYTES).processors(processors).start(BrokerProcess.class, spec);
    Thread kill = new Thread(process::destroyForcibly);
    Runtime.getRuntime().addShutdownHook(kill);
    String servers =
        new BufferedReader(new InputStreamReader(process.getInputStream(), US_ASCII)).readLine();
    if (servers == null) {
      throw new IOException("the broker has not started");
    }
    return new BrokerProcess(process, kill, servers);
  }

  String bootstrapServers() {
    return bootstrapServers;
  }

  @Override
  public void close() throws IOException {
    process.getOutputStream().close();
    process
        .onExit()
        .completeOnTimeout(process, STOP_SECONDS, TimeUnit.SECONDS)
        .join()
        .destroyForcibly();
    Runtime.getRuntime().removeShutdownHook(kill);
  }

  /** The process. */
  public static void main(String[] arguments) throws IOException {
    Spec spec = ChildJvm.specification(arguments, Spec.class);
    EmbeddedBroker.Settings settings =
        EmbeddedBroker.Settings.tuned()
            // The events have times of their own.
            .with("log.retention.ms", "-1")
            // No compaction during a measurement.
            .with("log.cleaner.min.compaction.lag.ms", Long.toString(TimeUnit.DAYS.toMillis(1)))
            .with("log.segment.delete.delay.ms", "1000");
    try (EmbeddedBroker broker = EmbeddedBroker.start(Path.of(spec.directory()), settings)) {
      broker.createTopics(List.of(new NewTopic(spec.topic(), spec.partitions(), (short) 1)));
      System.out.println(broker.bootstrapServers());
      while (System.in.read() >= 0) {}
    }
    System.exit(0);
  }
}
