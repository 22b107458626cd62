package io.firstseen.benchmarks.operator;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.benchmarks.key.UrlKind;
import io.firstseen.benchmarks.shared.NanosBenchmark;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.operators.dedup.DedupStreams;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.serializers.Change;
import io.firstseen.types.Operation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The cost of the steps before the dedup operator, for events that are the bytes of a canonical
 * URL: the operator that computes key and hash, and serialization for the network. With {@code
 * -prof gc} also bytes per record.
 */
@Fork(1)
public class IdentifyBenchmark extends NanosBenchmark {
  private static final int RECORDS = 1 << 12;

  @Param({"none", "url"})
  public String canonicaliser;

  private final List<StreamRecord<byte[]>> events = new ArrayList<>();
  private final List<Change<byte[]>> changes = new ArrayList<>();
  private final DataOutputSerializer out = new DataOutputSerializer(1 << 10);
  private final DataInputDeserializer in = new DataInputDeserializer();
  private OneInputStreamOperatorTestHarness<byte[], Change<byte[]>> harness;
  private final TypeSerializer<byte[]> eventSerializer = BytePrimitiveArraySerializer.INSTANCE;
  private TypeSerializer<Change<byte[]>> serializer;
  private int next;

  @Setup
  @SuppressWarnings("unchecked") // The transformations that apply() created have these types.
  public void prepare() throws Exception {
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
    DedupStreams<byte[]> streams =
        Firstseen.dedup(
                env.fromSequence(0, 0)
                    .map(n -> new byte[1], PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO))
            .key(event -> event)
            .canonicaliser(Canonicaliser.of(canonicaliser))
            .apply();
    OneInputTransformation<byte[], Change<byte[]>> identify =
        (OneInputTransformation<byte[], Change<byte[]>>)
            streams.accepted().getTransformation().getInputs().get(0).getInputs().get(0);
    harness = new OneInputStreamOperatorTestHarness<>(identify.getOperatorFactory(), 1, 1, 0);
    harness.setOutputCreator(unused -> new SwallowingOutput<>());
    harness.open();
    serializer = streams.accepted().getType().createSerializer(new SerializerConfigImpl());
    for (int i = 0; i < RECORDS; i++) {
      byte[] url = UrlKind.CANONICAL.url(i).getBytes(UTF_8);
      events.add(new StreamRecord<>(url, i));
      changes.add(new Change<>(Operation.ADD, url, KeyHash.fixed().hash(url), url));
    }
  }

  /** From the event to the change, with key and hash. */
  @Benchmark
  public void identify() throws Exception {
    next = (next + 1) & (RECORDS - 1);
    harness.processElement(events.get(next));
  }

  /** Serializes and deserializes the change. */
  @Benchmark
  public Change<byte[]> carry() throws IOException {
    next = (next + 1) & (RECORDS - 1);
    return carry(serializer, changes.get(next));
  }

  /** Serializes and deserializes only the event, as a job without a dedup does. */
  @Benchmark
  public byte[] carryEvent() throws IOException {
    next = (next + 1) & (RECORDS - 1);
    return carry(eventSerializer, events.get(next).getValue());
  }

  private <T> T carry(TypeSerializer<T> ofValue, T value) throws IOException {
    out.clear();
    ofValue.serialize(value, out);
    in.setBuffer(out.getSharedBuffer(), 0, out.length());
    return ofValue.deserialize(in);
  }

  @TearDown
  public void close() throws Exception {
    harness.close();
  }
}
