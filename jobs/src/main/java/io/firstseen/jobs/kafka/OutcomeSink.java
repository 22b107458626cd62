package io.firstseen.jobs.kafka;

import io.firstseen.jobs.shared.OperatorUids;
import io.firstseen.serializers.Outcome;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.streaming.api.connector.sink2.SupportsPreWriteTopology;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.util.function.SerializableFunction;

/**
 * A Kafka sink of outcomes, after an operator that ensures that only one job writes them.
 *
 * @param <R> the element type of the Kafka sink
 */
final class OutcomeSink<R> extends DeferredKafkaSink<Outcome, R>
    implements SupportsPreWriteTopology<Outcome> {
  private static final long serialVersionUID = 1;

  private final OutputClaim claim;
  private final OutcomeShards shards;

  /** Creates the sink. It uses the transactional ids of the claim. */
  OutcomeSink(
      SerializableFunction<Outcome, Iterable<R>> parts,
      SerializableFunction<String, KafkaSink<R>> withPrefix,
      OutputClaim claim,
      OutcomeShards shards) {
    super(parts, withPrefix, claim.idsOfSink(), claim.topics().names().values(), claim);
    this.claim = claim;
    this.shards = shards;
  }

  @Override
  public DataStream<Outcome> addPreWriteTopology(DataStream<Outcome> outcomes) {
    return outcomes
        .transform(
            OperatorUids.ONE_WRITER,
            TypeInformation.of(Outcome.class),
            new OneWriterOperator(claim, shards))
        .uid(OperatorUids.ONE_WRITER);
  }
}
