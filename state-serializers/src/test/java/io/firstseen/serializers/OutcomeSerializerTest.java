package io.firstseen.serializers;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.near.NearMatch;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OutcomeSerializerTest extends TypeSerializerContract<Outcome> {

  private static final Outcome WITH_MATCH =
      Outcome.of(
          Outcome.Kind.DUPLICATE,
          new byte[] {1},
          SourceEventSerializerTest.FULL,
          new NearMatch("b6d", 64));

  @Override
  protected TypeInformation<Outcome> typeInformation() {
    return TypeInformation.of(Outcome.class);
  }

  @Override
  protected List<Outcome> samples() {
    List<Outcome> samples = new ArrayList<>();
    for (SourceEvent event : SourceEventSerializerTest.SAMPLES) {
      for (Outcome.Kind kind : Outcome.Kind.values()) {
        samples.add(
            kind == Outcome.Kind.DEAD_LETTER
                ? Outcome.deadLetter(event, "because")
                : Outcome.of(kind, "canonical".getBytes(UTF_8), event));
      }
    }
    samples.add(
        Outcome.of(
            Outcome.Kind.ACCEPTED,
            new byte[] {1},
            SourceEventSerializerTest.FULL,
            new NearMatch("0123456789abcdef", 0)));
    samples.add(WITH_MATCH);
    return samples;
  }

  @Override
  protected String bytesOfFirstSample() {
    return "01" + "0963616e6f6e6963616c" + new SourceEventSerializerTest().bytesOfFirstSample();
  }

  @Test
  void version4AddsTheMatch() throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(16);
    OutcomeSerializer.INSTANCE.serialize(WITH_MATCH, out);
    assertThat(HexFormat.of().formatHex(out.getCopyOfBuffer()))
        .isEqualTo(
            "83" + "0101" + "0362366440" + new SourceEventSerializerTest().bytesOfFirstSample());
    byte[] deadLetterWithMatch = out.getCopyOfBuffer();
    deadLetterWithMatch[0] = (byte) 0x85;
    assertThatThrownBy(
            () ->
                OutcomeSerializer.INSTANCE.deserialize(
                    new DataInputDeserializer(deadLetterWithMatch)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("kind of outcome: 133");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void stateOfEarlierVersionsIsReadAndMigrated(int version) throws IOException {
    OutcomeSerializer.Snapshot earlier = new OutcomeSerializer.Snapshot();
    earlier.readSnapshot(
        version, new DataInputDeserializer(new byte[0]), getClass().getClassLoader());
    assertThat(
            OutcomeSerializer.INSTANCE
                .snapshotConfiguration()
                .resolveSchemaCompatibility(earlier)
                .isCompatibleAfterMigration())
        .isTrue();
    byte[] bytes = HexFormat.of().parseHex(bytesOfFirstSample());
    assertThat(earlier.restoreSerializer().deserialize(new DataInputDeserializer(bytes)))
        .isEqualTo(samples().get(0));
  }
}
