package io.firstseen.serializers;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.types.Operation;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;

class SourceEventSerializerTest extends TypeSerializerContract<SourceEvent> {

  static final SourceEvent FULL =
      SourceEvent.of(
          Operation.DELETE,
          "tenant".getBytes(UTF_8),
          "key".getBytes(UTF_8),
          "{}".getBytes(UTF_8),
          0x0102030405060708L,
          "a.tsv:17");

  static final List<SourceEvent> SAMPLES =
      List.of(
          FULL,
          SourceEvent.of(Operation.ADD, null, "key".getBytes(UTF_8), null, 0, "a.tsv:17"),
          SourceEvent.of(
              Operation.ADD, new byte[0], new byte[65536], new byte[300], Long.MAX_VALUE, ""),
          SourceEvent.malformed("not UTF-8: ü", new byte[] {(byte) 0xFF}, "topic-0@42"),
          SourceEvent.malformed("value is null", null, "topic-0@43"));

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
    return "07"
        + "0102030405060708"
        + "036b6579"
        + "0674656e616e74"
        + "027b7d"
        + "08612e7473763a3137";
  }
}
