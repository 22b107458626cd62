package io.firstseen.benchmarks.dedup;

import io.firstseen.serializers.Change;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Does nothing in the dedup operator's place. */
final class EmptyFunction extends KeyedProcessFunction<Integer, Change<Url>, Change<Url>> {
  private static final long serialVersionUID = 1;

  @Override
  public void processElement(Change<Url> change, Context context, Collector<Change<Url>> out) {}
}
