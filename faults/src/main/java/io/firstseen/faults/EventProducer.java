package io.firstseen.faults;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerConfig;

/**
 * Sends the events of the model at a rate, but never more than about a thousand ahead of what the
 * pipeline has committed: so no event is later than the jobs' windows wait for, and the sets of all
 * windows are known.
 */
final class EventProducer extends EventSender {
  private static final int CLOSING_KEYS = 256;
  private static final int DELIVERY_MILLIS = 600_000;

  private final ExactModel model;
  private final OutputCheck output;
  private final int eventsPerSecond;
  private final int mostAhead;
  private double dueNanos = System.nanoTime();
  private volatile int produced;
  private volatile boolean losesNext;

  /**
   * A producer that starts at once.
   *
   * @param mostAhead of the lowest event that is not committed
   */
  EventProducer(
      String brokers, ExactModel model, OutputCheck output, int eventsPerSecond, int mostAhead) {
    super(
        brokers,
        Map.of(
            ProducerConfig.LINGER_MS_CONFIG,
            5,
            ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
            DELIVERY_MILLIS));
    this.model = model;
    this.output = output;
    this.eventsPerSecond = eventsPerSecond;
    this.mostAhead = mostAhead;
    start();
  }

  /** How many events there are so far. */
  int produced() {
    return produced;
  }

  /** Counts the next event without sending it. */
  void loseNext() {
    losesNext = true;
  }

  @Override
  void step() throws InterruptedException {
    dueNanos = Math.max(dueNanos, System.nanoTime() - 1e8) + 1e9 / eventsPerSecond;
    long wait = (long) dueNanos - System.nanoTime();
    if (wait > 1_000_000) {
      TimeUnit.NANOSECONDS.sleep(wait);
    }
    while (isRunning() && produced >= output.lowestUnseen() + mostAhead) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
    int next = produced;
    ExactModel.Event event = model.event(next);
    if (losesNext) {
      losesNext = false;
    } else {
      send(event.partition(), millis(next), event.kind().isDelete(), ExactModel.key(event.key()));
    }
    produced = next + 1;
  }

  private long millis(int number) {
    return model.settings().baseMillis() + number;
  }

  /** Sends no more events, and returns how many there are when the broker has all of them. */
  int finish() {
    stop();
    flush();
    return produced;
  }

  /** Sends events of other keys, which close all windows up to some ms behind the last event. */
  void closeWindows(int aheadMillis) {
    for (int i = 0; i < CLOSING_KEYS; i++) {
      send(
          i % model.settings().partitions(),
          millis(produced + aheadMillis + i),
          false,
          Watcher.CLOSING_PREFIX + i);
    }
    flush();
  }
}
