package io.firstseen.benchmarks.kafka;

import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.Processors;
import io.firstseen.embedded.EmbeddedBroker;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.NewTopic;

/**
 * The process of a Kafka broker, which prints its address. It ends when its standard input does.
 */
final class BrokerProcess {
  private static final int HEAP_MEBIBYTES = 512;

  private BrokerProcess() {}

  /**
   * What to start.
   *
   * @param partitions of the topic of events
   */
  record Spec(String directory, int partitions) {}

  static ChildJvm.Service start(Processors processors, Spec spec) throws IOException {
    return ChildJvm.withHeap(HEAP_MEBIBYTES)
        .processors(processors)
        .serve(BrokerProcess.class, spec);
  }

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
      broker.createTopics(List.of(new NewTopic(Events.TOPIC, spec.partitions(), (short) 1)));
      System.out.println(broker.bootstrapServers());
      while (System.in.read() >= 0) {}
    }
    System.exit(0);
  }
}
