package io.firstseen.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.flink.api.common.JobStatus;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.extension.RegisterExtension;

class SharedClusterTest {
  @RegisterExtension static final SharedCluster FLINK = SharedCluster.ofSlots(1);

  private static @Nullable EmbeddedCluster cluster;
  private static @Nullable JobClient last;

  /**
   * The job of the previous test was cancelled, otherwise there would be no slot for another job.
   */
  @RepeatedTest(2)
  void aJobThatATestLeavesIsCancelled() throws Exception {
    assertThat(cluster == null || cluster == FLINK.cluster()).isTrue();
    cluster = FLINK.cluster();
    assertLastCancelled();
    StreamExecutionEnvironment environment = FLINK.environment();
    environment.fromSequence(1, Long.MAX_VALUE).sinkTo(new DiscardingSink<>());
    last = environment.executeAsync();
    FLINK.cluster().awaitRunning(last);
  }

  @AfterAll
  static void assertLastCancelled() throws Exception {
    if (last != null) {
      assertThat(last.getJobStatus().get()).isEqualTo(JobStatus.CANCELED);
    }
  }
}
