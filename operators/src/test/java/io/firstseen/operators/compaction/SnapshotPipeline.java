package io.firstseen.operators.compaction;

import io.firstseen.filters.key.Shards;
import io.firstseen.operators.ShardKeys;
import io.firstseen.serializers.HashedOperation;
import io.firstseen.serializers.ShardSnapshot;
import io.firstseen.serializers.SnapshotRecord;
import io.firstseen.types.Operation;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.state.rocksdb.RocksDBOptions;
import org.apache.flink.streaming.api.operators.KeyedProcessOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.io.PushingAsyncDataInput.DataOutput;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.StatusWatermarkValve;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;

/**
 * The real operators in Flink's harnesses, wired like {@link Snapshots}: some inputs, some subtasks
 * of the compaction, and one manifest function; between them channels that are each in order, read
 * at uneven speeds drawn from a seed, and Flink's own valves, where watermarks of channels meet.
 * Records what arrives where, for a {@link SnapshotModel}.
 */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
final class SnapshotPipeline implements AutoCloseable {

  enum Backend {
    HEAP,
    ROCKSDB;

    StateBackend create() {
      if (this == HEAP) {
        return new HashMapStateBackend();
      }
      // The harness provides too little managed memory, so RocksDB logs a warning at each start.
      Configuration ownMemory = new Configuration().set(RocksDBOptions.USE_MANAGED_MEMORY, false);
      return new EmbeddedRocksDBStateBackend()
          .configure(ownMemory, SnapshotPipeline.class.getClassLoader());
    }
  }

  /**
   * All state of a pipeline, as a canonical savepoint.
   *
   * @param onTheWay what was in flight in each channel; empty if the channels were drained first
   * @param arrivals what arrived before
   * @param clockMillis the processing time
   */
  record Savepoint(
      int parallelism,
      OperatorSubtaskState compaction,
      OperatorSubtaskState manifest,
      List<List<StreamElement>> onTheWay,
      List<Consumer<SnapshotModel>> arrivals,
      long clockMillis) {

    boolean somethingIsOnTheWay() {
      return onTheWay.stream().anyMatch(channel -> !channel.isEmpty());
    }
  }

  private static final class Compaction
      extends KeyedOneInputStreamOperatorTestHarness<Integer, HashedOperation, ShardSnapshot> {
    Compaction(SnapshotSpec spec, Publication publication, int parallelism, int subtask)
        throws Exception {
      super(
          new CompactionOperator(spec, publication),
          Snapshots.shardKeys(spec.snapshotShards()),
          Types.INT,
          Snapshots.MAX_PARALLELISM,
          parallelism,
          subtask);
    }
  }

  private static final class Manifests
      extends KeyedOneInputStreamOperatorTestHarness<String, ShardSnapshot, SnapshotRecord> {
    Manifests(SnapshotSpec spec, ManifestFunction function) throws Exception {
      super(
          new KeyedProcessOperator<>(function), snapshot -> spec.setName(), Types.STRING, 1, 1, 0);
    }
  }

  /** Where several channels enter an operator. */
  private static final class Entrance<T> implements DataOutput<T> {
    private final OneInputStreamOperatorTestHarness<T, ?> operator;
    private final StatusWatermarkValve valve;

    Entrance(OneInputStreamOperatorTestHarness<T, ?> operator, int channels) {
      this.operator = operator;
      this.valve = new StatusWatermarkValve(channels);
    }

    @SuppressWarnings("unchecked")
    void take(int channel, StreamElement element) throws Exception {
      if (element instanceof Watermark watermark) {
        valve.inputWatermark(watermark, channel, this);
      } else if (element instanceof WatermarkStatus status) {
        valve.inputWatermarkStatus(status, channel, this);
      } else {
        emitRecord((StreamRecord<T>) element);
      }
    }

    @Override
    public void emitRecord(StreamRecord<T> streamRecord) throws Exception {
      operator.processElement(streamRecord);
    }

    @Override
    public void emitWatermark(Watermark watermark) throws Exception {
      operator.processWatermark(watermark);
    }

    @Override
    public void emitWatermarkStatus(WatermarkStatus status) throws Exception {
      operator.processWatermarkStatus(status);
    }

    @Override
    public void emitLatencyMarker(LatencyMarker latencyMarker) {
      throw new IllegalStateException("no input sends latency markers");
    }

    @Override
    public void emitRecordAttributes(RecordAttributes recordAttributes) {
      throw new IllegalStateException("no input sends attributes");
    }

    @Override
    public void emitWatermark(WatermarkEvent event) {
      throw new IllegalStateException("no input sends generalised watermarks");
    }
  }

  private final SnapshotSpec spec;
  private final int inputs;
  private final int parallelism;
  private final SplittableRandom speeds;
  private final List<Compaction> subtasks = new ArrayList<>();
  private final List<Entrance<HashedOperation>> entrances = new ArrayList<>();
  private final Manifests manifests;
  private final Entrance<ShardSnapshot> entranceOfManifests;
  // From input i to subtask s at i * parallelism + s; behind those, from each subtask on.
  private final List<Queue<StreamElement>> channels = new ArrayList<>();
  private final List<Consumer<SnapshotModel>> arrivals = new ArrayList<>();
  private long checkpointId;
  private long clockMillis;

  /** Starts a pipeline with one input, from a savepoint if there is one. */
  SnapshotPipeline(
      SnapshotSpec spec, Backend backend, int parallelism, Savepoint savepoint, long seed)
      throws Exception {
    this(spec, Publication.OF_ALL, backend, 1, parallelism, savepoint, seed);
  }

  /** Starts a pipeline that publishes all, from a savepoint if there is one. */
  SnapshotPipeline(
      SnapshotSpec spec,
      Backend backend,
      int inputs,
      int parallelism,
      Savepoint savepoint,
      long seed)
      throws Exception {
    this(spec, Publication.OF_ALL, backend, inputs, parallelism, savepoint, seed);
  }

  /** Starts a pipeline, from a savepoint if there is one. */
  SnapshotPipeline(
      SnapshotSpec spec,
      Publication publication,
      Backend backend,
      int inputs,
      int parallelism,
      Savepoint savepoint,
      long seed)
      throws Exception {
    this(
        spec,
        publication,
        new ManifestFunction(spec, publication),
        backend,
        inputs,
        parallelism,
        savepoint,
        seed);
  }

  /** Starts a pipeline whose packs are bounded, from a savepoint if there is one. */
  SnapshotPipeline(SnapshotSpec spec, long maxSectionBytes, int parallelism, Savepoint savepoint)
      throws Exception {
    this(
        spec,
        Publication.OF_ALL,
        new ManifestFunction(spec, Publication.OF_ALL, maxSectionBytes),
        Backend.HEAP,
        1,
        parallelism,
        savepoint,
        1);
  }

  private SnapshotPipeline(
      SnapshotSpec spec,
      Publication publication,
      ManifestFunction function,
      Backend backend,
      int inputs,
      int parallelism,
      Savepoint savepoint,
      long seed)
      throws Exception {
    this.spec = spec;
    this.inputs = inputs;
    this.parallelism = parallelism;
    this.speeds = new SplittableRandom(seed);
    this.clockMillis = savepoint == null ? 0 : savepoint.clockMillis;
    for (int subtask = 0; subtask < parallelism; subtask++) {
      Compaction compaction = new Compaction(spec, publication, parallelism, subtask);
      compaction.setProcessingTime(clockMillis);
      start(
          compaction,
          backend,
          savepoint == null
              ? null
              : AbstractStreamOperatorTestHarness.repartitionOperatorState(
                  savepoint.compaction,
                  Snapshots.MAX_PARALLELISM,
                  savepoint.parallelism,
                  parallelism,
                  subtask));
      subtasks.add(compaction);
      entrances.add(new Entrance<>(compaction, inputs));
    }
    manifests = new Manifests(spec, function);
    manifests.setProcessingTime(clockMillis);
    start(manifests, backend, savepoint == null ? null : savepoint.manifest);
    entranceOfManifests = new Entrance<>(manifests, parallelism);
    for (int channel = 0; channel < (inputs + 1) * parallelism; channel++) {
      channels.add(new ArrayDeque<>());
    }
    if (savepoint != null) {
      arrivals.addAll(savepoint.arrivals);
      for (int channel = 0;
          savepoint.somethingIsOnTheWay() && channel < channels.size();
          channel++) {
        channels.get(channel).addAll(savepoint.onTheWay.get(channel));
      }
    }
    int[] subtaskByShard = new int[spec.snapshotShards()];
    for (int shard = 0; shard < subtaskByShard.length; shard++) {
      subtaskByShard[shard] = subtaskOf(shard);
    }
    long clockAtStart = clockMillis;
    arrivals.add(
        model -> {
          model.restart(spec.ttlMillis(), clockAtStart, parallelism, subtaskByShard);
          model.bounded(publication.bounds(), publication.jumpAllowedAfter());
        });
  }

  private static void start(
      AbstractStreamOperatorTestHarness<?> harness, Backend backend, OperatorSubtaskState state)
      throws Exception {
    harness.setStateBackend(backend.create());
    if (state == null) {
      harness.initializeEmptyState();
    } else {
      harness.initializeState(state);
    }
    harness.open();
  }

  private int subtaskOf(int shard) {
    int group = ShardKeys.group(shard, spec.snapshotShards(), Snapshots.MAX_PARALLELISM);
    return group * parallelism / Snapshots.MAX_PARALLELISM;
  }

  /** An input sends an operation, a watermark or its status on its way. */
  void send(int input, StreamElement element) {
    if (element instanceof StreamRecord<?> streamRecord) {
      long hash = ((HashedOperation) streamRecord.getValue()).hash();
      int subtask = subtaskOf(new Shards(spec.snapshotShards()).shardOf(hash));
      channels.get(input * parallelism + subtask).add(element);
    } else {
      for (int subtask = 0; subtask < parallelism; subtask++) {
        channels.get(input * parallelism + subtask).add(element);
      }
    }
  }

  /** Moves some of what is in flight one step further. */
  void deliverSome() throws Exception {
    deliver(speeds.nextInt(1 + 2 * waiting()), 0);
  }

  /** Delivers everything that is in flight. */
  void deliverAll() throws Exception {
    deliver(Integer.MAX_VALUE, 0);
  }

  private int waiting() {
    return channels.stream().mapToInt(Queue::size).sum();
  }

  private void deliver(int count, int firstChannel) throws Exception {
    List<Integer> filled = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      filled.clear();
      for (int channel = firstChannel; channel < channels.size(); channel++) {
        if (!channels.get(channel).isEmpty()) {
          filled.add(channel);
        }
      }
      if (filled.isEmpty()) {
        return;
      }
      deliverNextOf(filled.get(speeds.nextInt(filled.size())));
    }
  }

  /** Brings the next of the first input to a subtask, and nothing further. */
  void deliverNextTo(int subtask) throws Exception {
    deliverNextOf(subtask);
  }

  private void deliverNextOf(int channel) throws Exception {
    StreamElement element = channels.get(channel).remove();
    int subtask = channel % parallelism;
    int input = channel / parallelism;
    if (input == inputs) {
      passTimeOfManifests(speeds.nextInt(5));
      entranceOfManifests.take(subtask, element);
      if (element instanceof StreamRecord<?> streamRecord) {
        ShardSnapshot report = (ShardSnapshot) streamRecord.getValue();
        int shard = report.shard();
        long windowEndMillis = report.windowEndMillis();
        arrivals.add(model -> model.heardFrom(subtask, shard, windowEndMillis));
      } else {
        arrivals.add(model -> model.heardFrom(subtask));
      }
      return;
    }
    arrivals.add(arrival(subtask, input, element));
    entrances.get(subtask).take(input, element);
    collect(subtask);
  }

  private void passTimeOfManifests(int millis) throws Exception {
    clockMillis += millis;
    long now = clockMillis;
    manifests.setProcessingTime(now);
    arrivals.add(model -> model.clockOfManifests(now));
  }

  /** Advances the clocks of all operators. */
  void passTime(int millis) throws Exception {
    passTimeOfManifests(millis);
    long now = clockMillis;
    for (int number = 0; number < parallelism; number++) {
      int subtask = number;
      subtasks.get(subtask).setProcessingTime(now);
      arrivals.add(model -> model.clock(subtask, now));
      collect(subtask);
    }
  }

  private void collect(int subtask) {
    for (Object sent : subtasks.get(subtask).getOutput()) {
      channels.get(inputs * parallelism + subtask).add((StreamElement) sent);
    }
    subtasks.get(subtask).getOutput().clear();
  }

  private static Consumer<SnapshotModel> arrival(int subtask, int input, StreamElement element) {
    if (element instanceof Watermark watermark) {
      return model -> model.watermark(subtask, input, watermark.getTimestamp());
    }
    if (element instanceof WatermarkStatus status) {
      return status.isIdle()
          ? model -> model.idle(subtask, input)
          : model -> model.active(subtask, input);
    }
    StreamRecord<?> streamRecord = (StreamRecord<?>) element;
    HashedOperation operation = (HashedOperation) streamRecord.getValue();
    boolean add = operation.operation() == Operation.ADD;
    return model -> model.operation(operation.hash(), add, streamRecord.getTimestamp());
  }

  void add(long hash, long eventTimeMillis) throws Exception {
    operation(new HashedOperation(hash, Operation.ADD), eventTimeMillis);
  }

  void delete(long hash, long eventTimeMillis) throws Exception {
    operation(new HashedOperation(hash, Operation.DELETE), eventTimeMillis);
  }

  /** The first input sends an operation, which arrives at once. */
  void operation(HashedOperation operation, long eventTimeMillis) throws Exception {
    send(0, new StreamRecord<>(operation, eventTimeMillis));
    deliverFromInputs();
  }

  /** All inputs send a watermark, which reaches the compaction at once and what follows later. */
  void watermark(long watermark) throws Exception {
    for (int input = 0; input < inputs; input++) {
      send(input, new Watermark(watermark));
    }
    deliverFromInputs();
    deliver(speeds.nextInt(1 + 2 * waiting()), inputs * parallelism);
  }

  private void deliverFromInputs() throws Exception {
    for (int channel = 0; channel < inputs * parallelism; channel++) {
      while (!channels.get(channel).isEmpty()) {
        deliverNextOf(channel);
      }
    }
  }

  /** All inputs end. */
  void endOfInput() throws Exception {
    for (int input = 0; input < inputs; input++) {
      send(input, WatermarkStatus.ACTIVE);
      send(input, Watermark.MAX_WATERMARK);
    }
    deliverAll();
    for (int number = 0; number < parallelism; number++) {
      int subtask = number;
      subtasks.get(subtask).endInput();
      arrivals.add(model -> model.endOfInputs(subtask));
      collect(subtask);
    }
    deliverAll();
  }

  /** Returns the publications since the last call, including all records in flight. */
  List<SnapshotRecord> records() throws Exception {
    deliverAll();
    return recordsSoFar();
  }

  /** Returns the publications since the last call. */
  List<SnapshotRecord> recordsSoFar() {
    List<SnapshotRecord> records = manifests.extractOutputValues();
    manifests.getOutput().clear();
    return records;
  }

  /** Tells a model what arrived. */
  void tell(SnapshotModel model) {
    arrivals.forEach(arrival -> arrival.accept(model));
  }

  /** Returns the combined value of the gauges of all subtasks. */
  long liveKeys() {
    return subtasks.stream()
        .mapToLong(subtask -> ((CompactionOperator) subtask.getOperator()).liveKeys())
        .sum();
  }

  /** Number of event-time timers that wait, of all operators. */
  int timers() {
    return manifests.numEventTimeTimers()
        + subtasks.stream().mapToInt(Compaction::numEventTimeTimers).sum();
  }

  /** Takes a savepoint after everything in flight was delivered. */
  Savepoint savepoint() throws Exception {
    deliverAll();
    return checkpoint();
  }

  /** Takes a checkpoint of the state and of everything in flight. */
  Savepoint checkpoint() throws Exception {
    checkpointId++;
    SavepointType type = SavepointType.savepoint(SavepointFormatType.CANONICAL);
    List<OperatorSubtaskState> states = new ArrayList<>();
    for (Compaction subtask : subtasks) {
      states.add(
          subtask
              .snapshotWithLocalState(checkpointId, checkpointId, type)
              .getJobManagerOwnedState());
    }
    return new Savepoint(
        parallelism,
        AbstractStreamOperatorTestHarness.repackageState(
            states.toArray(new OperatorSubtaskState[0])),
        manifests
            .snapshotWithLocalState(checkpointId, checkpointId, type)
            .getJobManagerOwnedState(),
        channels.stream().map(List::<StreamElement>copyOf).toList(),
        List.copyOf(arrivals),
        clockMillis);
  }

  @Override
  public void close() throws Exception {
    for (Compaction subtask : subtasks) {
      subtask.close();
    }
    manifests.close();
  }
}
