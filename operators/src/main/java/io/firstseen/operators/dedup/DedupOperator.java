package io.firstseen.operators.dedup;

import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.cuckoo.Expiry;
import io.firstseen.filters.cuckoo.PagedFilter;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.near.NearMatch;
import io.firstseen.filters.near.NearRule;
import io.firstseen.operators.ShardKeys;
import io.firstseen.operators.dedup.live.ApproximateSet;
import io.firstseen.operators.dedup.live.AuditTrials;
import io.firstseen.operators.dedup.live.AuditedNearSet;
import io.firstseen.operators.dedup.live.AuditedSet;
import io.firstseen.operators.dedup.live.EntrySweep;
import io.firstseen.operators.dedup.live.ExactNearSet;
import io.firstseen.operators.dedup.live.ExactSet;
import io.firstseen.operators.dedup.live.HashEntries;
import io.firstseen.operators.dedup.live.KeyClock;
import io.firstseen.operators.dedup.live.LiveSet;
import io.firstseen.operators.dedup.live.NearSet;
import io.firstseen.operators.dedup.live.PageSweep;
import io.firstseen.operators.dedup.live.PendingEntries;
import io.firstseen.operators.dedup.live.TaskShards;
import io.firstseen.operators.dedup.pages.CachedShardPages;
import io.firstseen.operators.dedup.pages.HeapShardPages;
import io.firstseen.operators.dedup.pages.LogRotation;
import io.firstseen.operators.dedup.pages.PageCache;
import io.firstseen.operators.dedup.pages.PageState;
import io.firstseen.operators.dedup.pages.RunningCheckpoints;
import io.firstseen.operators.dedup.pages.ShardPages;
import io.firstseen.operators.dedup.pages.WatchedPageSerializer;
import io.firstseen.serializers.Change;
import io.firstseen.serializers.Outcome;
import io.firstseen.types.AuditCounts;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.Operation;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.runtime.state.heap.HeapKeyedStateBackend;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.jspecify.annotations.Nullable;

/**
 * Decides which events change the set of live keys: adds of keys that are not live, and deletes of
 * live keys. An {@link Emission} emits every event with the decision.
 *
 * <p>Every shard is a cuckoo filter in managed keyed state, with one entry per page. {@link
 * LiveSet} decides on each event.
 *
 * @param <T> type of the events
 * @param <R> type of the main output
 */
class DedupOperator<T, R> extends AbstractStreamOperator<R>
    implements OneInputStreamOperator<Change<T>, R> {
  private static final long serialVersionUID = 1;

  private final DedupParameters parameters;
  private final double falsePositiveRate;
  private final long pageCacheBytes;
  private final boolean inTaskOfInput;
  private final Emission<T, R> emission;

  private transient ListState<DedupParameters> parametersState;
  private transient DedupParameters effective;
  private transient KeyClock clock;
  private transient TaskShards shards;
  private transient LiveSet liveSet;
  // The part of the live set that compares texts; null if keys are compared as a whole.
  private transient @Nullable LiveSet texts;
  private transient PageCache cache;
  private transient PageSweep sweep;
  private transient EventBatch<T> batch;
  private transient boolean warned;
  private transient boolean lackedWatermarks;
  private transient boolean warnedOfWatermarks;
  private transient Counter accepted;
  private transient Counter removed;
  private transient Counter duplicates;
  private transient Counter unknownDeletes;

  /**
   * @param falsePositiveRate the target; a predicted rate above it is logged once
   * @param pageCacheBytes see {@link Firstseen#pageCacheBytes}
   * @param inTaskOfInput see {@link Firstseen#inTaskOfInput}
   */
  DedupOperator(
      DedupParameters parameters,
      double falsePositiveRate,
      long pageCacheBytes,
      boolean inTaskOfInput,
      Emission<T, R> emission) {
    this.parameters = parameters;
    this.falsePositiveRate = falsePositiveRate;
    this.pageCacheBytes = pageCacheBytes;
    this.inTaskOfInput = inTaskOfInput;
    this.emission = emission;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    KeyedStateBackend<?> backend = getKeyedStateBackend();
    TaskInfo task = getRuntimeContext().getTaskInfo();
    RestoreChecks.checkParallelism(task.getNumberOfParallelSubtasks(), inTaskOfInput);
    parametersState = context.getOperatorStateStore().getUnionListState(DedupState.PARAMETERS);
    effective = RestoreChecks.restored(parameters, parametersState.get());
    warnOfKeptValues();
    RestoreChecks.checkBackend(backend);
    RestoreChecks.checkMaxParallelism(task.getMaxNumberOfParallelSubtasks(), effective);

    KeyedStateStore state = context.getKeyedStateStore();
    Shards hashShards = new Shards(effective.shardCount());
    clock =
        new KeyClock(
            effective.ttl(),
            RestoreChecks.ttlOf(parametersState.get()),
            effective.shardCount(),
            getProcessingTimeService(),
            effective.ttl() == null ? null : state.getState(DedupState.CLOCK),
            effective.ttl() == null ? null : state.getState(DedupState.FORGOTTEN),
            this::setCurrentKey);
    boolean onHeap = backend instanceof HeapKeyedStateBackend;
    RunningCheckpoints checkpoints = onHeap ? new RunningCheckpoints() : null;
    NearRule near = effective.near().isEmpty() ? null : NearRule.of(effective.near());
    boolean isExact = effective.mode().isExact();
    NearRule ofFilter = near == null ? null : near.ofFilter(isExact);
    PagedFilter filter =
        new PagedFilter(
            new CuckooShape(effective.identityBits()), near == null ? 0 : ofFilter.tagBits());
    cache = onHeap ? null : new PageCache(pageCacheBytes);
    LogRotation rotation = onHeap ? null : new LogRotation(cache);
    shards = new TaskShards(filter.shape(), hashShards, ofFilter, clock, checkpoints, rotation);
    PageState pages =
        new PageState(
            state.getMapState(
                onHeap
                    ? DedupState.pages(new WatchedPageSerializer(checkpoints))
                    : DedupState.PAGES),
            state.getState(DedupState.SUMMARY),
            DedupState.LOGS.stream().map(state::getMapState).toList(),
            filter.shape(),
            this::setCurrentKey);
    PendingEntries pending = onHeap ? null : new PendingEntries(effective.shardCount());
    NearSet nearSet = near == null ? null : new NearSet(near, filter);
    liveSet = near == null ? new ApproximateSet(filter, hashShards) : nearSet;
    List<AuditTrials> audits = new ArrayList<>();
    if (isExact) {
      HashEntries entries =
          new HashEntries(backend, DedupState.EXACT, hashShards, pending, this::setCurrentKey);
      EntrySweep entrySweep = new EntrySweep(shards, entries, clock);
      liveSet =
          near == null
              ? new ExactSet(entries, entrySweep, filter, hashShards, effective.mode())
              : new ExactNearSet(near, entries, entrySweep, filter);
    }
    texts = near == null ? null : liveSet;
    if (!isExact && effective.auditSlices() > 0) {
      HashEntries entries =
          new HashEntries(backend, DedupState.AUDIT, hashShards, pending, this::setCurrentKey);
      EntrySweep entrySweep = new EntrySweep(shards, entries, clock);
      audits.add(trials(state, DedupState.AUDIT_COUNTS));
      if (near == null) {
        liveSet =
            new AuditedSet(liveSet, effective.auditSlices(), entries, entrySweep, audits.get(0));
      } else {
        audits.add(trials(state, DedupState.AUDIT_PRECISION));
        audits.add(trials(state, DedupState.AUDIT_RECALL));
        liveSet =
            new AuditedNearSet(nearSet, near, effective.auditSlices(), entries, entrySweep, audits);
      }
    }
    KeyGroupRange keyGroups =
        KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
            task.getMaxNumberOfParallelSubtasks(),
            task.getNumberOfParallelSubtasks(),
            task.getIndexOfThisSubtask());
    ShardKeys keys = ShardKeys.of(effective.shardCount(), effective.shardCount());
    // Each shard is a key group of its own.
    for (int shard : keyGroups) {
      Integer key = keys.keyOf(shard);
      Expiry expiry = clock.read(shard, key);
      shards.add(
          onHeap
              ? new HeapShardPages(shard, key, filter, pages, expiry, checkpoints)
              : new CachedShardPages(shard, key, filter, pages, expiry, cache, rotation));
      if (pending != null) {
        pending.add(shard, key);
      }
      for (AuditTrials audit : audits) {
        audit.add(shard, key);
      }
    }
  }

  private AuditTrials trials(KeyedStateStore state, ValueStateDescriptor<AuditCounts> counts) {
    return new AuditTrials(effective.shardCount(), state.getState(counts), this::setCurrentKey);
  }

  @Override
  public void open() throws Exception {
    super.open();
    emission.open(getRuntimeContext());
    batch =
        new EventBatch<>(
            getProcessingTimeService(),
            // Not read for each event, because reading the system clock waits for all outstanding
            // memory loads.
            clock::tick,
            shards::prefetch,
            this::decide);
    MetricGroup metrics = getMetricGroup();
    accepted = metrics.counter("accepted");
    removed = metrics.counter("removed");
    duplicates = metrics.counter("duplicates");
    unknownDeletes = metrics.counter("unknownDeletes");
    shards.register(metrics);
    liveSet.register(metrics);
    if (cache != null) {
      cache.register(metrics);
    }
    sweep = new PageSweep(shards, clock);
    if (clock.isInProcessingTime()) {
      sweepByTheClock(0);
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
      // Flink's test harness calls this even if open() was not called.
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
    liveSet.flush();
    shards.flush(context.getCheckpointId());
    parametersState.update(List.of(effective));
    warnOfHighRate();
    warnOfMissingWatermarks();
  }

  /**
   * The first watermark may follow the first events, so one checkpoint without a watermark is
   * normal.
   */
  private void warnOfMissingWatermarks() {
    boolean lacking = clock.lacksWatermarks();
    if (lacking && lackedWatermarks && !warnedOfWatermarks) {
      LOG.warn(
          "{} has a ttl in event time but has received no watermark, so no key expires: give the"
              + " source a WatermarkStrategy, or the ttl the clock PROCESSING",
          getOperatorConfig().getOperatorName());
      warnedOfWatermarks = true;
    }
    lackedWatermarks = lacking;
  }

  /** Logs parameters of the job that the state does not use. */
  private void warnOfKeptValues() {
    String name = getOperatorConfig().getOperatorName();
    int kept = effective.identityBits();
    int asked = parameters.identityBits();
    if (kept != asked) {
      // With two equal bands and tags, two lookups must be wrong.
      int lookups =
          effective.near().isEmpty()
              ? 1
              : NearRule.of(effective.near()).ofFilter(effective.mode().isExact()).matches();
      LOG.warn(
          "{} keeps the {} identity bits of its state; the false-positive rate and capacity of the"
              + " job need {}, so the rate at that capacity is {} times the given rate (start"
              + " without state for other values)",
          name,
          kept,
          asked,
          Math.scalb(1.0, lookups * (asked - kept)));
    }
    if (effective.auditSlices() != parameters.auditSlices()) {
      LOG.warn(
          "{} keeps the audit of its state, {}; the job has {}, where 0 is none (start without state"
              + " for another audit)",
          name,
          effective.auditSlices(),
          parameters.auditSlices());
    }
  }

  private void warnOfHighRate() {
    double predicted = shards.predictedFalsePositiveRate();
    // P is a whole number, so the rate at capacity may be 0.8 % above the requested rate, and 1.6 %
    // if two lookups must be wrong.
    if (predicted > 1.02 * falsePositiveRate && !warned) {
      LOG.warn(
          "{} holds {} keys in a part of its filters made for fewer: the predicted false-positive"
              + " rate is {}, the target {}",
          getOperatorConfig().getOperatorName(),
          shards.keys(),
          predicted,
          falsePositiveRate);
      warned = true;
    }
  }

  @Override
  public void notifyCheckpointComplete(long checkpointId) throws Exception {
    super.notifyCheckpointComplete(checkpointId);
    shards.checkpointEnded(checkpointId);
  }

  @Override
  public void notifyCheckpointAborted(long checkpointId) throws Exception {
    super.notifyCheckpointAborted(checkpointId);
    shards.checkpointEnded(checkpointId);
  }

  private void sweepByTheClock(long timestamp) throws Exception {
    clock.tick();
    sweep();
    // The future is not needed: an exception in the timer fails the task.
    var unused =
        getProcessingTimeService()
            .registerTimer(clock.nowMillis() + sweep.pauseMillis(), this::sweepByTheClock);
  }

  @Override
  public void processWatermark(Watermark mark) throws Exception {
    decideAll();
    super.processWatermark(mark);
    if (clock.isInEventTime()) {
      clock.advanceTo(mark);
      sweep();
    }
  }

  /**
   * Does nothing, because the code that accesses state sets the key of its shard. Most events do
   * not access state.
   */
  @Override
  @SuppressWarnings("rawtypes")
  public void setKeyContextElement1(StreamRecord record) {}

  private void sweep() throws Exception {
    sweep.run();
    liveSet.sweep();
  }

  final void learn(StreamRecord<Change<T>> record) throws Exception {
    clock.tick();
    clock.next(record);
    Change<T> change = record.getValue();
    ShardPages shard = shards.of(change.hash());
    liveSet.learn(shard, change);
    shard.countEvent();
  }

  final void writeAll() {
    shards.writeAll();
  }

  @Override
  public void processElement(StreamRecord<Change<T>> record) throws Exception {
    batch.add(record);
  }

  /**
   * Decides on all waiting events. Must be called before a watermark, a barrier or the end of input
   * passes.
   */
  final void decideAll() throws Exception {
    batch.decideAll();
  }

  private void decide(StreamRecord<Change<T>> record) throws Exception {
    clock.next(record);
    Change<T> change = record.getValue();
    ShardPages shard = shards.of(change.hash());
    if (change.operation() == Operation.ADD) {
      LiveSet.Addition addition = liveSet.add(shard, change);
      if (texts != null) {
        boolean isNew = addition == LiveSet.Addition.NEW;
        NearMatch match = isNew ? NearMatch.of(change.keyHash(), 0) : texts.match();
        record.replace(change.withMatch(match));
      }
      switch (addition) {
        case NEW -> emit(Outcome.Kind.ACCEPTED, record, accepted);
        case KNOWN -> emit(Outcome.Kind.DUPLICATE, record, duplicates);
        // Counted by the audit.
        case FALSELY_DROPPED -> emission.emit(Outcome.Kind.FALSE_DUPLICATE, record, output);
      }
    } else if (liveSet.remove(shard, change)) {
      emit(Outcome.Kind.REMOVED, record, removed);
    } else {
      emit(Outcome.Kind.UNKNOWN_DELETE, record, unknownDeletes);
    }
    shard.countEvent();
  }

  private void emit(Outcome.Kind kind, StreamRecord<Change<T>> record, Counter counter)
      throws Exception {
    counter.inc();
    emission.emit(kind, record, output);
  }
}
