package io.firstseen.operators.dedup;

import io.firstseen.serializers.Change;
import io.firstseen.serializers.Outcome;
import java.io.Serializable;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Emits the events that the dedup has decided on.
 *
 * @param <T> type of the events
 * @param <R> type of the main output
 */
interface Emission<T, R> extends Serializable {

  default void open(RuntimeContext context) throws Exception {}

  /**
   * Emits an event.
   *
   * @param kind the decision; never {@link Outcome.Kind#DEAD_LETTER}
   * @param event may be reused for the emitted record
   */
  void emit(Outcome.Kind kind, StreamRecord<Change<T>> event, Output<StreamRecord<R>> output)
      throws Exception;
}
