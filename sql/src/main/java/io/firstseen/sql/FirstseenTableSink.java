package io.firstseen.sql;

import java.util.List;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ParallelismProvider;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.sink.DataStreamSinkProvider;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.sink.SinkV2Provider;
import org.apache.flink.table.connector.sink.legacy.SinkFunctionProvider;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.RowKind;

/** Writes to a table through a dedup. */
@SuppressWarnings("deprecation") // SinkFunctionProvider, for print and other connectors.
final class FirstseenTableSink implements DynamicTableSink {
  private final DynamicTableSink wrapped;
  private final TableDedup dedup;
  private final List<String> columns;

  /**
   * Whether the query is known to insert only. The planner first asks with the kinds of rows that
   * the query has. Later, for the same query, it also asks with all kinds, which must not undo
   * this.
   */
  private boolean insertsOnly;

  FirstseenTableSink(DynamicTableSink wrapped, TableDedup dedup, List<String> columns) {
    this.wrapped = wrapped;
    this.dedup = dedup;
    this.columns = columns;
  }

  @Override
  public ChangelogMode getChangelogMode(ChangelogMode requested) {
    boolean onlyInserts = requested.containsOnly(RowKind.INSERT);
    insertsOnly |= onlyInserts;
    ChangelogMode accepted = onlyInserts ? requested : dedup.accepted(ChangelogMode.all());
    ChangelogMode written = wrapped.getChangelogMode(accepted);
    for (RowKind kind : accepted.getContainedKinds()) {
      if (!written.contains(kind)) {
        throw new ValidationException(
            "the query gives %s, so connector '%s' must take %s, it takes %s"
                .formatted(requested, wrapped.asSummaryString(), accepted, written));
      }
    }
    // Includes the old rows of updates, whose keys are deleted.
    return onlyInserts ? ChangelogMode.insertOnly() : ChangelogMode.all();
  }

  @Override
  public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
    SinkRuntimeProvider provider = wrapped.getSinkRuntimeProvider(context);
    if (!(provider instanceof SinkV2Provider)
        && !(provider instanceof DataStreamSinkProvider)
        && !(provider instanceof SinkFunctionProvider)) {
      throw TableDedup.unknown(
          wrapped.asSummaryString(),
          provider,
          "declare its table without 'firstseen', and insert rows that a 'firstseen' table reads");
    }
    boolean onlyInserts = insertsOnly;
    if (!onlyInserts) {
      dedup.requirePrimaryKey(columns);
    }
    return new DataStreamSinkProvider() {
      @Override
      public DataStreamSink<?> consumeDataStream(
          ProviderContext planner, DataStream<RowData> rows) {
        DataStream<RowData> firstSeen = dedup.firstSeen(rows, onlyInserts);
        if (!onlyInserts) {
          requireOrder(provider, firstSeen.getParallelism());
        }
        return write(provider, firstSeen);
      }
    };
  }

  /** The planner checks this for other connectors, but cannot access the wrapped sink. */
  private static void requireOrder(SinkRuntimeProvider provider, int ofDedup) {
    int ofSink = ((ParallelismProvider) provider).getParallelism().orElse(ofDedup);
    if (ofSink != ofDedup && ofSink > 1) {
      throw new ValidationException(
          "'table.sink.parallelism' must be 1 or the dedup's parallelism, %d, to keep the order of a changelog, got %d"
              .formatted(ofDedup, ofSink));
    }
  }

  private DataStreamSink<?> write(SinkRuntimeProvider provider, DataStream<RowData> rows) {
    if (provider instanceof DataStreamSinkProvider sink) {
      return sink.consumeDataStream(dedup.uids(), rows);
    }
    DataStreamSink<RowData> written =
        provider instanceof SinkFunctionProvider sink
            ? rows.addSink(sink.createSinkFunction())
            : rows.sinkTo(((SinkV2Provider) provider).createSink());
    ((ParallelismProvider) provider).getParallelism().ifPresent(written::setParallelism);
    dedup.uids().generateUid("sink").ifPresent(written::uid);
    return written;
  }

  @Override
  public DynamicTableSink copy() {
    FirstseenTableSink copy = new FirstseenTableSink(wrapped.copy(), dedup, columns);
    copy.insertsOnly = insertsOnly;
    return copy;
  }

  @Override
  public String asSummaryString() {
    return dedup.summary() + " before " + wrapped.asSummaryString();
  }
}
