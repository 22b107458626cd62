package io.firstseen.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.util.FileUtils;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.StoreScope;

/**
 * One broker for all tests of a JVM, started by the first that asks for it and stopped at the end.
 * Tests keep apart by the names of their topics.
 */
public final class SharedBroker implements BeforeAllCallback {
  private static final Namespace NAMESPACE = Namespace.create(SharedBroker.class);
  private static final AtomicInteger NAMES = new AtomicInteger();

  private final String name;
  private final EmbeddedBroker.Settings settings;
  private EmbeddedBroker broker;

  private SharedBroker(String name, EmbeddedBroker.Settings settings) {
    this.name = name;
    this.settings = settings;
  }

  /**
   * The one of {@link EmbeddedBroker.Settings#tuned}, for most tests. As it is never restarted, it
   * has the session time-out of a stock broker.
   */
  public static SharedBroker tuned() {
    return new SharedBroker(
        "tuned", EmbeddedBroker.Settings.tuned().with("broker.session.timeout.ms", "9000"));
  }

  /**
   * The one of {@link EmbeddedBroker.Settings#stock}, except that it keeps records however old
   * their timestamps are.
   */
  public static SharedBroker stock() {
    return new SharedBroker(
        "stock", EmbeddedBroker.Settings.stock().with("log.retention.ms", "-1"));
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    broker =
        context
            .getStore(StoreScope.LAUNCHER_SESSION, NAMESPACE)
            .getOrComputeIfAbsent(name, key -> Running.start(settings), Running.class)
            .broker;
  }

  /** The broker itself, which stays open. */
  public EmbeddedBroker broker() {
    return broker;
  }

  /** The address for clients. */
  public String servers() {
    return broker.bootstrapServers();
  }

  /** A name that no other test has. */
  public static String unused(String name) {
    return name + "-" + NAMES.incrementAndGet();
  }

  /** A port of localhost where nothing listens, which stays free while a broker is away. */
  public static int freePort() throws IOException {
    return LocalPort.free();
  }

  /** Makes a topic of one partition. */
  public void create(String topic, String cleanupPolicy) {
    broker.createTopics(
        List.of(
            new NewTopic(topic, 1, (short) 1).configs(Map.of("cleanup.policy", cleanupPolicy))));
  }

  private record Running(Path directory, EmbeddedBroker broker) implements AutoCloseable {

    static Running start(EmbeddedBroker.Settings settings) {
      try {
        Path directory = Files.createTempDirectory("firstseen-broker");
        return new Running(directory, EmbeddedBroker.start(directory, settings));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void close() throws IOException {
      broker.close();
      FileUtils.deleteDirectory(directory.toFile());
    }
  }
}
