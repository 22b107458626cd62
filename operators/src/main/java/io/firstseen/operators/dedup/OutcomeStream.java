package io.firstseen.operators.dedup;

import io.firstseen.serializers.Rejected;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;

/**
 * The output streams of a dedup that emits all its decisions on one stream.
 *
 * @param outcomes the result of every event that has a usable key and operation, with the event's
 *     timestamp; results of one key are in the order of its events. The parallelism may be set, up
 *     to the number of shards, unless {@link Firstseen#inTaskOfInput} was called; the uid and
 *     maximum parallelism must not be changed
 * @param deadLetters events without a usable key or operation, with the reason
 * @param <T> type of the events
 * @param <R> type of the results
 */
public record OutcomeStream<T, R>(
    SingleOutputStreamOperator<R> outcomes, DataStream<Rejected<T>> deadLetters) {}
