package io.firstseen.operators.restores;

import io.firstseen.operators.restores.DedupTrial.Settings;
import java.util.List;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.core.execution.JobClient;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The source emits the same event object with the same key array again and again, with changed
 * contents. With object reuse, no operator between it and the dedup copies it.
 */
class ObjectReuseTest {
  @RegisterExtension private static final TestCluster CLUSTER = new TestCluster();

  @ParameterizedTest
  @CsvSource({"HEAP, 1, false", "HEAP, 1, true", "ROCKSDB, 2, false", "ROCKSDB, 2, true"})
  void outcomesAreTheSameWithAndWithout(Backend backend, int parallelism, boolean reuse)
      throws Exception {
    List<String> keys = EventScript.keysOfShards("key", DedupTrial.SHARDS, 40, 600);
    EventScript script = new EventScript().addAll(keys, 1).mix(keys, 5_000, 2).probe(keys, 500);
    DedupTrial trial = new DedupTrial(script);
    JobClient job =
        trial.start(
            CLUSTER, Settings.of(backend, parallelism).with(PipelineOptions.OBJECT_REUSE, reuse));
    trial.valve.endAt(script.size());
    CLUSTER.awaitEnd(job, JobStatus.FINISHED);
    script.assertExactly(trial.outcomes, script.size());
  }
}
