package io.firstseen.operators.dedup;

import io.firstseen.filters.key.Shards;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.JobID;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Metric;
import org.apache.flink.runtime.clusterframework.types.ResourceID;
import org.apache.flink.runtime.executiongraph.ExecutionGraphTestUtils;
import org.apache.flink.runtime.metrics.groups.TaskManagerMetricGroup;
import org.apache.flink.runtime.metrics.util.TestingMetricRegistry;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.runtime.operators.testutils.MockInputSplitProvider;

/** The metrics that one task registered. */
final class TaskMetrics {
  private final Map<String, Metric> byName = new HashMap<>();

  MockEnvironment environment(Shards shards, int parallelism, int subtask) {
    TestingMetricRegistry registry =
        TestingMetricRegistry.builder()
            .setRegisterConsumer((metric, name, group) -> byName.put(name, metric))
            .build();
    return new MockEnvironmentBuilder()
        .setTaskName("metrics")
        .setManagedMemorySize(3 << 20)
        .setInputSplitProvider(new MockInputSplitProvider())
        .setBufferSize(1024)
        .setMaxParallelism(shards.count())
        .setParallelism(parallelism)
        .setSubtaskIndex(subtask)
        .setMetricGroup(
            TaskManagerMetricGroup.createTaskManagerMetricGroup(
                    registry, "localhost", ResourceID.generate())
                .addJob(new JobID(), "job")
                .addTask(ExecutionGraphTestUtils.createExecutionAttemptId(), "task"))
        .build();
  }

  Set<String> names() {
    return byName.keySet();
  }

  long count(String name) {
    return ((Counter) byName.get(name)).getCount();
  }

  Number gauge(String name) {
    return (Number) ((Gauge<?>) byName.get(name)).getValue();
  }

  long figure(String name) {
    return byName.get(name) instanceof Counter counter
        ? counter.getCount()
        : gauge(name).longValue();
  }
}
