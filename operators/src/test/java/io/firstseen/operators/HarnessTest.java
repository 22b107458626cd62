package io.firstseen.operators;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.serializers.Change;
import io.firstseen.types.Operation;
import io.firstseen.types.TimeToLive;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;

/** The dedup in Flink's test harness, as used by authors of jobs. */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
class HarnessTest {
  private static Firstseen<String> dedup() {
    return Firstseen.dedup(
            StreamExecutionEnvironment.getExecutionEnvironment().fromData("a", "b").rebalance())
        .keyText(url -> url);
  }

  private static KeyedOneInputStreamOperatorTestHarness<Object, Change<String>, Change<String>>
      harness() throws Exception {
    return harness(dedup(), null);
  }

  @SuppressWarnings("unchecked") // The operator is what apply() put there.
  private static KeyedOneInputStreamOperatorTestHarness<Object, Change<String>, Change<String>>
      harness(Firstseen<String> builder, Output<StreamRecord<Change<String>>> output)
          throws Exception {
    OneInputTransformation<Change<String>, Change<String>> dedup =
        (OneInputTransformation<Change<String>, Change<String>>)
            builder.apply().accepted().getTransformation();
    KeyedOneInputStreamOperatorTestHarness<Object, Change<String>, Change<String>> harness =
        new KeyedOneInputStreamOperatorTestHarness<>(
            dedup.getOperatorFactory(),
            (KeySelector<Change<String>, Object>) dedup.getStateKeySelector(),
            (TypeInformation<Object>) dedup.getStateKeyType(),
            dedup.getMaxParallelism(),
            1,
            0);
    if (output == null) {
      harness.setup(
          dedup
              .getOutputType()
              .createSerializer(harness.getExecutionConfig().getSerializerConfig()));
    } else {
      harness.setOutputCreator(serializer -> output);
    }
    return harness;
  }

  private static StreamRecord<Change<String>> add(String url) {
    byte[] key = url.getBytes(UTF_8);
    return new StreamRecord<>(new Change<>(Operation.ADD, key, KeyHash.fixed().hash(key), url));
  }

  @Test
  void tellsFirstFromRepeatedAlsoAfterARestore() throws Exception {
    OperatorSubtaskState state;
    try (var dedup = harness()) {
      dedup.open();
      dedup.processElement(add("a"));
      dedup.processElement(add("a"));
      dedup.processElement(add("b"));
      assertThat(dedup.extractOutputValues()).isEmpty();
      dedup.setProcessingTime(5);
      assertThat(dedup.extractOutputValues()).extracting(Change::event).containsExactly("a", "b");
      dedup.processElement(add("c"));
      dedup.prepareSnapshotPreBarrier(1);
      assertThat(dedup.extractOutputValues()).hasSize(3);
      state = dedup.snapshot(1, 1);
    }
    try (var dedup = harness()) {
      dedup.initializeState(state);
      dedup.open();
      for (String url : List.of("a", "d", "c")) {
        dedup.processElement(add(url));
      }
      dedup.processWatermark(1);
      assertThat(dedup.extractOutputValues()).extracting(Change::event).containsExactly("d");
    }
  }

  @Test
  void acceptsAKeyAgainAfterItsTtlByTheClockOfTheTest() throws Exception {
    TimeToLive ttl = TimeToLive.of(Duration.ofDays(8)).by(TimeToLive.Clock.PROCESSING);
    try (var dedup = harness(dedup().ttl(ttl), null)) {
      dedup.open();
      List<Integer> accepted = new ArrayList<>();
      for (int day : List.of(0, 7, 10)) {
        long millis = Duration.ofDays(day).toMillis();
        dedup.setProcessingTime(millis);
        dedup.processElement(add("a"));
        dedup.setProcessingTime(millis + 5);
        accepted.add(dedup.extractOutputValues().size());
      }
      assertThat(accepted).containsExactly(1, 1, 2);
    }
  }

  /** The waiting events would be missing in the snapshot without any error. */
  @Test
  void refusesASnapshotWhileEventsWait() throws Exception {
    try (var dedup = harness()) {
      dedup.open();
      dedup.processElement(add("a"));
      assertThatThrownBy(() -> dedup.snapshot(1, 1))
          .rootCause()
          .hasMessageContaining("1 events wait")
          .hasMessageContaining("call prepareSnapshotPreBarrier before a snapshot");
      dedup.prepareSnapshotPreBarrier(2);
      assertThat(dedup.snapshot(2, 2).getManagedKeyedState()).isNotEmpty();
    }
  }

  /** As {@code DedupOperatorBenchmark} says with {@code -prof gc}, for more operations. */
  @Test
  void allocatesNothingForARepeat() throws Exception {
    List<StreamRecord<Change<String>>> repeats = new ArrayList<>();
    for (int i = 0; i < 4096; i++) {
      repeats.add(add("url-" + i));
    }
    try (var dedup = harness(dedup(), new NoOutput<>())) {
      dedup.getExecutionConfig().enableObjectReuse();
      dedup.open();
      long allocated = Long.MAX_VALUE;
      for (int round = 0; round < 20; round++) {
        long before = allocatedBytes();
        for (int time = 0; time < 16; time++) {
          for (StreamRecord<Change<String>> repeat : repeats) {
            dedup.processElement(repeat);
          }
        }
        allocated = Math.min(allocated, allocatedBytes() - before);
      }
      // The least that an object takes is 16 bytes.
      assertThat((double) allocated / (16 * repeats.size())).isLessThan(4);
    }
  }

  private static long allocatedBytes() {
    return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
  }
}
