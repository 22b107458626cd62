package io.firstseen.embedded;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * One broker for all tests of a JVM, which is started on first use and stopped at the end. Tests
 * use different topic names.
 */
public final class SharedBroker implements BeforeAllCallback {
  private static final AtomicInteger NAMES = new AtomicInteger();

  private final String name;
  private final EmbeddedBroker.Settings settings;
  private ExtensionContext context;

  private SharedBroker(String name, EmbeddedBroker.Settings settings) {
    this.name = name;
    this.settings = settings;
  }

  /**
   * Returns the broker with {@link EmbeddedBroker.Settings#tuned}, for most tests. It is never
   * restarted, so it has a stock broker's heartbeats.
   */
  public static SharedBroker tuned() {
    return new SharedBroker(
        "tuned",
        EmbeddedBroker.Settings.tuned()
            .with("broker.session.timeout.ms", "9000")
            .with("broker.heartbeat.interval.ms", "2000")
            .with("num.io.threads", "2")
            .with("num.network.threads", "1"));
  }

  /**
   * Returns the broker with {@link EmbeddedBroker.Settings#stock}, except that it retains records
   * of any age.
   */
  public static SharedBroker stock() {
    return new SharedBroker(
        "stock", EmbeddedBroker.Settings.stock().with("log.retention.ms", "-1"));
  }

  @Override
  public void beforeAll(ExtensionContext ofClass) {
    context = ofClass;
  }

  /** Returns the broker, which the caller must not close. */
  public EmbeddedBroker broker() {
    return Shared.get(
        context,
        EmbeddedBroker.class,
        name,
        directory -> EmbeddedBroker.start(directory, settings));
  }

  /** Returns the address for clients. */
  public String servers() {
    return broker().bootstrapServers();
  }

  /** Returns a name that no other test uses. */
  public static String unused(String name) {
    return name + "-" + NAMES.incrementAndGet();
  }

  /** Returns a port of localhost where nothing listens, which stays free while a broker is down. */
  public static int freePort() throws IOException {
    return LocalPort.free();
  }

  /** Creates a topic with one partition. */
  public void create(String topic, String cleanupPolicy) {
    broker()
        .createTopics(
            List.of(
                new NewTopic(topic, 1, (short) 1)
                    .configs(Map.of("cleanup.policy", cleanupPolicy))));
  }
}
