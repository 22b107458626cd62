package io.firstseen.benchmarks.dedup;

import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;

/**
 * Counts and drops records, and tells {@link Stages} when a stage is done.
 *
 * @param <T> type of the records
 */
final class CountingSink<T> implements Sink<T> {
  private static final long serialVersionUID = 1;

  @Override
  public SinkWriter<T> createWriter(WriterInitContext context) {
    return new Writer<>();
  }

  private static final class Writer<T> implements SinkWriter<T> {
    private final Stages stages = Stages.current();
    private long written;

    Writer() {
      stages.sinkMade();
    }

    @Override
    public void write(T record, Context context) {
      written++;
    }

    @Override
    public void writeWatermark(Watermark watermark) {
      stages.arrived(watermark.getTimestamp(), written);
      written = 0;
    }

    @Override
    public void flush(boolean endOfInput) {}

    @Override
    public void close() {}
  }
}
