package io.firstseen.serializers;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.types.Operation;
import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SourceEventSerializerTest extends TypeSerializerContract<SourceEvent> {

  static final SourceEvent FULL =
      SourceEvent.of(
          Operation.DELETE,
          "tenant".getBytes(UTF_8),
          "key".getBytes(UTF_8),
          "{}".getBytes(UTF_8),
          0x0102030405060708L,
          Place.of("a.tsv:17"));

  static final SourceEvent WITH_RECORD =
      FULL.withRecord(
          new SourceRecord(
              258,
              0x0807060504030201L,
              "rk".getBytes(UTF_8),
              List.of(
                  new SourceRecord.Header("h", new byte[] {9}),
                  new SourceRecord.Header("", null),
                  new SourceRecord.Header("h", new byte[0]))));

  static final List<SourceEvent> SAMPLES =
      List.of(
          FULL,
          WITH_RECORD,
          FULL.withRecord(new SourceRecord(0, -1, null, List.of())),
          SourceEvent.of(Operation.ADD, null, "key".getBytes(UTF_8), null, 0, Place.of("a.tsv:17")),
          SourceEvent.of(
              Operation.ADD,
              new byte[0],
              new byte[65536],
              new byte[300],
              Long.MAX_VALUE,
              Place.of("")),
          SourceEvent.malformed("not UTF-8: ü", new byte[] {(byte) 0xFF}, Place.of("topic-0@42")),
          SourceEvent.malformed("value is null", null, Place.of("topic-0@43")));

  @Override
  protected TypeInformation<SourceEvent> typeInformation() {
    return TypeInformation.of(SourceEvent.class);
  }

  @Override
  protected List<SourceEvent> samples() {
    return SAMPLES;
  }

  @Override
  protected String bytesOfFirstSample() {
    return "070102030405060708036b65790674656e616e74027b7d08612e7473763a3137";
  }

  @Test
  void version2AddsTheRecordBehindVersion1() throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(16);
    SourceEventSerializer.INSTANCE.serialize(WITH_RECORD, out);
    assertThat(HexFormat.of().formatHex(out.getCopyOfBuffer()))
        .isEqualTo(
            "17"
                + bytesOfFirstSample().substring(2)
                + "0100000102080706050403020102726b030168010109000001680100");
  }

  @Test
  void version3WritesPlacesOfKafkaByTheirParts() throws IOException {
    SourceEvent event =
        SourceEvent.of(Operation.ADD, null, new byte[] {7}, null, 0, new Place("a-1@2", 258, 3));
    DataOutputSerializer out = new DataOutputSerializer(16);
    SourceEventSerializer.INSTANCE.serialize(event, out);
    String time = "0000000000000000";
    assertThat(HexFormat.of().formatHex(out.getCopyOfBuffer()))
        .isEqualTo("20" + time + "0107" + "05612d314032" + "00000102" + "0000000000000003");
    byte[] version1 = HexFormat.of().parseHex("00" + time + "0107" + "0b612d3140322d3235384033");
    assertThat(SourceEventSerializer.INSTANCE.deserialize(new DataInputDeserializer(version1)))
        .isEqualTo(event);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a.tsv:17", "t-0@", "t-0@-1", "t-01@1", "t@1", "-@", "t-0@1:2"})
  void otherPlacesAreOfNoRecord(String text) {
    assertThat(Place.of(text)).isEqualTo(new Place(text, -1, -1)).hasToString(text);
  }

  @Test
  void stateOfVersion1IsReadAndMigrated() throws IOException {
    SourceEventSerializer.Snapshot version1 = new SourceEventSerializer.Snapshot();
    version1.readSnapshot(1, new DataInputDeserializer(new byte[0]), getClass().getClassLoader());
    assertThat(
            SourceEventSerializer.INSTANCE
                .snapshotConfiguration()
                .resolveSchemaCompatibility(version1)
                .isCompatibleAfterMigration())
        .isTrue();
    byte[] bytes = HexFormat.of().parseHex(bytesOfFirstSample());
    assertThat(version1.restoreSerializer().deserialize(new DataInputDeserializer(bytes)))
        .isEqualTo(FULL);
  }

  @ParameterizedTest
  @ValueSource(strings = {"40", "100000000000000000000002"})
  void unknownFlagsAreRefused(String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex + "0000".repeat(9));
    assertThatThrownBy(
            () -> SourceEventSerializer.INSTANCE.deserialize(new DataInputDeserializer(bytes)))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("unknown flags of a ");
  }
}
