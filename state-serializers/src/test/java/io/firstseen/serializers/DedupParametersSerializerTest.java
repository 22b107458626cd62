package io.firstseen.serializers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.types.DedupMode;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.TimeToLive;
import io.firstseen.types.TimeToLive.Clock;
import io.firstseen.types.TimeToLive.Since;
import java.io.IOException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DedupParametersSerializerTest extends TypeSerializerContract<DedupParameters> {
  private static final DedupParameters STATE =
      new DedupParameters(31, 128, "siphash-2-4", 0x1122334455667788L, "url", 1, DedupMode.EXACT)
          .withAudit(1024)
          .withStrippedParameters("gclid,utm_*")
          .withNear("long");

  @Override
  protected TypeInformation<DedupParameters> typeInformation() {
    return new SerializerTypeInformation<>(
        DedupParameters.class, DedupParametersSerializer.INSTANCE);
  }

  @Override
  protected List<DedupParameters> samples() {
    return List.of(
        STATE,
        new DedupParameters(20, 1, "xxh3-64", -1, "none", 7, DedupMode.APPROXIMATE),
        STATE.withTtl(new TimeToLive(86_400_000, Clock.PROCESSING, Since.LAST_SEEN)));
  }

  @Override
  protected String bytesOfFirstSample() {
    return "0000001f000000800b736970686173682d322d3411223344556677880375726c000000010565786163740000000000000000000004000b67636c69642c75746d5f2a046c6f6e67";
  }

  @Test
  void aTtlIsItsLengthItsClockAndItsSince() throws IOException {
    DedupParameters parameters = STATE.withTtl(TimeToLive.of(Duration.ofDays(1)));
    DataOutputSerializer out = new DataOutputSerializer(64);
    DedupParametersSerializer.INSTANCE.serialize(parameters, out);
    assertThat(HexFormat.of().formatHex(out.getCopyOfBuffer()))
        .isEqualTo(
            bytesOfFirstSample()
                .replaceAll(
                    "0{16}(?=00000400)",
                    "0000000005265c00" + "056576656e74" + "0a66697273742d7365656e"));
  }

  @Test
  void namesWhatOfATtlAJobContradictsButNotItsLength() {
    TimeToLive day = TimeToLive.of(Duration.ofDays(1));
    DedupParameters state = STATE.withTtl(day);
    assertThat(state.contradictions(STATE.withTtl(TimeToLive.of(Duration.ofHours(1))))).isEmpty();
    assertThat(state.contradictions(STATE)).containsExactly("ttl (state: on, job: off)");
    assertThat(STATE.contradictions(state)).containsExactly("ttl (state: off, job: on)");
    assertThat(state.contradictions(STATE.withTtl(day.by(Clock.PROCESSING).since(Since.LAST_SEEN))))
        .containsExactly(
            "ttl clock (state: event, job: processing)",
            "ttl since (state: first-seen, job: last-seen)");
  }

  @Test
  void namesEachParameterThatAJobContradictsAndLeavesTheIdentitiesToTheState() {
    assertThat(
            STATE.contradictions(
                new DedupParameters(
                        25, 128, "siphash-2-4", 0x1122334455667788L, "url", 1, DedupMode.EXACT)
                    .withStrippedParameters("gclid,utm_*")
                    .withNear("long")))
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
            "stripped parameters (state: gclid,utm_*, job: none)",
            "near (state: long, job: none)",
            "mode (state: exact, job: exact-keys)");
  }

  @Test
  void namesTheCanonicaliserThatContinuesAStateOfAnOlderVersion() {
    DedupParameters state =
        new DedupParameters(25, 128, "siphash-2-4", 1, "url", 2, DedupMode.EXACT);
    DedupParameters job = new DedupParameters(25, 128, "siphash-2-4", 1, "url", 3, DedupMode.EXACT);
    assertThat(state.contradictions(job))
        .containsExactly(
            "canonicaliser version (state: 2, job: 3; the canonicaliser url-2 continues the state)");
  }

  /** The bytes of earlier versions are the expected bytes of this test at that time. */
  @ParameterizedTest
  @CsvSource({
    "1, 0{16}00000400.*|056578616374",
    "2, 0{16}00000400.*",
    "3, 0b67636c69642c75746d5f2a046c6f6e67$",
    "4, 046c6f6e67$",
  })
  void stateOfEarlierVersionsIsReadWithoutWhatThereWasNotYet(int version, String notThere)
      throws IOException {
    DataOutputSerializer snapshot = new DataOutputSerializer(64);
    TypeSerializerSnapshot.writeVersionedSnapshot(
        snapshot, DedupParametersSerializer.INSTANCE.snapshotConfiguration());
    byte[] bytes = snapshot.getCopyOfBuffer();
    assertThat(bytes[bytes.length - 1]).isEqualTo((byte) 5);
    bytes[bytes.length - 1] = (byte) version;
    TypeSerializerSnapshot<DedupParameters> old =
        TypeSerializerSnapshot.readVersionedSnapshot(
            new DataInputDeserializer(bytes), getClass().getClassLoader());
    String fields = bytesOfFirstSample().replaceAll(notThere, "");
    DedupMode mode = version < 2 ? DedupMode.APPROXIMATE : DedupMode.EXACT;
    assertThat(
            old.restoreSerializer()
                .deserialize(new DataInputDeserializer(HexFormat.of().parseHex(fields))))
        .isEqualTo(
            new DedupParameters(31, 128, "siphash-2-4", 0x1122334455667788L, "url", 1, mode)
                .withAudit(version < 3 ? 0 : 1024)
                .withStrippedParameters(version < 4 ? "" : "gclid,utm_*"));
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
        HexFormat.of().parseHex(bytesOfFirstSample().replaceAll("0565786163740{16}.*", "0178"));
    assertThatThrownBy(
            () -> DedupParametersSerializer.INSTANCE.deserialize(new DataInputDeserializer(bytes)))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("mode", "approximate, exact, exact-keys", "'x'");
  }
}
