package io.firstseen.operators.compaction;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestShard;
import io.firstseen.operators.IncompatibleStateException;
import io.firstseen.serializers.ManifestShardSerializer;
import io.firstseen.serializers.ShardSnapshot;
import io.firstseen.serializers.SnapshotRecord;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Forwards blobs as they arrive. When the watermark of all subtasks has passed the end of a window,
 * publishes the manifest of that window, which names for every shard the blobs that lead to its
 * newest set. Runs with parallelism 1, keyed by the name of the set, so that every blob is
 * published before the first manifest that names it.
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
 * <p>A window is held if its number of live keys jumps ({@link PublishingGate}). Its blobs are
 * published, since later manifests may name them, and its sequence is used up, but no manifest has
 * that sequence. Blobs that no manifest names are removed ({@link BlobRetention}).
 *
 * <p>The windows of manifests ascend strictly; sequences count from 1. A blob may arrive after the
 * manifest of its window or of a later one: a savepoint with drain closes the last windows early,
 * and the job may be continued from it. Such a blob counts for the first window that has no
 * manifest yet.
 *
 * <p>What a manifest says of the set depends on operations and watermarks only, not on the
 * parallelism or on the order in which shards report. Its times of publication and expiry are those
 * of Flink's clock.
 */
final class ManifestFunction extends KeyedProcessFunction<String, ShardSnapshot, SnapshotRecord> {

  private static final long serialVersionUID = 1L;

  private final SnapshotSpec spec;
  private final Publication publication;

  private transient WindowRule rule;
  private transient PublishingGate gate;
  private transient BlobRetention retention;
  // Shard to the blobs that lead to its newest published set.
  private transient MapState<Integer, ManifestShard> published;
  // (Window end, shard) to the shard's reports for a window that has no manifest yet.
  private transient MapState<Tuple2<Long, Integer>, List<ShardSnapshot>> reported;
  private transient ValueState<Long> lastSequence;
  private transient ValueState<Long> lastWindowEnd;
  private transient long sequenceGauge;
  private transient long windowEndGauge;

  ManifestFunction(SnapshotSpec spec, Publication publication) {
    this.spec = spec;
    this.publication = publication;
  }

  @Override
  public void open(OpenContext context) {
    rule = new WindowRule(spec.windowMillis());
    gate = new PublishingGate(publication, getRuntimeContext());
    retention = new BlobRetention(publication, getRuntimeContext());
    published =
        getRuntimeContext()
            .getMapState(
                new MapStateDescriptor<>(
                    "chains", IntSerializer.INSTANCE, ManifestShardSerializer.INSTANCE));
    reported =
        getRuntimeContext()
            .getMapState(
                new MapStateDescriptor<>(
                    "reported",
                    Types.TUPLE(Types.LONG, Types.INT),
                    Types.LIST(TypeInformation.of(ShardSnapshot.class))));
    lastSequence =
        getRuntimeContext()
            .getState(new ValueStateDescriptor<>("lastSequence", LongSerializer.INSTANCE));
    lastWindowEnd =
        getRuntimeContext()
            .getState(new ValueStateDescriptor<>("lastWindowEnd", LongSerializer.INSTANCE));
    getRuntimeContext().getMetricGroup().gauge("manifestSequence", () -> sequenceGauge);
    getRuntimeContext().getMetricGroup().gauge("manifestWindowEndMillis", () -> windowEndGauge);
  }

  @Override
  public void processElement(ShardSnapshot snapshot, Context context, Collector<SnapshotRecord> out)
      throws Exception {
    long windowEndMillis = snapshot.windowEndMillis();
    Long last = lastWindowEnd.value();
    if (last != null && windowEndMillis <= last) {
      windowEndMillis = rule.endOf(last);
    }
    for (ShardSnapshot.Blob blob : snapshot.blobs()) {
      out.collect(
          new SnapshotRecord(SnapshotRecord.Kind.BLOB, blob.reference().digest(), blob.bytes()));
      retention.blobWentOut(blob.reference());
    }
    Tuple2<Long, Integer> place = Tuple2.of(windowEndMillis, snapshot.shard());
    List<ShardSnapshot> before = reported.get(place);
    List<ShardSnapshot> all = new ArrayList<>(before == null ? List.of() : before);
    all.add(snapshot.withoutBytes());
    reported.put(place, all);
    context.timerService().registerEventTimeTimer(windowEndMillis - 1);
  }

  @Override
  public void onTimer(long timerMillis, OnTimerContext context, Collector<SnapshotRecord> out)
      throws Exception {
    long watermark = context.timerService().currentWatermark();
    long windowEndMillis = timerMillis + 1;
    if (takeReported(windowEndMillis)) {
      publish(windowEndMillis, context, out);
    } else if (watermark == Long.MAX_VALUE || isReportedUntil(watermark + 1)) {
      return;
    } else if (rule.newestClosedEnd(watermark) > lastWindowEnd.value()) {
      publish(rule.newestClosedEnd(watermark), context, out);
    }
    if (watermark != Long.MAX_VALUE) {
      long reached = Math.max(watermark + 1, lastWindowEnd.value());
      context.timerService().registerEventTimeTimer(rule.endOf(reached) - 1);
    }
  }

  /** Applies the shards' reports of a window to the published chains; false if there are none. */
  private boolean takeReported(long windowEndMillis) throws Exception {
    int maxDeltas = ChainRule.maxDeltas(spec.snapshotShards());
    boolean any = false;
    for (int shard = 0; shard < spec.snapshotShards(); shard++) {
      Tuple2<Long, Integer> place = Tuple2.of(windowEndMillis, shard);
      List<ShardSnapshot> changes = reported.get(place);
      if (changes != null) {
        any = true;
        reported.remove(place);
        for (ShardSnapshot change : changes) {
          if (change.isChanged()) {
            published.put(shard, PublishedChain.next(published.get(shard), change, maxDeltas));
          }
        }
      }
    }
    return any;
  }

  /** Whether a window that ends at or before an instant has reports but no manifest. */
  private boolean isReportedUntil(long endMillis) throws Exception {
    for (Tuple2<Long, Integer> place : reported.keys()) {
      if (place.f0 <= endMillis) {
        return true;
      }
    }
    return false;
  }

  private void publish(long windowEndMillis, OnTimerContext context, Collector<SnapshotRecord> out)
      throws Exception {
    List<ManifestShard> shards = new ArrayList<>(spec.snapshotShards());
    long last = lastSequence.value() == null ? 0 : lastSequence.value();
    long before = Math.max(last, publication.takenOverSequence());
    if (before == Long.MAX_VALUE) {
      throw new IncompatibleStateException(
          ("set %s has used sequence %d, the highest there can be, so no manifest can follow:"
                  + " publish under another name")
              .formatted(spec.setName(), before));
    }
    long sequence = before + 1;
    for (int shard = 0; shard < spec.snapshotShards(); shard++) {
      ManifestShard chain = published.get(shard);
      if (chain == null) {
        shards.add(ManifestShard.empty(shard));
      } else {
        shards.add(chain);
        // A shard's sequence is ahead only if two of its windows shared a manifest.
        sequence = Math.max(sequence, chain.newest().sequence());
      }
    }
    long nowMillis = context.timerService().currentProcessingTime();
    Manifest manifest =
        Manifest.of(
                spec.setName(),
                sequence,
                windowEndMillis - spec.windowMillis(),
                windowEndMillis,
                spec.setParameters(),
                shards)
            .withTimes(nowMillis, publication.expiresMillis(nowMillis));
    lastSequence.update(sequence);
    lastWindowEnd.update(windowEndMillis);
    if (gate.lets(manifest)) {
      out.collect(
          new SnapshotRecord(SnapshotRecord.Kind.MANIFEST, spec.setName(), manifest.toJson()));
      retention.manifestWentOut(manifest, awaitedBlobs(), nowMillis, out);
      sequenceGauge = sequence;
      windowEndGauge = windowEndMillis;
    }
  }

  /** Digests of the blobs of windows that have no manifest yet. */
  private Set<String> awaitedBlobs() throws Exception {
    Set<String> awaited = new HashSet<>();
    for (List<ShardSnapshot> changes : reported.values()) {
      for (ShardSnapshot change : changes) {
        change.blobs().forEach(blob -> awaited.add(blob.reference().digest()));
      }
    }
    return awaited;
  }
}
