package io.firstseen.sql;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.eventtime.SerializableTimestampAssigner;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.legacy.table.connector.source.SourceFunctionProvider;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSource;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ParallelismProvider;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.source.DataStreamScanProvider;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.connector.source.SourceProvider;
import org.apache.flink.table.connector.source.abilities.SupportsReadingMetadata;
import org.apache.flink.table.connector.source.abilities.SupportsWatermarkPushDown;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;
import org.apache.flink.types.RowKind;
import org.jspecify.annotations.Nullable;

/**
 * Reads a table through a dedup. Watermarks are generated before the dedup, so that they advance
 * while only duplicates arrive.
 */
@SuppressWarnings("deprecation") // SourceFunctionProvider, for datagen and other connectors.
final class FirstseenTableSource
    implements ScanTableSource, SupportsWatermarkPushDown, SupportsReadingMetadata {
  private final ScanTableSource wrapped;
  private final TableDedup dedup;

  /** The rowtime column of the table's watermark, as the planner names it in rows; null without. */
  private final @Nullable String rowtime;

  private DataType rowType;

  /** The metadata columns of this connector that are read. */
  private List<String> metadata = List.of();

  /** The rows of the wrapped source, without {@link #metadata}. */
  private DataType wrappedType;

  /** Null if there are no watermarks, or if the wrapped source generates them. */
  private @Nullable WatermarkStrategy<RowData> watermarks;

  FirstseenTableSource(
      ScanTableSource wrapped, TableDedup dedup, DataType rowType, @Nullable String rowtime) {
    this.wrapped = wrapped;
    this.dedup = dedup;
    this.rowType = rowType;
    this.wrappedType = rowType;
    this.rowtime = rowtime;
  }

  @Override
  public ChangelogMode getChangelogMode() {
    ChangelogMode changes = wrapped.getChangelogMode();
    ChangelogMode accepted = dedup.accepted(changes);
    if (!changes.containsOnly(RowKind.INSERT)) {
      dedup.requirePrimaryKey(DataType.getFieldNames(rowType));
    }
    return accepted;
  }

  @Override
  public void applyWatermark(WatermarkStrategy<RowData> strategy) {
    WatermarkStrategy<RowData> stamping =
        dedup.inEventTime() ? strategy.withTimestampAssigner(rowtime()) : strategy;
    if (wrapped instanceof SupportsWatermarkPushDown source) {
      source.applyWatermark(stamping);
    } else {
      watermarks = stamping;
    }
  }

  /** The planner reads the rowtime from the column, but the dedup from the record's timestamp. */
  private SerializableTimestampAssigner<RowData> rowtime() {
    int index = DataType.getFieldNames(wrappedType).indexOf(rowtime);
    if (index < 0) {
      throw new ValidationException(
          "'ttl-clock' = 'event' needs a WATERMARK on a column of connector '%s', got the computed column '%s': INSERT INTO a 'firstseen' table instead, or use 'ttl-clock' = 'processing'"
              .formatted(wrapped.asSummaryString(), rowtime));
    }
    int precision =
        LogicalTypeChecks.getPrecision(wrappedType.getLogicalType().getChildren().get(index));
    return (row, recordTimestamp) -> row.getTimestamp(index, precision).getMillisecond();
  }

  @Override
  public Map<String, DataType> listReadableMetadata() {
    Map<String, DataType> all = new LinkedHashMap<>();
    if (wrapped instanceof SupportsReadingMetadata source) {
      all.putAll(source.listReadableMetadata());
    }
    if (dedup.emitsAll()) {
      // Last, as the planner keeps this order.
      all.put(TableDedup.OUTCOME, DataTypes.STRING().notNull());
      all.put(TableDedup.REASON, DataTypes.STRING());
      all.put(TableDedup.MATCH, DataTypes.STRING());
      all.put(TableDedup.BANDS, DataTypes.INT());
    }
    return all;
  }

  @Override
  public void applyReadableMetadata(List<String> keys, DataType newRowType) {
    metadata =
        dedup.emitsAll() ? keys.stream().filter(TableDedup.METADATA::contains).toList() : List.of();
    rowType = newRowType;
    List<DataTypes.Field> fields = DataType.getFields(newRowType);
    wrappedType =
        DataTypes.ROW(fields.subList(0, fields.size() - metadata.size()))
            .notNull()
            .bridgedTo(RowData.class);
    if (wrapped instanceof SupportsReadingMetadata source) {
      source.applyReadableMetadata(keys.subList(0, keys.size() - metadata.size()), wrappedType);
    }
  }

  @Override
  public boolean supportsMetadataProjection() {
    return false;
  }

  @Override
  public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
    ScanRuntimeProvider provider = wrapped.getScanRuntimeProvider(context);
    TypeInformation<RowData> type = context.createTypeInformation(wrappedType);
    TypeInformation<RowData> withMetadata = context.createTypeInformation(rowType);
    WatermarkStrategy<RowData> strategy = watermarks;
    if (!(provider instanceof DataStreamScanProvider)
        && !(provider instanceof SourceProvider)
        && !(provider instanceof SourceFunctionProvider)) {
      throw TableDedup.unknown(
          wrapped.asSummaryString(),
          provider,
          "declare its table without 'firstseen', and INSERT INTO a 'firstseen' table");
    }
    if (dedup.inEventTime() && rowtime == null) {
      throw new ValidationException(
          "'ttl-clock' = 'event' needs a WATERMARK: declare one, or use 'ttl-clock' = 'processing'");
    }
    boolean insertsOnly = wrapped.getChangelogMode().containsOnly(RowKind.INSERT);
    return new DataStreamScanProvider() {
      @Override
      public DataStream<RowData> produceDataStream(
          ProviderContext planner, StreamExecutionEnvironment environment) {
        DataStream<RowData> rows = rows(provider, strategy, type, environment);
        return dedup.emitsAll()
            ? dedup.all(rows, insertsOnly, metadata, withMetadata)
            : dedup.firstSeen(rows, insertsOnly);
      }

      @Override
      public boolean isBounded() {
        return provider.isBounded();
      }
    };
  }

  private DataStream<RowData> rows(
      ScanRuntimeProvider provider,
      @Nullable WatermarkStrategy<RowData> strategy,
      TypeInformation<RowData> type,
      StreamExecutionEnvironment environment) {
    if (provider instanceof SourceProvider source) {
      DataStreamSource<RowData> rows =
          environment.fromSource(
              source.createSource(),
              strategy == null ? WatermarkStrategy.noWatermarks() : strategy,
              wrapped.asSummaryString(),
              type);
      source.getParallelism().ifPresent(rows::setParallelism);
      dedup.uids().generateUid("source").ifPresent(rows::uid);
      return rows;
    }
    DataStream<RowData> rows;
    if (provider instanceof SourceFunctionProvider source) {
      rows =
          environment
              .addSource(source.createSourceFunction(), wrapped.asSummaryString(), type)
              .uid(dedup.uids().generateUid("source").orElseThrow());
    } else {
      rows = ((DataStreamScanProvider) provider).produceDataStream(dedup.uids(), environment);
    }
    ((ParallelismProvider) provider)
        .getParallelism()
        .ifPresent(parallelism -> rows.getTransformation().setParallelism(parallelism));
    if (strategy == null) {
      return rows;
    }
    SingleOutputStreamOperator<RowData> withWatermarks =
        rows.assignTimestampsAndWatermarks(strategy);
    dedup.uids().generateUid("watermarks").ifPresent(withWatermarks::uid);
    return withWatermarks;
  }

  @Override
  public DynamicTableSource copy() {
    FirstseenTableSource copy =
        new FirstseenTableSource((ScanTableSource) wrapped.copy(), dedup, rowType, rowtime);
    copy.metadata = metadata;
    copy.wrappedType = wrappedType;
    copy.watermarks = watermarks;
    return copy;
  }

  @Override
  public String asSummaryString() {
    return dedup.summary() + " of " + wrapped.asSummaryString();
  }
}
