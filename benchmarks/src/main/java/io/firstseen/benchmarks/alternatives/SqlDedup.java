package io.firstseen.benchmarks.alternatives;

import io.firstseen.benchmarks.shared.Url;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.VarCharType;

/**
 * Deduplication as Flink's documentation of SQL recommends it: the first row of each key in
 * processing time. Without a mini-batch, which is the default.
 */
final class SqlDedup {
  static final String QUERY =
      "SELECT url FROM (SELECT url, ROW_NUMBER() OVER (PARTITION BY url ORDER BY arrival) AS n"
          + " FROM urls) WHERE n = 1";

  /** How a plan names the operator that keeps one bit a key. */
  private static final String OPERATOR = "Deduplicate(keep=[FirstRow], key=[url], order=[PROCTIME]";

  private SqlDedup() {}

  /**
   * The first record of each URL.
   *
   * @param urls with time stamps, which carry the watermarks through the query
   * @throws IllegalStateException if the planner does not recognise the query as a deduplication
   */
  static DataStream<RowData> firstOfEach(DataStream<Url> urls) {
    StreamTableEnvironment tables = StreamTableEnvironment.create(urls.getExecutionEnvironment());
    DataStream<RowData> rows = rows(urls);
    tables.createTemporaryView(
        "urls",
        rows,
        Schema.newBuilder()
            .column("url", DataTypes.STRING())
            .columnByMetadata("stamp", DataTypes.TIMESTAMP_LTZ(3), "rowtime")
            .columnByExpression("arrival", "PROCTIME()")
            .watermark("stamp", "SOURCE_WATERMARK()")
            .build());
    String plan = tables.explainSql(QUERY);
    if (!plan.contains(OPERATOR)) {
      throw new IllegalStateException("the plan has no '%s':%n%s".formatted(OPERATOR, plan));
    }
    return rows(tables, QUERY);
  }

  /** Rows in Flink's own form, so that nothing is converted on the way in or out. */
  static DataStream<RowData> rows(DataStream<Url> urls) {
    return urls.map(
        url -> (RowData) GenericRowData.of(StringData.fromBytes(url.utf8())),
        InternalTypeInfo.ofFields(
            new VarCharType[] {VarCharType.STRING_TYPE}, new String[] {"url"}));
  }

  /** The rows of a query of URLs, in the same form. */
  static DataStream<RowData> rows(StreamTableEnvironment tables, String query) {
    return tables.toDataStream(
        tables.sqlQuery(query),
        DataTypes.ROW(DataTypes.FIELD("url", DataTypes.STRING())).bridgedTo(RowData.class));
  }
}
