package io.firstseen.operators.dedup;

import io.firstseen.serializers.Change;
import io.firstseen.serializers.Outcome;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.OutputTag;

/**
 * Sends events that change the set of live keys to the main output, and all other events to side
 * outputs.
 *
 * @param <T> type of the events
 */
final class SideOutputs<T> implements Emission<T, Change<T>> {
  private static final long serialVersionUID = 1;

  final OutputTag<Change<T>> duplicates;
  final OutputTag<Change<T>> unknownDeletes;
  final OutputTag<Change<T>> falselyDropped;

  SideOutputs(TypeInformation<Change<T>> type) {
    duplicates = new OutputTag<>("duplicates", type);
    unknownDeletes = new OutputTag<>("unknown-deletes", type);
    falselyDropped = new OutputTag<>("falsely-dropped", type);
  }

  @Override
  public void emit(
      Outcome.Kind kind, StreamRecord<Change<T>> event, Output<StreamRecord<Change<T>>> output) {
    switch (kind) {
      case ACCEPTED, REMOVED -> output.collect(event);
      case DUPLICATE -> output.collect(duplicates, event);
      case UNKNOWN_DELETE -> output.collect(unknownDeletes, event);
      case FALSE_DUPLICATE -> output.collect(falselyDropped, event);
      case DEAD_LETTER -> throw new IllegalArgumentException(kind + " is not a decision");
    }
  }
}
