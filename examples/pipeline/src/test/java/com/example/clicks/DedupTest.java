package com.example.clicks;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.serializers.Change;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;

/** The two operators of the dedup in Flink's harness, without a cluster and without Kafka. */
class DedupTest {
  private final StreamExecutionEnvironment env =
      StreamExecutionEnvironment.getExecutionEnvironment();
  private final OneInputTransformation<Change<Click>, Change<Click>> dedup =
      transformation(
          FirstClicksJob.dedup(env.fromData(click("any"))).accepted().getTransformation());

  /** Two steps before the dedup: its input is the exchange by shard, whose input says the key. */
  private final OneInputTransformation<Click, Change<Click>> identify =
      transformation(dedup.getInputs().get(0).getInputs().get(0));

  @Test
  void aPageIsNewOnceHoweverItIsSpelt() throws Exception {
    try (var harness = open(null)) {
      process(harness, click("https://example.org/a"), click("HTTPS://EXAMPLE.org:443/a"));
      process(harness, click("https://example.org/b"));
      assertThat(pages(harness)).containsExactly("https://example.org/a", "https://example.org/b");
    }
  }

  @Test
  void aRestoredJobKnowsThePagesOfBefore() throws Exception {
    OperatorSubtaskState state;
    try (var harness = open(null)) {
      process(harness, click("https://example.org/a"));
      harness.prepareSnapshotPreBarrier(1);
      state = harness.snapshot(1, 1);
    }
    try (var harness = open(state)) {
      process(harness, click("https://example.org/a"), click("https://example.org/b"));
      assertThat(pages(harness)).containsExactly("https://example.org/b");
    }
  }

  private static Click click(String url) {
    return new Click(url, "{}");
  }

  private KeyedOneInputStreamOperatorTestHarness<Object, Change<Click>, Change<Click>> open(
      OperatorSubtaskState state) throws Exception {
    @SuppressWarnings("unchecked") // The keys are those of the shards.
    var harness =
        new KeyedOneInputStreamOperatorTestHarness<>(
            dedup.getOperatorFactory(),
            (KeySelector<Change<Click>, Object>) dedup.getStateKeySelector(),
            (TypeInformation<Object>) dedup.getStateKeyType(),
            dedup.getMaxParallelism(),
            1,
            0);
    harness.setup(dedup.getOutputType().createSerializer(env.getConfig().getSerializerConfig()));
    if (state != null) {
      harness.initializeState(state);
    }
    harness.open();
    return harness;
  }

  private void process(
      KeyedOneInputStreamOperatorTestHarness<Object, Change<Click>, Change<Click>> harness,
      Click... clicks)
      throws Exception {
    try (var identified =
        new OneInputStreamOperatorTestHarness<>(identify.getOperatorFactory(), 1, 1, 0)) {
      identified.setup(
          identify.getOutputType().createSerializer(env.getConfig().getSerializerConfig()));
      identified.open();
      for (Click click : clicks) {
        identified.processElement(click, 0);
      }
      for (Change<Click> change : identified.extractOutputValues()) {
        harness.processElement(change, 0);
      }
    }
    // The dedup decides on events in batches, at the latest after 5 ms.
    harness.setProcessingTime(harness.getProcessingTime() + 5);
  }

  private static List<String> pages(
      KeyedOneInputStreamOperatorTestHarness<?, ?, Change<Click>> harness) {
    return harness.extractOutputValues().stream().map(change -> change.event().url()).toList();
  }

  @SuppressWarnings("unchecked") // The types are those that Firstseen says.
  private static <I, O> OneInputTransformation<I, O> transformation(Object transformation) {
    return (OneInputTransformation<I, O>) transformation;
  }
}
