package io.firstseen.serializers;

import io.firstseen.types.AuditCounts;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;

class AuditCountsSerializerTest extends TypeSerializerContract<AuditCounts> {

  @Override
  protected TypeInformation<AuditCounts> typeInformation() {
    return new SerializerTypeInformation<>(AuditCounts.class, AuditCountsSerializer.INSTANCE);
  }

  @Override
  protected List<AuditCounts> samples() {
    return List.of(
        new AuditCounts(1L << 40, 3, 1.5), AuditCounts.NONE, AuditCounts.NONE.and(true, 0.25));
  }

  @Override
  protected String bytesOfFirstSample() {
    return "0000010000000000" + "0000000000000003" + "3ff8000000000000";
  }
}
