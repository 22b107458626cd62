package io.firstseen.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TopicReaderTest {
  @RegisterExtension static final SharedBroker KAFKA = SharedBroker.tuned();

  private final String topic = SharedBroker.unused("read");

  @BeforeEach
  void createTopic() {
    KAFKA.broker().createTopic(topic, 1);
  }

  @Test
  void textsThatWereSentAreReadInOrder() throws Exception {
    KAFKA.broker().send(topic, "a", "b", "ü");
    KAFKA.broker().send(topic, "c");
    assertThat(KAFKA.broker().readCommitted(topic))
        .extracting(ConsumerRecord::value)
        .containsExactly("a", "b", "ü", "c");
    assertThat(KAFKA.broker().readCommitted(topic))
        .extracting(ConsumerRecord::key)
        .containsOnlyNulls();
  }

  @Test
  void committedRecordsAloneAreReadAndCommitsUnderWayAreWaitedFor() throws Exception {
    try (KafkaProducer<String, String> producer = transactionalProducer()) {
      producer.beginTransaction();
      producer.send(new ProducerRecord<>(topic, "aborted")).get();
      producer.abortTransaction();
      producer.beginTransaction();
      producer.send(new ProducerRecord<>(topic, "key", "open")).get();
      CompletableFuture<List<ConsumerRecord<String, String>>> reading = new CompletableFuture<>();
      CompletableFuture<List<ConsumerRecord<String, String>>> waiting = new CompletableFuture<>();
      Thread reader = inBackground(reading, () -> KAFKA.broker().readCommitted(topic));
      Thread waiter = inBackground(waiting, () -> KAFKA.broker().awaitCommitted(topic, 1));
      assertThatThrownBy(() -> reading.get(1, TimeUnit.SECONDS))
          .isInstanceOf(TimeoutException.class);
      assertThat(waiting).isNotDone();
      producer.commitTransaction();
      assertThat(reading.get()).extracting(ConsumerRecord::value).containsExactly("open");
      assertThat(waiting.get()).extracting(ConsumerRecord::key).containsExactly("key");
      reader.join();
      waiter.join();
    }
    // The marker at the end of a transaction also has an offset.
    TopicReader<String, String> texts =
        new TopicReader<>(KAFKA.servers(), new StringDeserializer(), new StringDeserializer());
    assertThat(texts.read(topic, record -> {})).isEqualTo(Map.of(new TopicPartition(topic, 0), 3L));
  }

  private KafkaProducer<String, String> transactionalProducer() {
    KafkaProducer<String, String> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", KAFKA.servers(), "transactional.id", topic),
            new StringSerializer(),
            new StringSerializer());
    producer.initTransactions();
    return producer;
  }

  private static Thread inBackground(
      CompletableFuture<List<ConsumerRecord<String, String>>> result, Reading reading) {
    Thread thread =
        new Thread(
            () -> {
              try {
                result.complete(reading.read());
              } catch (Exception e) {
                result.completeExceptionally(e);
              }
            });
    thread.start();
    return thread;
  }

  private interface Reading {
    List<ConsumerRecord<String, String>> read() throws Exception;
  }

  @Test
  void anUnknownTopicIsNamed() {
    assertThatThrownBy(() -> KAFKA.broker().readCommitted("nothing"))
        .isInstanceOf(UnknownTopicOrPartitionException.class)
        .hasMessageContaining("topic nothing");
    assertThatThrownBy(() -> KAFKA.broker().awaitCommitted("nothing", 1))
        .isInstanceOf(UnknownTopicOrPartitionException.class);
  }
}
