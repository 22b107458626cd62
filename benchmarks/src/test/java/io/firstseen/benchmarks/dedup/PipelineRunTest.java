package io.firstseen.benchmarks.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.benchmarks.dedup.PipelineRun.Sizes;
import io.firstseen.benchmarks.shared.FlinkSettings;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PipelineRunTest {
  private static final int KEYS = 5000;
  private static final FlinkSettings FLINK = new FlinkSettings(1, 64, false);

  @TempDir Path directory;

  @Tag("slow")
  @ParameterizedTest
  @EnumSource
  void everySubjectRunsAndIsMeasured(Subject subject) throws Exception {
    PipelineRun.Result result = PipelineRun.run(specification(subject, FLINK).withSizes(true));

    assertThat(result.recordsPerSecond()).isPositive();
    switch (subject.kind()) {
      case EMPTY -> assertThat(result.recordsAtSink()).isZero();
      case OURS -> assertThat(result.recordsAtSink()).isBetween(KEYS * 99L / 100, (long) KEYS);
      case OURS_EXACT, EXACT_BY_HASH, EXACT_BY_URL ->
          assertThat(result.recordsAtSink()).isEqualTo(KEYS);
    }
    Sizes sizes = result.sizes();
    assertThat(sizes.incrementKeys()).isEqualTo(KEYS / 2);
    if (subject.kind() != Subject.Kind.EMPTY) {
      assertThat(sizes.savepointBytes()).isGreaterThan(KEYS);
      assertThat(sizes.checkpointBytes()).isGreaterThan(KEYS);
      assertThat(sizes.incrementBytes()).isPositive();
    }
  }

  @Tag("slow")
  @Test
  void twoTasksGiveTheSameRecords() throws Exception {
    PipelineRun.Result result =
        PipelineRun.run(specification(Subject.HASH_HEAP, new FlinkSettings(2, 64, true)));
    assertThat(result.recordsAtSink()).isEqualTo(KEYS);
  }

  @Tag("slow")
  @Test
  void aRunGoesOnFromFilledFiltersUnderCheckpoints() throws Exception {
    long filterBytes = 1 << 20;
    PrefillRun.Result prefill =
        PrefillRun.run(new PrefillRun.Spec(filterBytes, directory.toString()));
    assertThat(prefill.filterBytes()).isBetween(filterBytes, filterBytes * 6 / 5);
    assertThat(prefill.keys()).isLessThanOrEqualTo(prefill.capacity());

    PipelineRun.Spec filled = specification(Subject.OURS_HEAP, FLINK).from(prefill);
    // Pages are a little smaller in files.
    assertThat(PipelineRun.run(filled.withSizes(true)).sizes().savepointBytes())
        .isBetween(prefill.filterBytes() * 9 / 10, prefill.filterBytes() * 5 / 4);
    // Long enough for a checkpoint on a busy machine.
    PipelineRun.Spec longer =
        PipelineRun.Spec.of(Subject.OURS_HEAP, 20 * KEYS, KEYS, FLINK, directory).from(prefill);
    CheckpointedRun.Result result = CheckpointedRun.run(new CheckpointedRun.Spec(longer, 10));
    assertThat(result.without()).hasSize(2);
    assertThat(result.with()).hasSize(2);
    assertThat(result.checkpoints()).isPositive();
    assertThat(result.ratio()).isPositive();
  }

  private PipelineRun.Spec specification(Subject subject, FlinkSettings flink) {
    return PipelineRun.Spec.of(subject, KEYS, KEYS, flink, directory);
  }
}
