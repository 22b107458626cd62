package io.firstseen.sql;

import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSource;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
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
import org.apache.flink.types.RowKind;
import org.jspecify.annotations.Nullable;

/**
 * Reads a table through a dedup. Watermarks are generated before the dedup, so that they advance
 * while only duplicates arrive.
 */
final class FirstseenTableSource
    implements ScanTableSource, SupportsWatermarkPushDown, SupportsReadingMetadata {
  private final ScanTableSource wrapped;
  private final TableDedup dedup;
  private DataType rowType;

  /** Null if there are no watermarks, or if the wrapped source generates them. */
  private @Nullable WatermarkStrategy<RowData> watermarks;

  FirstseenTableSource(ScanTableSource wrapped, TableDedup dedup, DataType rowType) {
    this.wrapped = wrapped;
    this.dedup = dedup;
    this.rowType = rowType;
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
    if (wrapped instanceof SupportsWatermarkPushDown source) {
      source.applyWatermark(strategy);
    } else {
      watermarks = strategy;
    }
  }

  @Override
  public Map<String, DataType> listReadableMetadata() {
    return wrapped instanceof SupportsReadingMetadata source
        ? source.listReadableMetadata()
        : Map.of();
  }

  @Override
  public void applyReadableMetadata(List<String> keys, DataType newRowType) {
    if (wrapped instanceof SupportsReadingMetadata source) {
      source.applyReadableMetadata(keys, newRowType);
    }
    rowType = newRowType;
  }

  @Override
  public boolean supportsMetadataProjection() {
    return false;
  }

  @Override
  public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
    ScanRuntimeProvider provider = wrapped.getScanRuntimeProvider(context);
    TypeInformation<RowData> type = context.createTypeInformation(rowType);
    WatermarkStrategy<RowData> strategy = watermarks;
    if (!(provider instanceof DataStreamScanProvider) && !(provider instanceof SourceProvider)) {
      throw TableDedup.unknown(
          wrapped.asSummaryString(), provider, List.of("SourceProvider", "DataStreamScanProvider"));
    }
    boolean insertsOnly = wrapped.getChangelogMode().containsOnly(RowKind.INSERT);
    return new DataStreamScanProvider() {
      @Override
      public DataStream<RowData> produceDataStream(
          ProviderContext planner, StreamExecutionEnvironment environment) {
        return dedup.firstSeen(rows(provider, strategy, type, environment), insertsOnly);
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
    DataStream<RowData> rows =
        ((DataStreamScanProvider) provider).produceDataStream(dedup.uids(), environment);
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
        new FirstseenTableSource((ScanTableSource) wrapped.copy(), dedup, rowType);
    copy.watermarks = watermarks;
    return copy;
  }

  @Override
  public String asSummaryString() {
    return dedup.summary() + " of " + wrapped.asSummaryString();
  }
}
