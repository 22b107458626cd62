package io.firstseen.serializers;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.types.DedupParameters;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.junit.jupiter.api.Test;

class DedupParametersSerializerTest extends TypeSerializerContract<DedupParameters> {
  private static final DedupParameters STATE =
      new DedupParameters(31, 128, "siphash-2-4", 0x1122334455667788L, "url", 1);

  @Override
  protected TypeInformation<DedupParameters> typeInformation() {
    return new SerializerTypeInformation<>(
        DedupParameters.class, DedupParametersSerializer.INSTANCE);
  }

  @Override
  protected List<DedupParameters> samples() {
    return List.of(STATE, new DedupParameters(20, 1, "xxh3-64", -1, "none", 7));
  }

  @Override
  protected String bytesOfFirstSample() {
    return "0000001f"
        + "00000080"
        + "0b736970686173682d322d34"
        + "1122334455667788"
        + "0375726c"
        + "00000001";
  }

  @Test
  void namesEachParameterThatAJobContradictsAndLeavesTheIdentitiesToTheState() {
    assertThat(
            STATE.contradictions(
                new DedupParameters(25, 128, "siphash-2-4", 0x1122334455667788L, "url", 1)))
        .isEmpty();
    assertThat(STATE.contradictions(new DedupParameters(31, 64, "xxh3-64", 1, "text", 2)))
        .containsExactly(
            "shards (state: 128, job: 64)",
            "hash algorithm (state: siphash-2-4, job: xxh3-64)",
            "check of the hash key (state: 1122334455667788, job: 0000000000000001)",
            "canonicaliser (state: url, job: text)",
            "canonicaliser version (state: 1, job: 2)");
  }
}
