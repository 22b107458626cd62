package io.firstseen.benchmarks.dedup;

import io.firstseen.benchmarks.shared.Url;
import io.firstseen.serializers.Change;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Replaces the dedup operator by a function that does nothing. */
final class EmptyFunction extends KeyedProcessFunction<Integer, Change<Url>, Change<Url>> {
  private static final long serialVersionUID = 1;

  @Override
  public void processElement(Change<Url> change, Context context, Collector<Change<Url>> out) {}
}
