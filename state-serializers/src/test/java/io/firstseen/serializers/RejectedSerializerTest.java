package io.firstseen.serializers;

import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeHint;
import org.apache.flink.api.common.typeinfo.TypeInformation;

class RejectedSerializerTest extends TypeSerializerContract<Rejected<String>> {
  @Override
  protected TypeInformation<Rejected<String>> typeInformation() {
    return new TypeHint<Rejected<String>>() {}.getTypeInfo();
  }

  @Override
  protected List<Rejected<String>> samples() {
    return List.of(
        new Rejected<>("key is empty", "event"),
        new Rejected<>("key is empty", ""),
        new Rejected<>("", "event"));
  }

  @Override
  protected String bytesOfFirstSample() {
    return "0c6b657920697320656d707479" + "066576656e74";
  }
}
