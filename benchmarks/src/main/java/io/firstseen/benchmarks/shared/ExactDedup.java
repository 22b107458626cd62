package io.firstseen.benchmarks.shared;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * The usual dedup without Firstseen: a boolean in state for each key.
 *
 * @param <K> type of the keys
 * @param <T> type of the events
 */
public final class ExactDedup<K, T> extends KeyedProcessFunction<K, T, T> {
  private static final long serialVersionUID = 1;

  public static final ValueStateDescriptor<Boolean> SEEN =
      new ValueStateDescriptor<>("seen", Types.BOOLEAN);

  private transient ValueState<Boolean> seen;

  @Override
  public void open(OpenContext context) {
    seen = getRuntimeContext().getState(SEEN);
  }

  @Override
  public void processElement(T event, Context context, Collector<T> out) throws Exception {
    if (seen.value() == null) {
      seen.update(true);
      out.collect(event);
    }
  }
}
