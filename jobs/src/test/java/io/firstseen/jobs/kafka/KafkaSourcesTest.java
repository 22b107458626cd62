package io.firstseen.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.KafkaOptions.Start;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer.PartitionOffsetsRetriever;
import org.apache.flink.util.InstantiationUtil;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.common.TopicPartition;
import org.assertj.core.util.introspection.FieldSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KafkaSourcesTest {
  private static final TopicPartition GROUP_KNOWS = new TopicPartition("events", 0);
  private static final TopicPartition IS_NEW = new TopicPartition("events", 1);

  /** A mark of the connector, which is below zero, would be looked up again at each restore. */
  @SuppressWarnings("deprecation")
  @ParameterizedTest
  @CsvSource({"LATEST, 100, 100", "COMMITTED, 50, 10"})
  void offsetsAreNumbersAndWhatIsGoneIsSkippedFromTheOldestOn(
      Start start, long ofKnown, long ofNew) {
    OffsetsInitializer offsets = new KafkaSources.StartOffsets(start);
    assertThat(offsets.getPartitionOffsets(List.of(GROUP_KNOWS, IS_NEW), new Broker()))
        .isEqualTo(Map.of(GROUP_KNOWS, ofKnown, IS_NEW, ofNew));
    assertThat(offsets.getAutoOffsetResetStrategy()).isEqualTo(OffsetResetStrategy.NONE);
  }

  /** The reader of the accepted topic learns from the deserializer when records were written. */
  @Test
  void aTaskSharesTheDeserializerOfTheConnector() throws Exception {
    Source<?, ?, ?> source =
        InstantiationUtil.clone(
            KafkaSources.acceptedChangelog(
                KafkaOptions.parse("--bootstrap-servers=localhost:1"),
                Duration.ofDays(1),
                Duration.ofDays(1)));
    assertThat(source)
        .extracting("accepted.deserializer")
        .isNotNull()
        .isSameAs(
            FieldSupport.EXTRACTION.fieldValue(
                "connector.deserializationSchema", Object.class, source));
  }

  private static final class Broker implements PartitionOffsetsRetriever {
    @Override
    public Map<TopicPartition, Long> committedOffsets(Collection<TopicPartition> partitions) {
      return partitions.contains(GROUP_KNOWS) ? Map.of(GROUP_KNOWS, 50L) : Map.of();
    }

    @Override
    public Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> partitions) {
      return all(partitions, 100);
    }

    @Override
    public Map<TopicPartition, Long> beginningOffsets(Collection<TopicPartition> partitions) {
      return all(partitions, 10);
    }

    @Override
    public Map<TopicPartition, OffsetAndTimestamp> offsetsForTimes(
        Map<TopicPartition, Long> timestamps) {
      throw new UnsupportedOperationException();
    }

    private static Map<TopicPartition, Long> all(
        Collection<TopicPartition> partitions, long offset) {
      return partitions.stream().collect(Collectors.toMap(Function.identity(), each -> offset));
    }
  }
}
