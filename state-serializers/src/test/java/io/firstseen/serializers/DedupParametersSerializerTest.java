package io.firstseen.serializers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.types.DedupMode;
import io.firstseen.types.DedupParameters;
import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

class DedupParametersSerializerTest extends TypeSerializerContract<DedupParameters> {
  private static final DedupParameters STATE =
      new DedupParameters(31, 128, "siphash-2-4", 0x1122334455667788L, "url", 1, DedupMode.EXACT);

  @Override
  protected TypeInformation<DedupParameters> typeInformation() {
    return new SerializerTypeInformation<>(
        DedupParameters.class, DedupParametersSerializer.INSTANCE);
  }

  @Override
  protected List<DedupParameters> samples() {
    return List.of(
        STATE, new DedupParameters(20, 1, "xxh3-64", -1, "none", 7, DedupMode.APPROXIMATE));
  }

  @Override
  protected String bytesOfFirstSample() {
    return "0000001f"
        + "00000080"
        + "0b736970686173682d322d34"
        + "1122334455667788"
        + "0375726c"
        + "00000001"
        + "056578616374";
  }

  @Test
  void namesEachParameterThatAJobContradictsAndLeavesTheIdentitiesToTheState() {
    assertThat(
            STATE.contradictions(
                new DedupParameters(
                    25, 128, "siphash-2-4", 0x1122334455667788L, "url", 1, DedupMode.EXACT)))
        .isEmpty();
    assertThat(
            STATE.contradictions(
                new DedupParameters(31, 64, "xxh3-64", 1, "text", 2, DedupMode.EXACT_KEYS)))
        .containsExactly(
            "shards (state: 128, job: 64)",
            "hash algorithm (state: siphash-2-4, job: xxh3-64)",
            "check of the hash key (state: 1122334455667788, job: 0000000000000001)",
            "canonicaliser (state: url, job: text)",
            "canonicaliser version (state: 1, job: 2)",
            "mode (state: exact, job: exact-keys)");
  }

  /** The bytes of version 1 are those that stood here then. */
  @Test
  void stateOfVersionOneIsReadAsApproximate() throws IOException {
    DataOutputSerializer snapshot = new DataOutputSerializer(64);
    TypeSerializerSnapshot.writeVersionedSnapshot(
        snapshot, DedupParametersSerializer.INSTANCE.snapshotConfiguration());
    byte[] bytes = snapshot.getCopyOfBuffer();
    assertThat(bytes[bytes.length - 1]).isEqualTo((byte) 2);
    bytes[bytes.length - 1] = 1;
    TypeSerializerSnapshot<DedupParameters> old =
        TypeSerializerSnapshot.readVersionedSnapshot(
            new DataInputDeserializer(bytes), getClass().getClassLoader());
    String fields = bytesOfFirstSample().replaceAll("056578616374$", "");
    assertThat(
            old.restoreSerializer()
                .deserialize(new DataInputDeserializer(HexFormat.of().parseHex(fields))))
        .isEqualTo(
            new DedupParameters(
                31, 128, "siphash-2-4", 0x1122334455667788L, "url", 1, DedupMode.APPROXIMATE));
    assertThat(
            DedupParametersSerializer.INSTANCE
                .snapshotConfiguration()
                .resolveSchemaCompatibility(old)
                .isCompatibleAfterMigration())
        .isTrue();
  }

  @Test
  void anUnknownModeIsRefused() {
    byte[] bytes =
        HexFormat.of().parseHex(bytesOfFirstSample().replaceAll("056578616374$", "0178"));
    assertThatThrownBy(
            () -> DedupParametersSerializer.INSTANCE.deserialize(new DataInputDeserializer(bytes)))
        .isInstanceOf(IOException.class)
        .hasMessage("mode must be one of approximate, exact, exact-keys, got 'x'");
  }
}
