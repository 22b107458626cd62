package io.firstseen.benchmarks.state;

import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.BooleanSerializer;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Exact dedup with one boolean for each key's hash; the reference for pages. */
final class ExactSubject extends AbstractStreamOperator<Long>
    implements OneInputStreamOperator<Long, Long> {
  private static final long serialVersionUID = 1;

  private transient ValueState<Boolean> seen;
  private long firstSeen;

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    seen =
        context
            .getKeyedStateStore()
            .getState(new ValueStateDescriptor<>("seen", BooleanSerializer.INSTANCE));
  }

  @Override
  public void processElement(StreamRecord<Long> record) throws Exception {
    if (seen.value() == null) {
      seen.update(true);
      firstSeen++;
    }
  }

  long firstSeen() {
    return firstSeen;
  }
}
