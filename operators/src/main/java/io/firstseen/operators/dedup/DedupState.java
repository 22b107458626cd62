package io.firstseen.operators.dedup;

import io.firstseen.filters.cuckoo.CuckooPage;
import io.firstseen.serializers.AuditCountsSerializer;
import io.firstseen.serializers.CuckooPageSerializer;
import io.firstseen.serializers.DedupParametersSerializer;
import io.firstseen.serializers.ExactEntrySerializer;
import io.firstseen.serializers.ShardSummarySerializer;
import io.firstseen.types.AuditCounts;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.ExactEntry;
import io.firstseen.types.ShardSummary;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;

/** The state of {@link DedupOperator}. Savepoints depend on the names and serializers. */
final class DedupState {
  /** For each shard, its filter's pages by their numbers. */
  static final MapStateDescriptor<Integer, CuckooPage> PAGES = pages(CuckooPageSerializer.INSTANCE);

  /** For each shard, which pages exist and the totals of what they hold. */
  static final ValueStateDescriptor<ShardSummary> SUMMARY =
      new ValueStateDescriptor<>("firstseen-shard", ShardSummarySerializer.INSTANCE);

  /**
   * For each shard, the changes since its pages were written, by the numbers of the segments. Each
   * segment is in one of these states.
   */
  static final List<MapStateDescriptor<Integer, byte[]>> LOGS =
      Stream.of("a", "b", "c", "d").map(DedupState::log).toList();

  /**
   * In an exact mode, for each shard and, as the namespace, each slice of its hashes: the live keys
   * by their hashes.
   */
  static final MapStateDescriptor<Long, ExactEntry> EXACT =
      new MapStateDescriptor<>(
          "firstseen-exact", LongSerializer.INSTANCE, ExactEntrySerializer.INSTANCE);

  /** With a ttl, for each shard the time of the last checkpoint, in milliseconds. */
  static final ValueStateDescriptor<Long> CLOCK =
      new ValueStateDescriptor<>("firstseen-clock", LongSerializer.INSTANCE);

  /** For each shard, {@link io.firstseen.filters.cuckoo.Expiry#forgottenMillis}. */
  static final ValueStateDescriptor<Long> FORGOTTEN =
      new ValueStateDescriptor<>("firstseen-forgotten", LongSerializer.INSTANCE);

  /** Like {@link #EXACT}, for the audited hashes. */
  static final MapStateDescriptor<Long, ExactEntry> AUDIT =
      new MapStateDescriptor<>(
          "firstseen-audit", LongSerializer.INSTANCE, ExactEntrySerializer.INSTANCE);

  /** For each shard, the counts of its audit. */
  static final ValueStateDescriptor<AuditCounts> AUDIT_COUNTS = auditCounts("counts");

  /** With near-duplicates, for each shard the audited dropped texts and the wrong ones of them. */
  static final ValueStateDescriptor<AuditCounts> AUDIT_PRECISION = auditCounts("precision");

  /** With near-duplicates, for each shard the audited similar texts and the accepted ones. */
  static final ValueStateDescriptor<AuditCounts> AUDIT_RECALL = auditCounts("recall");

  /**
   * The parameters with which the state was built. A union list, so that every subtask has them at
   * any parallelism.
   */
  static final ListStateDescriptor<DedupParameters> PARAMETERS =
      new ListStateDescriptor<>("firstseen-parameters", DedupParametersSerializer.INSTANCE);

  private DedupState() {}

  private static MapStateDescriptor<Integer, byte[]> log(String name) {
    return new MapStateDescriptor<>(
        "firstseen-log-" + name, IntSerializer.INSTANCE, BytePrimitiveArraySerializer.INSTANCE);
  }

  private static ValueStateDescriptor<AuditCounts> auditCounts(String name) {
    return new ValueStateDescriptor<>("firstseen-audit-" + name, AuditCountsSerializer.INSTANCE);
  }

  /** {@link #PAGES}, written by another serializer to the same bytes. */
  static MapStateDescriptor<Integer, CuckooPage> pages(TypeSerializer<CuckooPage> serializer) {
    return new MapStateDescriptor<>("firstseen-pages", IntSerializer.INSTANCE, serializer);
  }
}
