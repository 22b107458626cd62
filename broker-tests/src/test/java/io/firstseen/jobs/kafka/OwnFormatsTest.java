package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Timestamp;
import com.sun.net.httpserver.HttpServer;
import io.firstseen.embedded.SharedBroker;
import io.firstseen.embedded.SharedCluster;
import io.firstseen.fixtures.TopicIo;
import io.firstseen.jobs.JobMain;
import io.firstseen.jobs.OutcomeCounts;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.serializers.Outcome;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.ExceptionUtils;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Topics of other formats than ours, in whole jobs. */
class OwnFormatsTest {

  @RegisterExtension private static final SharedBroker BROKER = SharedBroker.tuned();
  @RegisterExtension private static final SharedCluster FLINK = SharedCluster.ofSlots(5);

  @TempDir private static Path directory;

  private final String name = SharedBroker.unused("formats");

  /** Sends values in hexadecimal, and runs a job until it has read them. */
  private Map<Outcome.Kind, Long> run(List<String> values, String... more) throws Exception {
    BROKER.broker().createTopics(List.of(new NewTopic(name + ".events", 1, (short) 1)));
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", BROKER.servers()),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      for (String value : values) {
        byte[] bytes = HexFormat.of().parseHex(value.replace(" ", ""));
        producer.send(new ProducerRecord<>(name + ".events", bytes)).get();
      }
    }
    List<String> words =
        new ArrayList<>(
            List.of(
                "--bootstrap-servers=" + BROKER.servers(),
                "--transactional-id-prefix=" + name,
                "--events-topic=" + name + ".events",
                "--accepted-topic=" + name + ".accepted",
                "--duplicates=none",
                "--dead-letters-topic=" + name + ".dead-letters"));
    words.addAll(List.of(more));
    try (TopicIo topics = new TopicIo(BROKER.servers())) {
      StreamExecutionEnvironment env = FLINK.environment();
      JobMain.buildOnKafka(
          env,
          Job.DEDUP,
          KafkaOptions.parse(words.toArray(String[]::new)).stopAt(topics.ends(name + ".events")),
          JobOptions.parse("--fpr=0.0000001"));
      Configuration once = new Configuration();
      once.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
      env.configure(once);
      return OutcomeCounts.of(env.execute().getAllAccumulatorResults());
    }
  }

  private List<String> accepted() throws Exception {
    try (TopicIo topics = new TopicIo(BROKER.servers())) {
      return topics.readCommitted(name + ".accepted").stream()
          .map(record -> new String(record.key(), UTF_8) + (record.value() == null ? " gone" : ""))
          .toList();
    }
  }

  private List<String> reasons() throws Exception {
    try (TopicIo topics = new TopicIo(BROKER.servers())) {
      return topics.readCommitted(name + ".dead-letters").stream()
          .map(record -> new String(record.headers().lastHeader("firstseen.reason").value(), UTF_8))
          .toList();
    }
  }

  @Test
  void avroWithTheSchemasOfARegistry() throws Exception {
    String first =
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"id\",\"type\":\"string\"}]}";
    // Another schema of the same topic: the field is elsewhere, and there is an operation.
    String second =
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"n\",\"type\":\"int\"},"
            + "{\"name\":\"id\",\"type\":[\"null\",\"string\"]},"
            + "{\"name\":\"op\",\"type\":\"string\"}]}";
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          String path = exchange.getRequestURI().getPath();
          boolean isKnown = path.equals("/schemas/ids/1") || path.equals("/schemas/ids/2");
          String schema = path.endsWith("1") ? first : second;
          String answer =
              isKnown
                  ? "{\"schema\":\"" + schema.replace("\"", "\\\"") + "\"}"
                  : "{\"error_code\":40403}";
          exchange.sendResponseHeaders(isKnown ? 200 : 404, answer.length());
          exchange.getResponseBody().write(answer.getBytes(UTF_8));
          exchange.close();
        });
    server.start();
    String registry = "--schema-registry=http://localhost:" + server.getAddress().getPort();
    String[] options = {
      "--event-format=avro",
      registry,
      "--key-field=/id",
      "--operation-field=/op",
      "--delete-values=d"
    };
    Map<Outcome.Kind, Long> counts;
    try {
      counts =
          run(
              List.of(
                  "00 00000001 02 61",
                  "00 00000002 0e 02 02 61 02 75",
                  "00 00000002 0e 02 02 62 02 75",
                  "00 00000002 0e 02 02 61 02 64",
                  "00 00000003 02 61",
                  "00 00000002 0e 00 02 75",
                  "7b 7d"),
              options);
    } finally {
      server.stop(0);
    }
    assertThat(accepted()).containsExactly("a", "b", "a gone");
    assertThat(counts).containsEntry(Outcome.Kind.DUPLICATE, 1L);
    assertThat(reasons())
        .containsExactly(
            "schema 3 is not in the registry",
            "key field /id is null",
            "value must start with a zero byte and the 4 bytes of its schema id, it has 2 bytes");

    // The registry is gone.
    assertThatThrownBy(() -> new OwnFormatsTest().run(List.of("00 00000001 02 61"), options))
        .satisfies(
            failure ->
                assertThat(ExceptionUtils.stringifyException(failure))
                    .contains(
                        "the schema registry at http://localhost:"
                            + server.getAddress().getPort()
                            + " cannot be read, after 4 attempts"));
  }

  @Tag("slow")
  @Test
  void protocolBuffersWithAndWithoutAHeader() throws Exception {
    Path schema = directory.resolve(name + ".desc");
    Files.write(
        schema,
        FileDescriptorSet.newBuilder()
            .addFile(Timestamp.getDescriptor().getFile().toProto())
            .build()
            .toByteArray());
    String[] options = {
      "--event-format=protobuf",
      "--schema=" + schema,
      "--schema-header",
      "--message=google.protobuf.Timestamp",
      "--key-field=/seconds",
      "--key-field=/nanos",
      "--time-field="
    };
    run(List.of("00 00000009 00 0805 1006", "00 00000009 02 00 0805 1006", "0805"), options);
    assertThat(accepted()).containsExactly("[5,6]");
    assertThat(reasons())
        .containsExactly(
            "value must start with a zero byte and the 4 bytes of its schema id, it has 2 bytes");

    OwnFormatsTest plain = new OwnFormatsTest();
    plain.run(
        List.of("0805 1006", "0805"),
        Stream.of(options)
            .filter(option -> !option.equals("--schema-header"))
            .toArray(String[]::new));
    assertThat(plain.accepted()).containsExactly("[5,6]", "[5,0]");
  }
}
