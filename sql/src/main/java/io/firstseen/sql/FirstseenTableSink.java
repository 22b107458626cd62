package io.firstseen.sql;

import java.util.List;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.sink.DataStreamSinkProvider;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.sink.SinkV2Provider;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.RowKind;

/** Writes to a table through a dedup. */
final class FirstseenTableSink implements DynamicTableSink {
  private final DynamicTableSink wrapped;
  private final TableDedup dedup;

  /** Whether the query only inserts; known once the planner has asked for the changelog mode. */
  private boolean insertsOnly;

  FirstseenTableSink(DynamicTableSink wrapped, TableDedup dedup) {
    this.wrapped = wrapped;
    this.dedup = dedup;
  }

  @Override
  public ChangelogMode getChangelogMode(ChangelogMode requested) {
    insertsOnly = requested.containsOnly(RowKind.INSERT);
    ChangelogMode accepted = insertsOnly ? requested : TableDedup.accepted(ChangelogMode.all());
    ChangelogMode written = wrapped.getChangelogMode(accepted);
    for (RowKind kind : accepted.getContainedKinds()) {
      if (!written.contains(kind)) {
        throw new ValidationException(
            "the query gives %s, so connector '%s' must take %s, it takes %s"
                .formatted(requested, wrapped.asSummaryString(), accepted, written));
      }
    }
    // With the old rows of updates, whose keys are deleted.
    return insertsOnly ? ChangelogMode.insertOnly() : ChangelogMode.all();
  }

  @Override
  public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
    SinkRuntimeProvider provider = wrapped.getSinkRuntimeProvider(context);
    if (!(provider instanceof SinkV2Provider) && !(provider instanceof DataStreamSinkProvider)) {
      throw TableDedup.unknown(
          wrapped.asSummaryString(), provider, List.of("SinkV2Provider", "DataStreamSinkProvider"));
    }
    return new DataStreamSinkProvider() {
      @Override
      public DataStreamSink<?> consumeDataStream(
          ProviderContext planner, DataStream<RowData> rows) {
        return write(provider, dedup.firstSeen(rows));
      }
    };
  }

  private DataStreamSink<?> write(SinkRuntimeProvider provider, DataStream<RowData> rows) {
    if (provider instanceof DataStreamSinkProvider sink) {
      return sink.consumeDataStream(dedup.uids(), rows);
    }
    SinkV2Provider sink = (SinkV2Provider) provider;
    DataStreamSink<RowData> written = rows.sinkTo(sink.createSink());
    sink.getParallelism().ifPresent(written::setParallelism);
    dedup.uids().generateUid("sink").ifPresent(written::uid);
    return written;
  }

  @Override
  public DynamicTableSink copy() {
    FirstseenTableSink copy = new FirstseenTableSink(wrapped.copy(), dedup);
    copy.insertsOnly = insertsOnly;
    return copy;
  }

  @Override
  public String asSummaryString() {
    return dedup.summary() + " before " + wrapped.asSummaryString();
  }
}
