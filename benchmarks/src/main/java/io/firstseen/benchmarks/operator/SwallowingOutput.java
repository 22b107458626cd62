package io.firstseen.benchmarks.operator;

import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.OutputTag;

/**
 * Counts records and drops them.
 *
 * @param <T> type of the records
 */
public class SwallowingOutput<T> implements Output<StreamRecord<T>> {
  private long main;
  private long side;

  public long main() {
    return main;
  }

  public long side() {
    return side;
  }

  public void clear() {
    main = 0;
    side = 0;
  }

  @Override
  public void collect(StreamRecord<T> record) {
    main++;
  }

  @Override
  public <X> void collect(OutputTag<X> tag, StreamRecord<X> record) {
    side++;
  }

  @Override
  public void emitWatermark(Watermark mark) {}

  @Override
  public void emitWatermarkStatus(WatermarkStatus status) {}

  @Override
  public void emitLatencyMarker(LatencyMarker marker) {}

  @Override
  public void emitRecordAttributes(RecordAttributes attributes) {}

  @Override
  public void emitWatermark(WatermarkEvent event) {}

  @Override
  public void close() {}
}
