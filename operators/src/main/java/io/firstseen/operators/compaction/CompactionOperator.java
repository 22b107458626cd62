package io.firstseen.operators.compaction;

import io.firstseen.filters.gcs.GolombCodedSet;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.ChainRule;
import io.firstseen.filters.snapshot.ShardChain;
import io.firstseen.filters.snapshot.ShardCut;
import io.firstseen.operators.IncompatibleStateException;
import io.firstseen.operators.ShardKeys;
import io.firstseen.serializers.HashedOperation;
import io.firstseen.serializers.PendingOperationSerializer;
import io.firstseen.serializers.ShardSnapshot;
import io.firstseen.types.KeyEpochs;
import io.firstseen.types.Operation;
import io.firstseen.types.ShardWindows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.InternalTimer;
import org.apache.flink.streaming.api.operators.InternalTimerService;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.Triggerable;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.jspecify.annotations.Nullable;

/**
 * Collects the operations of each snapshot shard by windows of event time. When a window closes,
 * applies its operations to the shard's live set and emits the changes.
 *
 * <p><b>Which window an operation is assigned to</b>: the latest of
 *
 * <ol>
 *   <li>the window of its event time;
 *   <li>the first window that is not closed for the shard, so that a late operation is not lost but
 *       counts in the next snapshot;
 *   <li>the window of the pending operation on the same hash that arrived last, so that operations
 *       on a hash are applied in the order of arrival, whatever their event times are.
 * </ol>
 *
 * <p>Within a window, the operation on a hash that arrived last wins. Adds of live keys and deletes
 * of keys that are not live do not change the set, so input may be replayed.
 *
 * <p><b>Which windows are closed</b>: those that end at or before the watermark plus one. Flink's
 * watermark starts again after a restart, so the operator stores the end of the newest closed
 * window for each key group. The end of all inputs closes exactly the windows that hold operations.
 *
 * <p><b>On a quiet stream</b> no watermark may pass the window of a late operation, nor, after a
 * restart, any window. With {@link Publication#idleTimeoutMillis} a subtask therefore closes a
 * window that holds operations when the system clock has passed its end, and the arrival of its
 * first operation since the start, by half of the timeout, and no watermark has advanced event time
 * for that long. {@link ManifestFunction} waits for the other half.
 *
 * <p>The first operation of a window registers its timer. Each window that held an operation gives
 * one {@link ShardSnapshot}. If the live set changed, the report contains a section, and also a
 * base if {@link ChainRule} requires one.
 *
 * <p><b>With a ttl</b>, the live set stores for each key only its expiry window, an eighth of a ttl
 * (the state calls it an epoch). A key is forgotten at the end of the first window that ends no
 * earlier than the end of its expiry window plus the ttl. The time of a key is the event time of
 * its latest add, or, if that add was late, the start of the window it was assigned to. A shard
 * must also forget keys without new input. Closing one of its windows therefore registers a timer
 * for the window at whose end its next expiry window is due; such a window gives a {@link
 * ShardSnapshot} even if it held no operation. The end of all inputs closes these windows only up
 * to the shard's last one with operations, so bounded input ends.
 *
 * <p>This is an operator and not a {@code KeyedProcessFunction}, so that each open window can be a
 * namespace of the state, as in Flink's windows. Closing a window then reads only its operations,
 * regardless of the number of open windows, and an asynchronous checkpoint on the heap copies only
 * the window in use. Accepting an operation costs one look-up per open window that is newer than
 * the operation's window.
 */
final class CompactionOperator extends AbstractStreamOperator<ShardSnapshot>
    implements OneInputStreamOperator<HashedOperation, ShardSnapshot>,
        BoundedOneInput,
        Triggerable<Integer, Long> {

  private static final long serialVersionUID = 1L;

  private final SnapshotSpec spec;
  private final Publication publication;

  private transient WindowRule rule;
  private transient Shards shards;
  private transient InternalTimerService<Long> timers;
  private transient ValueState<ShardWindows> windows;
  private transient @Nullable ExpiryRule expiry;
  private transient Map<Integer, Integer> shardByKey;
  private transient ValueState<GolombCodedSet> live;
  private transient ValueState<KeyEpochs> expiryWindows;
  private transient ValueState<ShardChain> chain;
  private transient ChainRule chainRule;
  private transient ListState<Tuple3<String, Integer, Long>> closedByGroup;
  // By key group, the end of the newest window that was closed before the start, or MIN_VALUE.
  private transient long[] closedBeforeStart;
  // End of the newest window that is closed for all shards of this subtask, or MIN_VALUE.
  private transient long closedUntilMillis;
  // The instants from which the system clock may end windows, by the ends of the windows that hold
  // operations.
  private transient TreeMap<Long, Long> clockEnds;
  private transient long watermarkMillis;
  // The processing time of the start, or at which a watermark last advanced event time.
  private transient long advancedMillis;
  private transient boolean ended;
  private transient long liveKeys;
  private transient CompactionMetrics figures;

  CompactionOperator(SnapshotSpec spec, Publication publication) {
    this.spec = spec;
    this.publication = publication;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    closedByGroup = context.getOperatorStateStore().getUnionListState(CompactionState.CLOSED);
    closedBeforeStart = new long[Snapshots.MAX_PARALLELISM];
    Arrays.fill(closedBeforeStart, Long.MIN_VALUE);
    List<Tuple3<String, Integer, Long>> runs = new ArrayList<>();
    closedByGroup.get().forEach(runs::add);
    runs.sort(Comparator.comparingInt(run -> run.f1));
    for (Tuple3<String, Integer, Long> run : runs) {
      requireSameIdentity(run.f0);
      Arrays.fill(closedBeforeStart, run.f1, closedBeforeStart.length, run.f2);
    }
    closedUntilMillis = Long.MAX_VALUE;
    for (int group : keyGroups()) {
      closedUntilMillis = Math.min(closedUntilMillis, closedBeforeStart[group]);
    }
    watermarkMillis = Long.MIN_VALUE;
  }

  private KeyGroupRange keyGroups() {
    TaskInfo task = getRuntimeContext().getTaskInfo();
    return KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
        Snapshots.MAX_PARALLELISM,
        task.getNumberOfParallelSubtasks(),
        task.getIndexOfThisSubtask());
  }

  private void requireSameIdentity(String inState) {
    if (spec.withTtlMillis(spec.hasTtl() ? 0 : 1).hasIdentity(inState)) {
      throw new IncompatibleStateException(
          spec.hasTtl()
              ? "the state to restore keeps keys until they are deleted, the job has a ttl: whether"
                  + " there is one is fixed for the life of the state"
              : "the state to restore has a ttl, the job has none: whether there is one is fixed for"
                  + " the life of the state");
    }
    if (!spec.hasIdentity(inState)) {
      throw new IncompatibleStateException(
          "the state to restore belongs to another set: it holds %s, the job is for %s"
              .formatted(inState, spec.identity()));
    }
  }

  @Override
  public void open() throws Exception {
    super.open();
    rule = new WindowRule(spec.windowMillis());
    shards = new Shards(spec.snapshotShards());
    timers = getInternalTimerService("windows", LongSerializer.INSTANCE, this);
    windows = getPartitionedState(CompactionState.WINDOWS);
    live = getPartitionedState(CompactionState.LIVE);
    chain = getPartitionedState(CompactionState.CHAIN);
    chainRule = new ChainRule(spec.setParameters(), spec.windowMillis());
    shardByKey = shardByKey(spec.snapshotShards());
    if (spec.hasTtl()) {
      expiry = new ExpiryRule(spec.ttlMillis());
      expiryWindows = getPartitionedState(CompactionState.EXPIRY_WINDOWS);
      registerExpiryTimers();
    }
    liveKeys = 0;
    clockEnds = new TreeMap<>();
    advancedMillis = getProcessingTimeService().getCurrentProcessingTime();
    getKeyedStateBackend()
        .applyToAllKeys(
            VoidNamespace.INSTANCE,
            VoidNamespaceSerializer.INSTANCE,
            CompactionState.WINDOWS,
            (shard, state) -> readWindows(state.value()));
    figures = new CompactionMetrics(getMetricGroup(), this::liveKeys, this::windowLagMillis);
  }

  private void readWindows(ShardWindows windowsOfShard) {
    liveKeys += windowsOfShard.liveCount();
    for (long end : windowsOfShard.openEndsMillis()) {
      endByClock(end);
    }
  }

  private void endByClock(long windowEndMillis) {
    if (publication.hasIdleTimeout() && !clockEnds.containsKey(windowEndMillis)) {
      long now = getProcessingTimeService().getCurrentProcessingTime();
      long due = publication.waitUntil(windowEndMillis, now);
      clockEnds.put(windowEndMillis, due);
      // The task fails if the timer fails.
      var unused = getProcessingTimeService().registerTimer(due, time -> clockHasPassed());
    }
  }

  /**
   * Closes the windows that the system clock ends, unless event time has advanced in the meantime.
   */
  private void clockHasPassed() throws Exception {
    long now = getProcessingTimeService().getCurrentProcessingTime();
    long end = Long.MIN_VALUE;
    for (Map.Entry<Long, Long> each : clockEnds.entrySet()) {
      end = each.getValue() <= now ? each.getKey() : end;
    }
    if (end == Long.MIN_VALUE || ended) {
      return;
    }
    long quietFrom = publication.waitUntil(Long.MIN_VALUE, advancedMillis);
    if (now < quietFrom) {
      var unused = getProcessingTimeService().registerTimer(quietFrom, time -> clockHasPassed());
    } else {
      advance(new Watermark(end - 1));
    }
  }

  /**
   * Returns how far the end of the newest closed window is behind processing time; 0 before the
   * first window.
   */
  private long windowLagMillis() {
    return closedUntilMillis == Long.MIN_VALUE
        ? 0
        : getProcessingTimeService().getCurrentProcessingTime() - closedUntilMillis;
  }

  private static Map<Integer, Integer> shardByKey(int shards) {
    ShardKeys keys = ShardKeys.of(shards, Snapshots.MAX_PARALLELISM);
    Map<Integer, Integer> shardByKey = new HashMap<>();
    for (int shard = 0; shard < shards; shard++) {
      shardByKey.put(keys.keyOf(shard), shard);
    }
    return shardByKey;
  }

  /**
   * Registers the timers again after a restore, because a changed ttl changes when expiry windows
   * are due.
   */
  private void registerExpiryTimers() throws Exception {
    List<Integer> keys = new ArrayList<>();
    getKeyedStateBackend()
        .<VoidNamespace, ValueState<KeyEpochs>, KeyEpochs>applyToAllKeys(
            VoidNamespace.INSTANCE,
            VoidNamespaceSerializer.INSTANCE,
            CompactionState.EXPIRY_WINDOWS,
            (key, state) -> keys.add((Integer) key));
    for (Integer key : keys) {
      setCurrentKey(key);
      registerExpiryTimer(
          expiryWindows.value(), closedUntil(shardByKey.get(key), windowsOfShard()));
    }
  }

  /**
   * Returns the end of the newest window that is closed for a shard. An unaligned checkpoint can
   * contain this subtask's watermarks in flight to the manifests. After a restore the shard may run
   * in another subtask, but it must still not report a window that such a watermark has closed.
   */
  private long closedUntil(int shard, ShardWindows windowsOfShard) {
    int group = ShardKeys.group(shard, spec.snapshotShards(), Snapshots.MAX_PARALLELISM);
    return Math.max(
        Math.max(closedUntilMillis, closedBeforeStart[group]), windowsOfShard.closedUntilMillis());
  }

  /**
   * Registers the timer of the current shard's next window at whose end an expiry window is due.
   */
  private void registerExpiryTimer(KeyEpochs expiryWindowsOfShard, long closedUntil) {
    long due = Long.MAX_VALUE;
    for (int i = 0; i < expiryWindowsOfShard.counts().length; i++) {
      if (expiryWindowsOfShard.counts()[i] > 0) {
        long end = expiry.expiryWindowEndFrom(expiryWindowsOfShard.endsMillis()[i]);
        due = Math.min(due, expiry.dueMillis(end));
      }
    }
    if (due != Long.MAX_VALUE) {
      long end = rule.endOf(Math.max(due - 1, closedUntil));
      timers.registerEventTimeTimer(end, end - 1);
    }
  }

  @Override
  public void processElement(StreamRecord<HashedOperation> element) throws Exception {
    long eventTimeMillis = eventTimeMillis(element);
    long hash = element.getValue().hash();
    ShardWindows shard = windowsOfShard();
    long end =
        Math.max(
            rule.endOf(eventTimeMillis), firstOpenEnd(closedUntil(shards.shardOf(hash), shard)));
    long[] openEnds = shard.openEndsMillis();
    for (int i = openEnds.length - 1; i >= 0 && openEnds[i] > end; i--) {
      if (pending(openEnds[i]).contains(hash)) {
        end = openEnds[i];
      }
    }
    MapState<Long, Long> operations = pending(end);
    operations.put(hash, pendingOperation(operations, element.getValue(), eventTimeMillis, end));
    if (!shard.isOpen(end)) {
      windows.update(shard.opened(end));
      timers.registerEventTimeTimer(end, end - 1);
      endByClock(end);
    }
  }

  private Long pendingOperation(
      MapState<Long, Long> operations, HashedOperation operation, long eventTimeMillis, long end)
      throws Exception {
    if (operation.operation() == Operation.DELETE) {
      return PendingOperationSerializer.DELETED;
    }
    if (!spec.hasTtl()) {
      return 0L;
    }
    long time = Math.max(eventTimeMillis, end - spec.windowMillis());
    Long before = operations.get(operation.hash());
    return before == null ? time : Math.max(time, before);
  }

  private static long eventTimeMillis(StreamRecord<HashedOperation> element) {
    if (!element.hasTimestamp() || element.getTimestamp() < 0) {
      throw new IllegalStateException(
          "an operation must carry its event time as the record's timestamp, at least 0 ms since"
              + " the epoch, got "
              + (element.hasTimestamp() ? element.getTimestamp() : "none"));
    }
    return element.getTimestamp();
  }

  private long firstOpenEnd(long closedUntilMillis) {
    return closedUntilMillis == Long.MIN_VALUE ? Long.MIN_VALUE : rule.endOf(closedUntilMillis);
  }

  /**
   * Advances to a watermark, but ignores {@link Long#MAX_VALUE}. Flink's valve emits it permanently
   * if some inputs have ended and all others are idle. An idle input may still become active again,
   * and then no timer would fire for its operations.
   */
  @Override
  public void processWatermark(Watermark mark) throws Exception {
    if (mark.getTimestamp() != Long.MAX_VALUE && mark.getTimestamp() > watermarkMillis) {
      advancedMillis = getProcessingTimeService().getCurrentProcessingTime();
      advance(mark);
    }
  }

  private void advance(Watermark mark) throws Exception {
    watermarkMillis = mark.getTimestamp();
    closedUntilMillis = Math.max(closedUntilMillis, rule.newestClosedEnd(mark.getTimestamp()));
    clockEnds.headMap(closedUntilMillis, true).clear();
    super.processWatermark(mark);
  }

  /** Closes all windows that hold operations, now that all inputs have ended. */
  @Override
  public void endInput() throws Exception {
    ended = true;
    super.processWatermark(Watermark.MAX_WATERMARK);
  }

  /**
   * Does not forward idleness, because manifests must wait for every subtask. All subtasks have the
   * same inputs, so none is idle for longer than the others. But the manifests would not wait for a
   * subtask that has not yet seen an input become active again, and would publish windows without
   * its shards.
   */
  @Override
  public void processWatermarkStatus(WatermarkStatus status) {}

  @Override
  public void onEventTime(InternalTimer<Integer, Long> timer) throws Exception {
    long windowEndMillis = timer.getNamespace();
    ShardWindows before = windowsOfShard();
    LiveKeys keys = liveKeysOfShard();
    ExpiryWindowTable table =
        expiry == null ? null : new ExpiryWindowTable(expiry, windowEndMillis);
    if (!before.isOpen(windowEndMillis)) {
      boolean isOver = ended && before.openEndsMillis().length == 0;
      if (isOver || !table.isAnyDue(keys.expiryWindows())) {
        return;
      }
    }
    closedUntilMillis = Math.max(closedUntilMillis, windowEndMillis);
    long startNanos = System.nanoTime();
    close(shardByKey.get(timer.getKey()), windowEndMillis, keys, table);
    figures.closed(System.nanoTime() - startNanos);
  }

  @Override
  public void onProcessingTime(InternalTimer<Integer, Long> timer) {
    throw new IllegalStateException("no timer of processing time is ever registered");
  }

  /**
   * Returns the number of live keys in this subtask's shards, each after its last closed window.
   */
  long liveKeys() {
    return liveKeys;
  }

  private void close(
      int shard, long windowEndMillis, LiveKeys before, @Nullable ExpiryWindowTable table)
      throws Exception {
    MapState<Long, Long> operations = pending(windowEndMillis);
    WindowChange change = WindowChange.of(before, shards.bits(), operations.entries(), table);
    ShardWindows windowsOfShard = windowsOfShard().closed(windowEndMillis);
    LiveKeys after;
    ShardSnapshot closed;
    if (change.changesKeys()) {
      windowsOfShard = windowsOfShard.withLiveCount(change.count());
      WindowKeys keys = new WindowKeys(change, shards.bits());
      ShardCut cut =
          ShardCut.of(keys, chain.value(), chainRule, spec.setName(), shard, windowEndMillis);
      after = keys.live();
      live.update(after.suffixes());
      chain.update(cut.chain());
      liveKeys += after.count() - before.count();
      closed =
          ShardSnapshot.changed(
              shard, windowEndMillis, after.count(), cut.setDigest(), cut.section(), cut.base());
      figures.cut(cut, after.count());
    } else {
      after = change.apply(null);
      closed = ShardSnapshot.unchanged(shard, windowEndMillis, windowsOfShard.liveCount());
    }
    operations.clear();
    windows.update(windowsOfShard);
    if (expiry != null) {
      if (!after.expiryWindows().equals(before.expiryWindows())) {
        expiryWindows.update(after.expiryWindows());
      }
      registerExpiryTimer(after.expiryWindows(), windowEndMillis);
    }
    output.collect(new StreamRecord<>(closed, windowEndMillis - 1));
  }

  private ShardWindows windowsOfShard() throws Exception {
    ShardWindows value = windows.value();
    return value == null ? ShardWindows.NONE : value;
  }

  private LiveKeys liveKeysOfShard() throws Exception {
    GolombCodedSet suffixes = live.value();
    return suffixes == null
        ? LiveKeys.none(Long.SIZE - shards.bits(), spec.hasTtl())
        : new LiveKeys(suffixes, spec.hasTtl() ? expiryWindows.value() : null);
  }

  private MapState<Long, Long> pending(long windowEndMillis) throws Exception {
    return getPartitionedState(windowEndMillis, LongSerializer.INSTANCE, CompactionState.PENDING);
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    closedByGroup.clear();
    Long before = null;
    for (int group : keyGroups()) {
      long until = Math.max(closedUntilMillis, closedBeforeStart[group]);
      if (before == null || before != until) {
        closedByGroup.add(Tuple3.of(spec.identity(), group, until));
      }
      before = until;
    }
  }
}
