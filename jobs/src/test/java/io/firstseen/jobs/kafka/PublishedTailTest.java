package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.ShardTree;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.operators.UserErrorException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PublishedTailTest {
  private static final TopicPartition FIRST = new TopicPartition("t", 0);
  private static final TopicPartition LAST = new TopicPartition("t", 1);
  private static final String A = "a".repeat(64);
  private static final String B = "b".repeat(64);
  private static final String C = "c".repeat(64);

  private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("none");
  private final Map<TopicPartition, Long> ends = new HashMap<>(Map.of(FIRST, 0L, LAST, 0L));
  private final Counter passedOver = new SimpleCounter();
  private PublishedTail tail = tail(List.of());

  private PublishedTail tail(List<TrustedKey> keys) {
    consumer.updatePartitions(
        "t",
        List.of(
            new PartitionInfo("t", 0, null, null, null),
            new PartitionInfo("t", 1, null, null, null)));
    consumer.updateBeginningOffsets(Map.of(FIRST, 0L, LAST, 0L));
    consumer.updateEndOffsets(ends);
    return new PublishedTail(new TailReader(consumer, "t"), "t", "s", keys, passedOver);
  }

  @AfterEach
  void close() {
    tail.close();
  }

  private void write(TopicPartition partition, String key, byte[] value) {
    long offset = ends.merge(partition, 1L, Long::sum) - 1;
    consumer.addRecord(
        new ConsumerRecord<>("t", partition.partition(), offset, key.getBytes(UTF_8), value));
    consumer.updateEndOffsets(ends);
  }

  private static Manifest manifest(String setName, long sequence) {
    return Manifest.of(
        setName,
        sequence,
        0,
        1,
        SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), 0.1),
        0,
        ShardTree.root(List.of(ShardTree.Leaf.NONE)),
        null,
        0);
  }

  @Test
  void manifestsAndClaimsCountOnTheFirstPartitionOnly() {
    tail.keepBlobs();
    write(FIRST, "s", manifest("s", 7).toBytes());
    write(FIRST, "s/publisher", "me".getBytes(UTF_8));
    tail.readToEnd();
    write(LAST, "s", manifest("s", 8).toBytes());
    write(LAST, "s/publisher", "you".getBytes(UTF_8));
    tail.readToEnd();
    assertThat(tail.newestSequence()).hasValue(7);
    assertThat(tail.newestClaim()).hasValue("me");
    assertThat(tail.blobs).isEmpty();
  }

  /** Records behind an open transaction, which may be of another job, are not read. */
  @Test
  void waitsForWhatOpenTransactionsHide() {
    tail.keepBlobs();
    tail.readToEnd();
    Map<TopicPartition, Long> written = Map.of(FIRST, 1L, LAST, 0L);
    assertThat(tail.awaitCommitted(() -> false, written, Duration.ofMillis(10)))
        .as("a transaction is open")
        .isFalse();
    consumer.schedulePollTask(() -> {});
    consumer.schedulePollTask(() -> write(FIRST, A + "/0", new byte[1]));
    assertThat(tail.awaitCommitted(() -> tail.blobs.contains(A), written, Duration.ofMinutes(1)))
        .isTrue();
    assertThat(tail.blobs).containsExactly(A);
    assertThat(tail.awaitCommitted(() -> false, written, Duration.ofMinutes(1)))
        .as("nothing is open, so it will not come")
        .isTrue();
  }

  @Test
  void blobsCountOnEveryPartitionUntilTheyAreForgotten() {
    tail.keepBlobs();
    write(FIRST, A + "/0", new byte[1]);
    write(LAST, B + "/0", new byte[1]);
    write(LAST, B + "/1", new byte[1]);
    write(LAST, C + "/0", new byte[1]);
    write(LAST, C + "/0", null);
    tail.readToEnd();
    assertThat(tail.blobs).containsExactlyInAnyOrder(A, B);
    tail.forgetBlobs();
    assertThat(consumer.assignment()).containsExactly(FIRST);
    write(FIRST, "s", manifest("s", 7).toBytes());
    tail.readToEnd();
    assertThat(tail.newestSequence()).hasValue(7);
    assertThat(tail.blobs).isNull();
  }

  @Test
  void whoeverKeepsNoBlobsReadsTheFirstPartitionOnly() {
    ends.put(LAST, 5L);
    consumer.updateEndOffsets(ends);
    write(FIRST, "s", manifest("s", 7).toBytes());
    tail.readToEnd();
    assertThat(tail.newestSequence()).hasValue(7);
    assertThat(consumer.assignment()).containsExactly(FIRST);
  }

  @Test
  void whatIsNoManifestOfTheSetIsPassedOver() {
    write(FIRST, "s", manifest("s", 7).toBytes());
    write(FIRST, "s", manifest("other", 8).toBytes());
    write(FIRST, "s", "{}".getBytes(UTF_8));
    tail.readToEnd();
    assertThat(tail.newestSequence()).hasValue(7);
    assertThat(passedOver.getCount()).isEqualTo(2);
    write(FIRST, "s", null);
    tail.readToEnd();
    assertThat(tail.newestSequence()).isEmpty();
  }

  @Test
  void withKeysTheHighestSignedSequenceCountsAndAnotherManifestOfItIsNoticed() {
    SigningKey key = SigningKey.generate();
    tail = tail(List.of(key.publicKey()));
    Manifest mine = key.sign(manifest("s", 7));
    tail.sent(mine);
    write(FIRST, "s", mine.toBytes());
    write(FIRST, "s", key.sign(manifest("s", 6)).toBytes());
    write(FIRST, "s", manifest("s", 8).toBytes());
    write(FIRST, "s", SigningKey.generate().sign(manifest("s", 9)).toBytes());
    write(FIRST, "s", null);
    tail.readToEnd();
    assertThat(tail.newestSequence()).hasValue(7);
    assertThat(passedOver.getCount()).isEqualTo(3);
    assertThat(tail.contradicted).isEmpty();
    tail.sent(key.sign(manifest("s", 8)));
    write(FIRST, "s", key.sign(manifest("s", 8).withTimes(1, null)).toBytes());
    tail.readToEnd();
    assertThat(tail.contradicted).isEqualTo(OptionalLong.of(8));
  }

  @Test
  void aWrongSettingOfConsumersIsOneSentence() {
    KafkaOptions options =
        KafkaOptions.parse(
            "--bootstrap-servers=localhost:1", "--kafka-property=fetch.min.bytes=many");
    assertThatThrownBy(
            () ->
                PublishedTail.read(
                    options.clientProperties(), "firstseen.snapshots", "s", List.of(), ""))
        .isInstanceOf(UserErrorException.class)
        .hasMessageStartingWith(
            "cannot read topic firstseen.snapshots at localhost:1: Invalid value many for configuration"
                + " fetch.min.bytes");
  }
}
