package io.firstseen.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.source.DataStreamScanProvider;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.runtime.connector.source.ScanRuntimeProviderContext;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.DataType;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The dedup on a stream of rows. */
class TableDedupTest {
  @RegisterExtension
  static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(2)
              .build());

  private static final DataType COLUMNS = DataTypes.ROW(DataTypes.FIELD("k", DataTypes.STRING()));
  private static final Queue<RowKind> FIRST_SEEN = new ConcurrentLinkedQueue<>();
  private static final Queue<RowKind> BESIDE = new ConcurrentLinkedQueue<>();

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void theRowsOfTheInputStayAsTheyAre(int parallelism) throws Exception {
    FIRST_SEEN.clear();
    BESIDE.clear();
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment(
                new Configuration().set(PipelineOptions.OBJECT_REUSE, true))
            .setParallelism(parallelism);
    InternalTypeInfo<RowData> type = InternalTypeInfo.of(COLUMNS.getLogicalType());
    DataStream<RowData> rows =
        environment
            .fromData(
                type,
                row(RowKind.INSERT, "a"),
                row(RowKind.UPDATE_BEFORE, "a"),
                row(RowKind.UPDATE_AFTER, "b"))
            .setParallelism(1)
            // The same object to both readers, in one task.
            .map(row -> row, type)
            .setParallelism(1);
    TableDedup dedup =
        TableDedup.of(Configuration.fromMap(Map.of("key", "k")), COLUMNS, List.of(), "rows", "");
    DataStream<RowData> firstSeen = dedup.firstSeen(rows, false);
    assertThat(firstSeen.getTransformation().getUid()).isEqualTo("rows-rows");
    write(firstSeen, FIRST_SEEN);
    write(rows, BESIDE);
    environment.execute();
    assertThat(FIRST_SEEN)
        .containsExactlyInAnyOrder(RowKind.INSERT, RowKind.DELETE, RowKind.INSERT);
    assertThat(BESIDE).containsExactly(RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER);
  }

  @Test
  void theOperatorOfWatermarksHasAUid() {
    TableDedup dedup =
        TableDedup.of(Configuration.fromMap(Map.of("key", "k")), COLUMNS, List.of(), "rows", "");
    FirstseenTableSource source = new FirstseenTableSource(new OneRow(), dedup, COLUMNS, null);
    source.applyWatermark(WatermarkStrategy.forMonotonousTimestamps());
    DataStreamScanProvider provider =
        (DataStreamScanProvider) source.getScanRuntimeProvider(ScanRuntimeProviderContext.INSTANCE);
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
    assertThat(
            provider
                .produceDataStream(name -> Optional.empty(), environment)
                .getTransformation()
                .getTransitivePredecessors())
        .extracting(Transformation::getUid)
        .contains("rows-watermarks");
  }

  /** A source that provides a stream without watermarks. */
  private static final class OneRow implements ScanTableSource {
    @Override
    public ChangelogMode getChangelogMode() {
      return ChangelogMode.insertOnly();
    }

    @Override
    public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
      return new DataStreamScanProvider() {
        @Override
        public DataStream<RowData> produceDataStream(
            ProviderContext planner, StreamExecutionEnvironment environment) {
          return environment.fromData(
              InternalTypeInfo.of(COLUMNS.getLogicalType()), row(RowKind.INSERT, "a"));
        }

        @Override
        public boolean isBounded() {
          return true;
        }
      };
    }

    @Override
    public DynamicTableSource copy() {
      return this;
    }

    @Override
    public String asSummaryString() {
      return "one row";
    }
  }

  private static RowData row(RowKind kind, String key) {
    return GenericRowData.ofKind(kind, StringData.fromString(key));
  }

  private static void write(DataStream<RowData> rows, Queue<RowKind> kinds) {
    boolean firstSeen = kinds == FIRST_SEEN;
    rows.map(
            row -> {
              (firstSeen ? FIRST_SEEN : BESIDE).add(row.getRowKind());
              return row;
            },
            rows.getType())
        .setParallelism(1)
        .sinkTo(new DiscardingSink<>());
  }
}
