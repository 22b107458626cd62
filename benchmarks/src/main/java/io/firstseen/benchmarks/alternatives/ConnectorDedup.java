package io.firstseen.benchmarks.alternatives;

import io.firstseen.benchmarks.dedup.Pipelines;
import io.firstseen.benchmarks.shared.Url;
import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.source.DataStreamScanProvider;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DynamicTableSourceFactory;

/** Deduplication by the connector {@code firstseen}, over a table of given rows. */
final class ConnectorDedup {
  private static final ThreadLocal<DataStream<RowData>> GIVEN = new ThreadLocal<>();

  private ConnectorDedup() {}

  /**
   * The first record of each URL.
   *
   * @param capacity live keys that Firstseen is told to expect
   */
  static DataStream<RowData> firstOfEach(DataStream<Url> urls, long capacity) {
    StreamTableEnvironment tables = StreamTableEnvironment.create(urls.getExecutionEnvironment());
    tables.executeSql(
        "CREATE TABLE urls (url STRING) WITH ('connector' = 'firstseen', 'key' = 'url',"
            + " 'capacity' = '%d', 'fpr' = '%s', 'page-cache' = '%d b', 'table.connector' = 'given-rows')"
                .formatted(
                    capacity, Pipelines.FALSE_POSITIVE_RATE, Math.max(64L << 20, 4 * capacity)));
    GIVEN.set(SqlDedup.rows(urls));
    try {
      return SqlDedup.rows(tables, "SELECT url FROM urls");
    } finally {
      GIVEN.remove();
    }
  }

  public static final class Factory implements DynamicTableSourceFactory {
    public Factory() {}

    @Override
    public String factoryIdentifier() {
      return "given-rows";
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
      return Set.of();
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
      return Set.of();
    }

    @Override
    public DynamicTableSource createDynamicTableSource(Context context) {
      return new GivenRows();
    }
  }

  private static final class GivenRows implements ScanTableSource {
    @Override
    public ChangelogMode getChangelogMode() {
      return ChangelogMode.insertOnly();
    }

    @Override
    public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
      return new DataStreamScanProvider() {
        @Override
        public DataStream<RowData> produceDataStream(
            ProviderContext uids, StreamExecutionEnvironment environment) {
          return GIVEN.get();
        }

        @Override
        public boolean isBounded() {
          return false;
        }
      };
    }

    @Override
    public DynamicTableSource copy() {
      return new GivenRows();
    }

    @Override
    public String asSummaryString() {
      return "given-rows";
    }
  }
}
