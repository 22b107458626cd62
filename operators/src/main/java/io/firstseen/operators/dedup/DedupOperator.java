package io.firstseen.operators.dedup;

import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.cuckoo.Insertion;
import io.firstseen.filters.cuckoo.PagedFilter;
import io.firstseen.filters.key.Shards;
import io.firstseen.operators.IncompatibleStateException;
import io.firstseen.operators.ShardKeys;
import io.firstseen.types.Change;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.Operation;
import java.util.List;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.runtime.state.TestableKeyedStateBackend;
import org.apache.flink.runtime.state.heap.HeapKeyedStateBackend;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.sorted.state.BatchExecutionKeyedStateBackend;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.OutputTag;

/**
 * Passes on what changes the set of live keys, and tells apart what does not.
 *
 * <p>Every shard is a cuckoo filter in managed keyed state, one entry a page. An add whose key is
 * not in the filter, and a delete whose key is, go to the main output; the others to side outputs.
 * In an exact mode, what is in the filter is asked of {@link ExactKeys}.
 *
 * @param <T> type of the events
 */
class DedupOperator<T> extends AbstractStreamOperator<Change<T>>
    implements OneInputStreamOperator<Change<T>, Change<T>> {
  private static final long serialVersionUID = 1;

  private final DedupParameters parameters;
  private final double falsePositiveRate;
  private final long pageCacheBytes;
  private final OutputTag<Change<T>> duplicatesTag;
  private final OutputTag<Change<T>> unknownDeletesTag;
  private final OutputTag<Change<T>> falselyDroppedTag;

  private transient Shards shards;
  private transient ListState<DedupParameters> parametersState;
  private transient DedupParameters effective;
  private transient PagedFilter filter;
  private transient PageCache cache;
  private transient ShardPages pages;
  private transient HashEntries entries;
  private transient ExactKeys exact;
  private transient KeyClock clock;
  private transient PageSweep sweep;
  private transient EntrySweep entrySweep;
  private transient Audit audit;
  private transient EventBatch<T> batch;
  private transient boolean warned;
  private transient Counter accepted;
  private transient Counter removed;
  private transient Counter duplicates;
  private transient Counter unknownDeletes;
  private transient Counter falselyDropped;

  /**
   * @param falsePositiveRate target; a predicted rate above it is logged, once
   * @param pageCacheBytes see {@link Firstseen#pageCacheBytes}
   */
  DedupOperator(
      DedupParameters parameters,
      double falsePositiveRate,
      long pageCacheBytes,
      OutputTag<Change<T>> duplicatesTag,
      OutputTag<Change<T>> unknownDeletesTag,
      OutputTag<Change<T>> falselyDroppedTag) {
    this.parameters = parameters;
    this.falsePositiveRate = falsePositiveRate;
    this.pageCacheBytes = pageCacheBytes;
    this.duplicatesTag = duplicatesTag;
    this.unknownDeletesTag = unknownDeletesTag;
    this.falselyDroppedTag = falselyDroppedTag;
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
      effective = restored.withTtl(parameters.ttl());
    }
    shards = new Shards(effective.shardCount());
    CuckooShape shape = new CuckooShape(effective.identityBits());
    if (effective.ttl() != null) {
      clock =
          new KeyClock(
              effective.ttl(),
              effective.shardCount(),
              getProcessingTimeService(),
              context.getKeyedStateStore().getState(DedupState.CLOCK));
    }
    filter = new PagedFilter(shape);
    KeyedStateBackend<?> backend = getKeyedStateBackend();
    if (backend instanceof BatchExecutionKeyedStateBackend) {
      throw new IncompatibleStateException(
          "The dedup needs execution.runtime-mode STREAMING: a batch job sorts its events, so that"
              + " an add and a delete of one key could change places");
    }
    if (backend instanceof TestableKeyedStateBackend<?> wrapper
        && wrapper.getDelegatedKeyedStateBackend(true) instanceof HeapKeyedStateBackend
        && !(backend instanceof HeapKeyedStateBackend)) {
      throw new IncompatibleStateException(
          "The dedup cannot keep its state in a changelog over the heap backend: set"
              + " state.changelog.enabled to false, or the backend to rocksdb");
    }
    boolean onHeap = backend instanceof HeapKeyedStateBackend;
    cache = onHeap ? null : new PageCache(pageCacheBytes);
    RunningCheckpoints checkpoints = onHeap ? new RunningCheckpoints() : null;
    pages =
        new ShardPages(
            shape,
            filter,
            shards,
            context
                .getKeyedStateStore()
                .getMapState(
                    onHeap
                        ? DedupState.pages(new WatchedPageSerializer(checkpoints))
                        : DedupState.PAGES),
            context.getKeyedStateStore().getState(DedupState.SUMMARY),
            this::setCurrentKey,
            cache,
            checkpoints,
            clock);
    WaitingEntries waiting =
        cache == null ? null : new WaitingEntries(effective.shardCount(), this::setCurrentKey);
    if (effective.mode().isExact()) {
      entries = new HashEntries(backend, DedupState.EXACT, pages::expiry, shards, waiting);
      exact = new ExactKeys(entries, filter, effective.mode());
    } else if (effective.auditSlices() > 0) {
      entries = new HashEntries(backend, DedupState.AUDIT, pages::expiry, shards, waiting);
      audit =
          new Audit(
              effective.auditSlices(),
              effective.shardCount(),
              entries,
              context.getKeyedStateStore().getState(DedupState.AUDIT_COUNTS),
              this::setCurrentKey);
    }
    TaskInfo task = getRuntimeContext().getTaskInfo();
    int maxParallelism = task.getMaxNumberOfParallelSubtasks();
    if (maxParallelism != effective.shardCount()) {
      throw new IncompatibleStateException(
          "The dedup's maximum parallelism must be its number of shards, %d, got %d"
              .formatted(effective.shardCount(), maxParallelism));
    }
    KeyGroupRange keyGroups =
        KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
            maxParallelism, task.getNumberOfParallelSubtasks(), task.getIndexOfThisSubtask());
    ShardKeys keys = ShardKeys.of(effective.shardCount(), maxParallelism);
    for (int shard = 0; shard < effective.shardCount(); shard++) {
      if (keyGroups.contains(ShardKeys.group(shard, effective.shardCount(), maxParallelism))) {
        pages.own(shard, keys.keyOf(shard));
        if (waiting != null) {
          waiting.own(shard, keys.keyOf(shard));
        }
        if (audit != null) {
          audit.own(shard, keys.keyOf(shard));
        }
      }
    }
  }

  @Override
  public void open() throws Exception {
    super.open();
    batch =
        new EventBatch<>(
            getProcessingTimeService(),
            // Not for each event: to read the machine's clock is to wait for all memory asked for.
            clock == null ? () -> {} : clock::tick,
            pages::touch,
            this::decide);
    MetricGroup metrics = getMetricGroup();
    accepted = metrics.counter("accepted");
    removed = metrics.counter("removed");
    duplicates = metrics.counter("duplicates");
    unknownDeletes = metrics.counter("unknownDeletes");
    metrics.gauge("keys", pages::keys);
    metrics.gauge("load", () -> pages.keys() == 0 ? 0 : (double) pages.keys() / pages.slots());
    metrics.gauge("predictedFalsePositiveRate", pages::predictedFalsePositiveRate);
    metrics.gauge("pages", pages::pageCount);
    metrics.gauge("pageBytes", pages::bytes);
    metrics.gauge("pageSplits", pages::splits);
    if (clock != null) {
      metrics.gauge("expired", pages::expired);
      sweep = new PageSweep(pages, clock);
      entrySweep = entries == null ? null : new EntrySweep(pages, entries, clock);
      if (!clock.isOfEvents()) {
        sweepByTheClock(0);
      }
    }
    if (exact != null) {
      metrics.counter("exactLookups", exact.lookups());
      metrics.counter("exactRescues", exact.rescues());
    }
    if (audit != null) {
      falselyDropped = metrics.counter("falselyDropped");
      audit.register(metrics);
    }
    if (cache != null) {
      metrics.gauge("cachedBytes", cache::bytes);
      metrics.counter("cacheHits", cache.hits());
      metrics.counter("cacheMisses", cache.misses());
      metrics.counter("cacheWriteBacks", cache.writeBacks());
    }
  }

  @Override
  public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
    decideAll();
    super.prepareSnapshotPreBarrier(checkpointId);
  }

  @Override
  public void processWatermarkStatus(WatermarkStatus status) throws Exception {
    decideAll();
    super.processWatermarkStatus(status);
  }

  @Override
  public void processWatermark(WatermarkEvent event) throws Exception {
    decideAll();
    super.processWatermark(event);
  }

  @Override
  public void processRecordAttributes(RecordAttributes attributes) throws Exception {
    decideAll();
    super.processRecordAttributes(attributes);
  }

  @Override
  public void processLatencyMarker(LatencyMarker marker) throws Exception {
    decideAll();
    super.processLatencyMarker(marker);
  }

  @Override
  public void finish() throws Exception {
    if (batch != null) {
      // Flink's harness finishes what never began.
      decideAll();
    }
    super.finish();
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    if (batch != null && batch.size() > 0) {
      throw new IllegalStateException(
          "%d events wait to be decided on: call prepareSnapshotPreBarrier before a snapshot, as Flink does"
              .formatted(batch.size()));
    }
    super.snapshotState(context);
    if (entries != null) {
      entries.flush();
    }
    if (audit != null) {
      audit.flush();
    }
    pages.flush(context.getCheckpointId());
    parametersState.update(List.of(effective));
    warnOfHighRate();
  }

  private void warnOfHighRate() {
    double predicted = pages.predictedFalsePositiveRate();
    if (predicted > falsePositiveRate && !warned) {
      LOG.warn(
          "{} holds {} keys in a part of its filters made for fewer: the predicted false-positive"
              + " rate is {}, the target {}",
          getOperatorConfig().getOperatorName(),
          pages.keys(),
          predicted,
          falsePositiveRate);
      warned = true;
    }
  }

  @Override
  public void notifyCheckpointComplete(long checkpointId) throws Exception {
    super.notifyCheckpointComplete(checkpointId);
    pages.checkpointEnded(checkpointId);
  }

  @Override
  public void notifyCheckpointAborted(long checkpointId) throws Exception {
    super.notifyCheckpointAborted(checkpointId);
    pages.checkpointEnded(checkpointId);
  }

  private void sweepByTheClock(long timestamp) throws Exception {
    clock.tick();
    sweep();
    // Nobody waits for it: a call that fails fails the task.
    var unused =
        getProcessingTimeService()
            .registerTimer(clock.nowMillis() + sweep.pauseMillis(), this::sweepByTheClock);
  }

  @Override
  public void processWatermark(Watermark mark) throws Exception {
    decideAll();
    super.processWatermark(mark);
    if (clock != null && clock.isOfEvents()) {
      clock.advanceTo(mark);
      sweep();
    }
  }

  /** Whoever reads or writes state sets the key of its shard first: most events touch none. */
  @Override
  @SuppressWarnings("rawtypes")
  public void setKeyContextElement1(StreamRecord record) {}

  private void sweep() throws Exception {
    sweep.run();
    if (entrySweep != null) {
      entrySweep.run();
    }
  }

  /**
   * Makes a key a live one that was none, also if the filter takes it for another: deleting one of
   * two that share an identity leaves the other.
   */
  final void learn(StreamRecord<Change<T>> record) throws Exception {
    Change<T> change = record.getValue();
    if (clock != null) {
      clock.tick();
      clock.next(record);
    }
    ShardPages shard = pages.of(shards.shardOf(change.hash()));
    long rest = shards.rest(change.hash());
    if (exact == null) {
      filter.insert(shard, rest);
    } else {
      shard.enter();
      exact.add(shard, rest, change);
    }
    if (audit != null && audit.covers(change.hash())) {
      shard.enter();
      audit.learn(change.hash());
    }
  }

  @Override
  public void processElement(StreamRecord<Change<T>> record) throws Exception {
    batch.add(record);
  }

  /** Decides on all events that came; to be called before anything else passes. */
  final void decideAll() throws Exception {
    batch.decideAll();
  }

  private void decide(StreamRecord<Change<T>> record) throws Exception {
    Change<T> change = record.getValue();
    if (clock != null) {
      clock.next(record);
    }
    int number = shards.shardOf(change.hash());
    ShardPages shard = pages.of(number);
    long rest = shards.rest(change.hash());
    boolean audited = audit != null && audit.covers(change.hash());
    if (audited || exact != null) {
      shard.enter();
    }
    if (change.operation() == Operation.ADD) {
      double predicted = audited ? shard.predictedFalsePositiveRateHere() : 0;
      boolean isNew =
          exact == null
              ? filter.insertIfAbsent(shard, rest) == Insertion.STORED
              : exact.add(shard, rest, change);
      if (audited && audit.add(number, change.hash(), isNew, predicted)) {
        falselyDropped.inc();
        output.collect(falselyDroppedTag, record);
      } else if (isNew) {
        accepted.inc();
        output.collect(record);
        if (entrySweep != null) {
          entrySweep.pay();
        }
      } else {
        duplicates.inc();
        output.collect(duplicatesTag, record);
      }
      return;
    }
    if (audited) {
      audit.delete(change.hash());
    }
    if (exact == null ? filter.delete(shard, rest) : exact.remove(shard, rest, change)) {
      removed.inc();
      output.collect(record);
    } else {
      unknownDeletes.inc();
      output.collect(unknownDeletesTag, record);
    }
  }
}
