package io.firstseen.benchmarks.shared;

import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;

/**
 * Counts and drops records, and tells {@link Stages} when a stage is done.
 *
 * @param <T> type of the records
 */
public final class CountingSink<T> implements Sink<T> {
  private static final long serialVersionUID = 1;

  private static final int TOLD_AT_ONCE = 1024;

  @Override
  public SinkWriter<T> createWriter(WriterInitContext context) {
    return new Writer<>();
  }

  private static final class Writer<T> implements SinkWriter<T> {
    private final Stages stages = Stages.current();
    private long untold;

    Writer() {
      stages.sinkMade();
    }

    @Override
    public void write(T record, Context context) {
      if (++untold == TOLD_AT_ONCE) {
        tell();
      }
    }

    private void tell() {
      stages.received(untold);
      untold = 0;
    }

    @Override
    public void writeWatermark(Watermark watermark) {
      tell();
      stages.arrived(watermark.getTimestamp());
    }

    @Override
    public void flush(boolean endOfInput) {}

    @Override
    public void close() {}
  }
}
