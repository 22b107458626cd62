package io.firstseen.operators.dedup;

import io.firstseen.types.Change;
import io.firstseen.types.Rejected;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;

/**
 * The four streams that a dedup gives. For one key each stream keeps the order of the events.
 *
 * @param accepted an add for every key seen for the first time (since it was last removed), a
 *     delete for every key removed
 * @param duplicates adds of keys that the filter holds
 * @param unknownDeletes deletes of keys that the filter does not hold
 * @param deadLetters events without a usable key
 * @param <T> type of the events
 */
public record DedupStreams<T>(
    SingleOutputStreamOperator<Change<T>> accepted,
    DataStream<Change<T>> duplicates,
    DataStream<Change<T>> unknownDeletes,
    DataStream<Rejected<T>> deadLetters) {}
