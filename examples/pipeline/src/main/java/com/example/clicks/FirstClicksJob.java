package com.example.clicks;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.operators.dedup.DedupStreams;
import io.firstseen.operators.dedup.Firstseen;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Writes the first click on each page unchanged to another topic. */
public final class FirstClicksJob {
  static final String CLICKS = "clicks";
  static final String FIRST_CLICKS = "first-clicks";
  static final String DEAD_LETTERS = "clicks.dead-letters";

  private FirstClicksJob() {}

  /** The only argument is the address of the Kafka brokers. */
  public static void main(String[] arguments) throws Exception {
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
    env.enableCheckpointing(10_000);
    build(env, arguments[0]);
    env.execute("first-clicks");
  }

  static void build(StreamExecutionEnvironment env, String brokers) {
    KafkaSource<Click> source =
        KafkaSource.<Click>builder()
            .setBootstrapServers(brokers)
            .setTopics(CLICKS)
            .setGroupId("first-clicks")
            .setStartingOffsets(OffsetsInitializer.earliest())
            .setValueOnlyDeserializer(new ClickReader())
            .build();
    DedupStreams<Click> streams =
        dedup(env.fromSource(source, WatermarkStrategy.noWatermarks(), CLICKS).uid(CLICKS));

    write(streams.accepted().map(change -> change.event().json()), brokers, FIRST_CLICKS);
    write(streams.deadLetters().map(rejected -> rejected.event().json()), brokers, DEAD_LETTERS);
  }

  static DedupStreams<Click> dedup(DataStream<Click> clicks) {
    return Firstseen.dedup(clicks)
        .keyText(Click::url)
        .canonicaliser(Canonicaliser.URL)
        .capacity(100_000_000)
        .falsePositiveRate(0.001)
        .apply();
  }

  private static void write(
      SingleOutputStreamOperator<String> records, String brokers, String topic) {
    KafkaSink<String> sink =
        KafkaSink.<String>builder()
            .setBootstrapServers(brokers)
            .setRecordSerializer(
                KafkaRecordSerializationSchema.<String>builder()
                    .setTopic(topic)
                    .setValueSerializationSchema(new SimpleStringSchema())
                    .build())
            // Records become visible, to readers that read committed, with the next checkpoint.
            .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
            .setTransactionalIdPrefix(topic)
            // The longest that brokers allow by default.
            .setProperty("transaction.timeout.ms", "900000")
            .build();
    records.uid(topic + "-records").sinkTo(sink).uid(topic);
  }
}
