package io.firstseen.faults;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.producer.ProducerConfig;

/** Sends the events of a soak as fast as the dedup reads them. */
final class SoakProducer extends Worker {
  private final SoakStream stream;
  private final int partitions;
  private final long mostAhead;
  private final LongSupplier committed;
  private final EventSender sender;
  private long number;

  /**
   * A producer that starts at once.
   *
   * @param mostAhead how many events it may be ahead of those that are committed
   * @param committed how many these are
   */
  SoakProducer(
      String brokers, SoakStream stream, int partitions, long mostAhead, LongSupplier committed) {
    super("producer");
    this.stream = stream;
    this.partitions = partitions;
    this.mostAhead = mostAhead;
    this.committed = committed;
    this.sender =
        new EventSender(
            brokers,
            Map.of(ProducerConfig.LINGER_MS_CONFIG, 20, ProducerConfig.BATCH_SIZE_CONFIG, 1 << 17),
            this);
    start();
  }

  @Override
  void step() throws InterruptedException {
    while (isRunning() && number >= committed.getAsLong() + mostAhead) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
    long key = stream.key(number);
    sender.send(
        (int) (key % partitions),
        stream.millis(number),
        SoakStream.isDelete(number),
        SoakStream.text(key));
    number++;
  }

  @Override
  public void close() {
    super.close();
    sender.close();
  }
}
