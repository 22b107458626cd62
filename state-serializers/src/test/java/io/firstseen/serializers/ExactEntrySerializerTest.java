package io.firstseen.serializers;

import io.firstseen.types.ExactEntry;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;

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
}
