package io.firstseen.operators.dedup;

import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.cuckoo.Insertion;
import io.firstseen.filters.cuckoo.PagedFilter;
import io.firstseen.filters.key.Shards;
import io.firstseen.operators.IncompatibleStateException;
import io.firstseen.types.Change;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.Operation;
import java.util.List;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.OutputTag;

/**
 * Passes on what changes the set of live keys, and tells apart what does not.
 *
 * <p>Every shard is a cuckoo filter in managed keyed state, one entry a page. An add whose key is
 * not in the filter, and a delete whose key is, go to the main output; the others to side outputs.
 *
 * @param <T> type of the events
 */
final class DedupOperator<T> extends AbstractStreamOperator<Change<T>>
    implements OneInputStreamOperator<Change<T>, Change<T>> {
  private static final long serialVersionUID = 1;

  private final DedupParameters parameters;
  private final OutputTag<Change<T>> duplicatesTag;
  private final OutputTag<Change<T>> unknownDeletesTag;

  private transient Shards shards;
  private transient ListState<DedupParameters> parametersState;
  private transient DedupParameters effective;
  private transient PagedFilter filter;
  private transient ShardPages pages;
  private transient Counter accepted;
  private transient Counter removed;
  private transient Counter duplicates;
  private transient Counter unknownDeletes;

  DedupOperator(
      DedupParameters parameters,
      OutputTag<Change<T>> duplicatesTag,
      OutputTag<Change<T>> unknownDeletesTag) {
    this.parameters = parameters;
    this.duplicatesTag = duplicatesTag;
    this.unknownDeletesTag = unknownDeletesTag;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    parametersState = context.getOperatorStateStore().getUnionListState(DedupState.PARAMETERS);
    effective = parameters;
    for (DedupParameters restored : parametersState.get()) {
      List<String> contradictions = restored.contradictions(parameters);
      if (!contradictions.isEmpty()) {
        throw new IncompatibleStateException(
            "The dedup state cannot be restored by this job, they differ in: "
                + String.join(", ", contradictions));
      }
      effective = restored;
    }
    shards = new Shards(effective.shardCount());
    CuckooShape shape = new CuckooShape(effective.identityBits());
    filter = new PagedFilter(shape);
    pages =
        new ShardPages(
            shape,
            effective.shardCount(),
            context.getKeyedStateStore().getMapState(DedupState.PAGES),
            context.getKeyedStateStore().getState(DedupState.DIRECTORY));
  }

  @Override
  public void open() throws Exception {
    super.open();
    accepted = getMetricGroup().counter("accepted");
    removed = getMetricGroup().counter("removed");
    duplicates = getMetricGroup().counter("duplicates");
    unknownDeletes = getMetricGroup().counter("unknownDeletes");
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    parametersState.update(List.of(effective));
  }

  @Override
  public void processElement(StreamRecord<Change<T>> record) {
    Change<T> change = record.getValue();
    ShardPages shard = pages.of(shards.shardOf(change.hash()));
    long rest = shards.rest(change.hash());
    if (change.operation() == Operation.ADD) {
      if (filter.insertIfAbsent(shard, rest) == Insertion.STORED) {
        accepted.inc();
        output.collect(record);
      } else {
        duplicates.inc();
        output.collect(duplicatesTag, record);
      }
    } else if (filter.delete(shard, rest)) {
      removed.inc();
      output.collect(record);
    } else {
      unknownDeletes.inc();
      output.collect(unknownDeletesTag, record);
    }
  }
}
