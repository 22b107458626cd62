package io.firstseen.serializers;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.types.ExactEntry;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

class ExactEntrySerializerTest extends TypeSerializerContract<ExactEntry> {

  @Override
  protected TypeInformation<ExactEntry> typeInformation() {
    return new SerializerTypeInformation<>(ExactEntry.class, ExactEntrySerializer.INSTANCE);
  }

  @Override
  protected List<ExactEntry> samples() {
    return List.of(
        new ExactEntry(
            0x1122334455667788L,
            new byte[] {1, 2},
            new ExactEntry(0, new byte[] {3}, new ExactEntry(1, new byte[0], null))),
        ExactEntry.HASH,
        new ExactEntry(-1, null, null),
        new ExactEntry(0, new byte[300], null));
  }

  @Override
  protected String bytesOfFirstSample() {
    return "07" + "1122334455667788" + "020102" + "06" + "0103" + "03" + "0000000000000001" + "00";
  }

  /** An attacker who knows the hash key can create any number of keys with one hash. */
  @Test
  void anyNumberOfKeysWithOneHashIsRead() throws IOException {
    ExactEntry first = null;
    for (int i = 0; i < 100_000; i++) {
      first = new ExactEntry(0, new byte[] {(byte) i}, first);
    }
    DataOutputSerializer out = new DataOutputSerializer(16);
    ExactEntrySerializer.INSTANCE.serialize(first, out);
    ExactEntry read =
        ExactEntrySerializer.INSTANCE.deserialize(new DataInputDeserializer(out.getCopyOfBuffer()));
    int count = 0;
    for (ExactEntry entry = read; entry != null; entry = entry.next()) {
      count++;
    }
    assertThat(count).isEqualTo(100_000);
    assertThat(read).isEqualTo(first).hasSameHashCodeAs(first).hasToString(first.toString());
    byte[] last = {(byte) 0};
    ExactEntry others = read.without(entry -> Arrays.equals(entry.key(), last));
    assertThat(others.without(entry -> !Arrays.equals(entry.key(), last))).isNull();
    assertThat(others).isNotEqualTo(first);
    assertThat(read.without(entry -> false)).isSameAs(read);
  }
}
