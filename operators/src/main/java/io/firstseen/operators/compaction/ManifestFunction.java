package io.firstseen.operators.compaction;

import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.PackWriter;
import io.firstseen.operators.IncompatibleStateException;
import io.firstseen.serializers.ShardSnapshot;
import io.firstseen.serializers.SnapshotRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.TimeDomain;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Forwards bases as they arrive. When the watermark of all subtasks has passed the end of a window,
 * publishes the pack of that window, if it changed a shard, and then its manifest ({@link
 * PackWriter}). Runs with parallelism 1, keyed by the name of the set, so that every blob is
 * published before the first manifest that needs it.
 *
 * <p><b>Which windows get a manifest</b>:
 *
 * <ol>
 *   <li>Every window with an operation has a manifest, whether or not the operation changed the
 *       set, and also when the watermark jumps over many windows or the input ends.
 *   <li>A stream without operations still publishes manifests while its watermark advances: each
 *       manifest sets a timer for the end of the window that the watermark has reached. If that
 *       window held no operation when the watermark passes its end, one manifest is published for
 *       the newest closed window; a jump over many empty windows gives only one. There is none if
 *       manifests of rule 1 are due at the same watermark, and none at the end of the input, so
 *       that bounded input ends.
 *   <li>Nothing is published before the first operation.
 * </ol>
 *
 * <p><b>On a quiet stream</b>, with {@link Publication#idleTimeoutMillis}, a reported window is
 * also published when the system clock has passed its end, and the arrival of its first report, by
 * half of the timeout: {@link CompactionOperator} has waited for the other half, and the watermark
 * of a subtask without operations does not advance. Later reports of such a subtask count for the
 * next manifest.
 *
 * <p>Publication is on hold if the number of live keys jumps ({@link PublishingGate}). The blobs of
 * the window are published, since later packs follow them, and its sequence is used up, but no
 * manifest has that sequence. Blobs that are not in use are removed ({@link BlobRetention}).
 *
 * <p>The windows of manifests ascend strictly; sequences count from 1. A report may arrive after
 * the manifest of its window or of a later one: a savepoint with drain closes the last windows
 * early, and the job may be continued from it. Such a report counts for the first window that has
 * no manifest yet. If that window then has several changes of one shard, each is in a separate
 * pack: every pack uses up a sequence, and the manifest has the last sequence. The same applies to
 * a window whose changes are too large for one pack.
 *
 * <p>Before its first manifest after a start, the function emits the list of blobs in use, so that
 * a job can check that the blobs of its restored state exist where it publishes.
 *
 * <p>While event time advances, the description of the set in blobs and manifests depends only on
 * operations and watermarks, not on the parallelism or on the order in which shards report.
 * Publication and expiry times use Flink's clock.
 */
final class ManifestFunction extends KeyedProcessFunction<String, ShardSnapshot, SnapshotRecord> {

  private static final long serialVersionUID = 1L;

  /** A blob has fewer than 2^31 bytes, and its writer doubles its buffer. */
  private static final long MAX_SECTION_BYTES = 1L << 30;

  private final SnapshotSpec spec;
  private final Publication publication;
  private final long maxSectionBytes;

  private transient WindowRule rule;
  private transient PublishingGate gate;
  private transient BlobRetention retention;
  private transient PackWriter<Exception> packs;
  // (Window end, shard) to the shard's reports for a window that has no manifest yet.
  private transient MapState<Tuple2<Long, Integer>, List<ShardSnapshot>> reported;
  private transient ValueState<Long> lastSequence;
  private transient ValueState<Long> lastWindowEnd;
  // The processing times from which the system clock may publish windows, by the ends of the
  // reported windows.
  private transient MapState<Long, Long> clockEnds;
  private transient boolean isInUseEmitted;
  private transient long sequenceGauge;
  private transient long windowEndGauge;

  ManifestFunction(SnapshotSpec spec, Publication publication) {
    this(spec, publication, MAX_SECTION_BYTES);
  }

  /**
   * Creates a function.
   *
   * @param maxSectionBytes the maximum total bytes of the sections of a pack of several shards
   */
  ManifestFunction(SnapshotSpec spec, Publication publication, long maxSectionBytes) {
    this.spec = spec;
    this.publication = publication;
    this.maxSectionBytes = maxSectionBytes;
  }

  @Override
  public void open(OpenContext unused) {
    RuntimeContext context = getRuntimeContext();
    rule = new WindowRule(spec.windowMillis());
    gate = new PublishingGate(publication, context);
    retention = new BlobRetention(publication, context);
    packs = PackPublisher.writer(spec, context);
    isInUseEmitted = false;
    reported =
        context.getMapState(
            new MapStateDescriptor<>(
                "reported",
                Types.TUPLE(Types.LONG, Types.INT),
                Types.LIST(TypeInformation.of(ShardSnapshot.class))));
    lastSequence =
        context.getState(new ValueStateDescriptor<>("lastSequence", LongSerializer.INSTANCE));
    lastWindowEnd =
        context.getState(new ValueStateDescriptor<>("lastWindowEnd", LongSerializer.INSTANCE));
    clockEnds =
        context.getMapState(
            new MapStateDescriptor<>(
                "clockEnds", LongSerializer.INSTANCE, LongSerializer.INSTANCE));
    context.getMetricGroup().gauge("manifestSequence", () -> sequenceGauge);
    context.getMetricGroup().gauge("manifestWindowEndMillis", () -> windowEndGauge);
  }

  @Override
  public void processElement(ShardSnapshot snapshot, Context context, Collector<SnapshotRecord> out)
      throws Exception {
    long windowEndMillis = snapshot.windowEndMillis();
    Long last = lastWindowEnd.value();
    if (last != null && windowEndMillis <= last) {
      windowEndMillis = rule.endOf(last);
    }
    ShardSnapshot.BaseBlob base = snapshot.base();
    if (base != null) {
      send(base.reference(), BlobFrame.Kind.BASE, base.bytes(), out);
    }
    Tuple2<Long, Integer> place = Tuple2.of(windowEndMillis, snapshot.shard());
    List<ShardSnapshot> before = reported.get(place);
    List<ShardSnapshot> all = new ArrayList<>(before == null ? List.of() : before);
    all.add(snapshot.withoutBaseBytes());
    reported.put(place, all);
    context.timerService().registerEventTimeTimer(windowEndMillis - 1);
    if (publication.hasIdleTimeout() && !clockEnds.contains(windowEndMillis)) {
      long now = context.timerService().currentProcessingTime();
      long due = publication.waitUntil(windowEndMillis, now);
      clockEnds.put(windowEndMillis, due);
      context.timerService().registerProcessingTimeTimer(due);
    }
  }

  private void send(
      BlobReference blob, BlobFrame.Kind kind, byte[] bytes, Collector<SnapshotRecord> out)
      throws Exception {
    out.collect(new SnapshotRecord(SnapshotRecord.Kind.BLOB, blob.digest(), bytes));
    retention.blobPublished(blob, kind);
  }

  @Override
  public void onTimer(long timerMillis, OnTimerContext context, Collector<SnapshotRecord> out)
      throws Exception {
    if (context.timeDomain() == TimeDomain.PROCESSING_TIME) {
      publishOverdue(context, out);
      return;
    }
    long watermark = context.timerService().currentWatermark();
    long windowEndMillis = timerMillis + 1;
    List<SortedMap<Integer, ShardSnapshot>> changes = new ArrayList<>();
    if (takeReported(windowEndMillis, changes)) {
      publish(windowEndMillis, changes, context, out);
    } else if (watermark == Long.MAX_VALUE || isReportedUntil(watermark + 1)) {
      return;
    } else if (rule.newestClosedEnd(watermark) > lastWindowEnd.value()) {
      publish(rule.newestClosedEnd(watermark), changes, context, out);
    }
    if (watermark != Long.MAX_VALUE) {
      long reached = Math.max(watermark + 1, lastWindowEnd.value());
      context.timerService().registerEventTimeTimer(rule.endOf(reached) - 1);
    }
  }

  /**
   * Publishes the reported windows that the system clock ends, and all earlier reported windows.
   */
  private void publishOverdue(OnTimerContext context, Collector<SnapshotRecord> out)
      throws Exception {
    long now = context.timerService().currentProcessingTime();
    long until = Long.MIN_VALUE;
    for (Map.Entry<Long, Long> each : clockEnds.entries()) {
      until = each.getValue() <= now ? Math.max(until, each.getKey()) : until;
    }
    SortedSet<Long> windows = new TreeSet<>();
    for (Tuple2<Long, Integer> place : reported.keys()) {
      windows.add(place.f0);
    }
    for (long end : windows.headSet(until + 1)) {
      List<SortedMap<Integer, ShardSnapshot>> changes = new ArrayList<>();
      takeReported(end, changes);
      publish(end, changes, context, out);
    }
  }

  /**
   * Removes the shards' reports of a window from state.
   *
   * @param changes receives the first change of each shard, then the second change of each shard,
   *     and so on, with as many shards together as fit in a pack
   * @return whether there was a report
   */
  private boolean takeReported(
      long windowEndMillis, List<SortedMap<Integer, ShardSnapshot>> changes) throws Exception {
    clockEnds.remove(windowEndMillis);
    boolean any = false;
    List<SortedMap<Integer, ShardSnapshot>> all = new ArrayList<>();
    for (int shard = 0; shard < spec.snapshotShards(); shard++) {
      Tuple2<Long, Integer> place = Tuple2.of(windowEndMillis, shard);
      List<ShardSnapshot> reports = reported.get(place);
      if (reports != null) {
        any = true;
        reported.remove(place);
        int number = 0;
        for (ShardSnapshot report : reports) {
          if (report.change() != null) {
            if (number == all.size()) {
              all.add(new TreeMap<>());
            }
            all.get(number++).put(shard, report);
          }
        }
      }
    }
    all.forEach(ofShards -> divide(ofShards, changes));
    return any;
  }

  private void divide(
      SortedMap<Integer, ShardSnapshot> ofShards, List<SortedMap<Integer, ShardSnapshot>> changes) {
    long bytes = Long.MAX_VALUE;
    for (ShardSnapshot report : ofShards.values()) {
      int section = report.change().section().length;
      if (bytes > maxSectionBytes - section) {
        changes.add(new TreeMap<>());
        bytes = 0;
      }
      changes.get(changes.size() - 1).put(report.shard(), report);
      bytes += section;
    }
  }

  /** Returns whether a window that ends at or before an instant has reports but no manifest. */
  private boolean isReportedUntil(long endMillis) throws Exception {
    for (Tuple2<Long, Integer> place : reported.keys()) {
      if (place.f0 <= endMillis) {
        return true;
      }
    }
    return false;
  }

  private void publish(
      long windowEndMillis,
      List<SortedMap<Integer, ShardSnapshot>> changes,
      OnTimerContext context,
      Collector<SnapshotRecord> out)
      throws Exception {
    long last = lastSequence.value() == null ? 0 : lastSequence.value();
    long sequence = Math.max(last, publication.takenOver().sequence());
    int used = Math.max(1, changes.size());
    if (sequence > Long.MAX_VALUE - used) {
      throw new IncompatibleStateException(
          ("set %s has used sequence %d, the highest there can be, so no manifest can follow:"
                  + " publish under another name")
              .formatted(spec.setName(), sequence));
    }
    for (int i = 0; i < changes.size(); i++) {
      for (PackWriter.Blob blob :
          packs.publish(PackPublisher.changes(changes.get(i)), sequence + 1 + i, windowEndMillis)) {
        send(blob.reference(), blob.kind(), blob.bytes(), out);
      }
    }
    sequence += used;
    long nowMillis = context.timerService().currentProcessingTime();
    Manifest manifest = publication.published(packs.manifest(sequence, windowEndMillis), nowMillis);
    lastSequence.update(sequence);
    lastWindowEnd.update(windowEndMillis);
    if (gate.mayPublish(manifest)) {
      Map<BlobReference, BlobFrame.Kind> inUse = blobsInUse();
      if (!isInUseEmitted) {
        out.collect(
            SnapshotRecord.inUse(
                spec.setName(),
                inUse.keySet().stream().map(BlobReference::digest).sorted().toList()));
        isInUseEmitted = true;
      }
      out.collect(
          new SnapshotRecord(SnapshotRecord.Kind.MANIFEST, spec.setName(), manifest.toBytes()));
      retention.manifestPublished(inUse, nowMillis, out);
      sequenceGauge = sequence;
      windowEndGauge = windowEndMillis;
    }
  }

  /** Returns the blobs that the newest manifest or a later one needs. */
  private Map<BlobReference, BlobFrame.Kind> blobsInUse() throws Exception {
    Map<BlobReference, BlobFrame.Kind> inUse = packs.inUse();
    for (List<ShardSnapshot> reports : reported.values()) {
      for (ShardSnapshot report : reports) {
        if (report.base() != null) {
          inUse.put(report.base().reference(), BlobFrame.Kind.BASE);
        }
      }
    }
    return inUse;
  }
}
