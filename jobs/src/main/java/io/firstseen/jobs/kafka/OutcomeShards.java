package io.firstseen.jobs.kafka;

import io.firstseen.operators.KeyHashSource;
import java.io.Serializable;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.jspecify.annotations.Nullable;

/**
 * The shards of the outcomes that a sink writes.
 *
 * @param count the number of shards of the dedup; 1 if each task processes the events of partitions
 * @param hashSource the hash that assigns shards; null with one shard
 * @param isByScope whether the scope of a key selects its shard, not the whole key
 */
record OutcomeShards(int count, @Nullable KeyHashSource hashSource, boolean isByScope)
    implements Serializable {
  private static final long serialVersionUID = 1;

  /** The shard of a sink whose tasks process the events of partitions. */
  static final OutcomeShards ONE = new OutcomeShards(1, null, false);

  /** The shards whose outcomes a task receives. */
  KeyGroupRange of(TaskInfo task) {
    return count == 1
        ? new KeyGroupRange(0, 0)
        : KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
            count, task.getNumberOfParallelSubtasks(), task.getIndexOfThisSubtask());
  }
}
