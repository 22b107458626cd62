package io.firstseen.operators;

import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.OutputTag;

/**
 * Drops all records.
 *
 * @param <T> type of the records
 */
final class NoOutput<T> implements Output<StreamRecord<T>> {
  @Override
  public void collect(StreamRecord<T> record) {}

  @Override
  public <X> void collect(OutputTag<X> tag, StreamRecord<X> record) {}

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
