package io.firstseen.jobs.kafka;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.ScopedKey;
import io.firstseen.filters.key.Shards;
import io.firstseen.operators.KeyHashSource;
import io.firstseen.serializers.Outcome;
import io.firstseen.serializers.Place;
import java.io.Serializable;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * The progress of a task's outcomes, according to its state and later events, and according to the
 * claims topic. If a job starts from older state, its first outcomes are already written.
 */
final class WrittenOutcomes {
  /**
   * The shards of the outcomes that a sink writes; one if each task processes whole partitions.
   *
   * @param isByScope whether the scope of a key selects its shard, not the whole key
   */
  record OutcomeShards(int count, @Nullable KeyHashSource hashSource, boolean isByScope)
      implements Serializable {
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

  private final OutcomeShards shards;
  private final KeyGroupRange range;
  private final WrittenOffsets passed;
  private final Map<TopicPartition, Input> inputs = new HashMap<>();
  private WrittenOffsets written;
  private @Nullable Input lastInput;
  private @Nullable KeyHash hash;

  private static final class Input {
    final TopicPartition partition;
    // For each shard, the offset up to which outcomes are already written; null without such
    // outcomes.
    long @Nullable [] ahead;
    @Nullable Place last;

    Input(TopicPartition partition, long @Nullable [] ahead) {
      this.partition = partition;
      this.ahead = ahead;
    }
  }

  WrittenOutcomes(OutcomeShards shards, TaskInfo task, WrittenOffsets passed) {
    this.shards = shards;
    this.range = shards.of(task);
    this.passed = passed;
    this.written = new WrittenOffsets(shards.count());
  }

  /** Sets the progress on the topic, before the first event. */
  void setWritten(WrittenOffsets byTopic) {
    written = byTopic;
    hash =
        shards.hashSource() == null || byTopic.beyond(passed).isEmpty()
            ? null
            : shards.hashSource().open();
  }

  boolean isWritten(Outcome outcome) {
    Place place = outcome.event().place();
    if (!place.isOfKafka()) {
      return false;
    }
    Input input = input(place);
    input.last = place;
    if (input.ahead == null) {
      return false;
    }
    int shard = hash == null ? 0 : shardOf(outcome.canonicalKey());
    if (place.offset() <= input.ahead[shard]) {
      return true;
    }
    if (place.offset() > Arrays.stream(input.ahead).max().orElseThrow()) {
      input.ahead = null;
    }
    return false;
  }

  private int shardOf(byte[] key) {
    return new Shards(shards.count())
        .shardOf(hash.hash(shards.isByScope() ? ScopedKey.scope(key) : key));
  }

  private Input input(Place place) {
    if (lastInput == null
        || lastInput.partition.partition() != place.partition()
        || !lastInput.partition.topic().equals(place.source())) {
      lastInput =
          inputs.computeIfAbsent(
              new TopicPartition(place.source(), place.partition()),
              partition ->
                  new Input(
                      partition,
                      written.beyond(
                          passed, partition, range.getStartKeyGroup(), range.getEndKeyGroup())));
    }
    return lastInput;
  }

  /** Marks the outcomes since the previous call as written, when their transaction ends. */
  void advance() {
    for (Input input : inputs.values()) {
      if (input.last != null) {
        passed.advance(input.last, range.getStartKeyGroup(), range.getEndKeyGroup());
        input.last = null;
      }
    }
  }

  List<String> passedLines() {
    return passed.lines(range.getStartKeyGroup(), range.getEndKeyGroup());
  }

  /** The progress of this task for the claims topic. */
  List<String> writtenLines() {
    written.addLines(passedLines());
    return written.lines(range.getStartKeyGroup(), range.getEndKeyGroup());
  }
}
