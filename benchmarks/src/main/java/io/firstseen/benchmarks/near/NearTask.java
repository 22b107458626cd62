package io.firstseen.benchmarks.near;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.benchmarks.operator.SwallowingOutput;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.near.NearRule;
import io.firstseen.filters.near.TextSignature;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.serializers.Change;
import io.firstseen.types.Operation;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;

/** One task of a dedup of near-duplicates, in Flink's harness, on the heap. */
// Closing Flink's harness may throw InterruptedException.
@SuppressWarnings("try")
final class NearTask implements AutoCloseable {
  private static final KeyHash HASH = KeyHash.fixed();

  private final KeyedOneInputStreamOperatorTestHarness<Object, Change<byte[]>, Change<byte[]>>
      harness;
  private final TextSignature signature;
  private final List<Integer> accepted = new ArrayList<>();
  private int texts;
  private long checkpoints;

  NearTask(NearRule rule, int capacity) throws Exception {
    signature = new TextSignature(rule, HASH);
    harness = harness(rule, capacity);
    harness.setOutputCreator(
        serializer ->
            new SwallowingOutput<Change<byte[]>>() {
              @Override
              public void collect(StreamRecord<Change<byte[]>> record) {
                accepted.add(ByteBuffer.wrap(record.getValue().event()).getInt());
              }
            });
    harness.setCheckpointStorage(new JobManagerCheckpointStorage(Integer.MAX_VALUE));
    harness.getExecutionConfig().enableObjectReuse();
    harness.open();
  }

  @SuppressWarnings(
      "unchecked") // Arrays of a generic type; the operator is what apply() put there.
  private static KeyedOneInputStreamOperatorTestHarness<Object, Change<byte[]>, Change<byte[]>>
      harness(NearRule rule, int capacity) throws Exception {
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
    OneInputTransformation<Change<byte[]>, Change<byte[]>> dedup =
        (OneInputTransformation<Change<byte[]>, Change<byte[]>>)
            Firstseen.nearDuplicates(env.fromData(new byte[1]), rule)
                .key(text -> text)
                .capacity(capacity)
                .apply()
                .accepted()
                .getTransformation();
    return new KeyedOneInputStreamOperatorTestHarness<>(
        dedup.getOperatorFactory(),
        (KeySelector<Change<byte[]>, Object>) (KeySelector<?, ?>) dedup.getStateKeySelector(),
        (TypeInformation<Object>) dedup.getStateKeyType(),
        dedup.getMaxParallelism(),
        1,
        0);
  }

  static byte[] form(String text) {
    try {
      return Canonicaliser.TEXT.canonicalise(text.getBytes(UTF_8));
    } catch (InvalidKeyException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** Computes form and signature of a text, and adds it. Texts are numbered from 0. */
  void add(String text) throws Exception {
    process(Operation.ADD, form(text));
    texts++;
  }

  private void process(Operation operation, byte[] form) throws Exception {
    long[] hashes = signature.hashesAndSample(form, 0, HASH.hash(form));
    byte[] number = ByteBuffer.allocate(Integer.BYTES).putInt(texts).array();
    harness.processElement(new StreamRecord<>(new Change<>(operation, form, 0, hashes, number), 0));
  }

  /**
   * Returns whether a live text resembles a text with this form; does not change the live texts.
   */
  boolean resembles(byte[] form) throws Exception {
    int before = accepted().size();
    process(Operation.ADD, form);
    if (accepted().size() == before) {
      return true;
    }
    process(Operation.DELETE, form);
    decide();
    accepted.subList(before, accepted.size()).clear();
    return false;
  }

  /** Returns the numbers of the accepted texts. */
  List<Integer> accepted() throws Exception {
    decide();
    return accepted;
  }

  private void decide() throws Exception {
    harness.prepareSnapshotPreBarrier(checkpoints);
  }

  /** Returns the bytes of a checkpoint. */
  long stateBytes() throws Exception {
    decide();
    return harness.snapshot(++checkpoints, 0).getStateSize();
  }

  /** Returns the CPU time of this thread, on which other processes have little influence. */
  static double cpuSeconds() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1e9;
  }

  TextSignature signature() {
    return signature;
  }

  @Override
  public void close() throws Exception {
    harness.close();
  }
}
