package io.firstseen.serializers;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;

class OutcomeSerializerTest extends TypeSerializerContract<Outcome> {

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
    return samples;
  }

  @Override
  protected String bytesOfFirstSample() {
    return "01" + "0963616e6f6e6963616c" + new SourceEventSerializerTest().bytesOfFirstSample();
  }
}
