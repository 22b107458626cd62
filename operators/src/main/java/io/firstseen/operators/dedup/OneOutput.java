package io.firstseen.operators.dedup;

import io.firstseen.serializers.Change;
import io.firstseen.serializers.Outcome;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.functions.util.FunctionUtils;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Sends the result of every event to the main output.
 *
 * @param <T> type of the events
 * @param <R> type of the results
 */
final class OneOutput<T, R> implements Emission<T, R> {
  private static final long serialVersionUID = 1;

  private final OutcomeFunction<T, R> outcome;

  OneOutput(OutcomeFunction<T, R> outcome) {
    this.outcome = outcome;
  }

  @Override
  public void open(RuntimeContext context) throws Exception {
    FunctionUtils.setFunctionRuntimeContext(outcome, context);
    FunctionUtils.openFunction(outcome, new OpenContext() {});
  }

  @Override
  public void emit(Outcome.Kind kind, StreamRecord<Change<T>> event, Output<StreamRecord<R>> output)
      throws Exception {
    R result = outcome.apply(kind, event.getValue());
    if (result != null) {
      output.collect(event.replace(result));
    }
  }
}
