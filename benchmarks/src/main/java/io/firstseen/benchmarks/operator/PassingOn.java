package io.firstseen.benchmarks.operator;

import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * A keyed operator that only passes records on.
 *
 * @param <T> type of the records
 */
final class PassingOn<T> extends AbstractStreamOperator<T> implements OneInputStreamOperator<T, T> {
  private static final long serialVersionUID = 1;

  @Override
  public void processElement(StreamRecord<T> record) {
    output.collect(record);
  }
}
