package io.firstseen.operators.dedup;

import io.firstseen.serializers.Change;
import io.firstseen.serializers.Rejected;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;

/**
 * The output streams of a dedup. Every event is emitted once, on one of them, with its timestamp.
 * On each stream, the events of one key keep their order.
 *
 * @param accepted an add for every key seen for the first time (since it was last removed), and a
 *     delete for every key removed. Replayed in order, they give the live keys. The parallelism may
 *     be set, up to the number of shards; the uid and maximum parallelism must not be changed
 * @param duplicates adds of keys that the filter holds, including a share of the adds of new keys,
 *     at most the false-positive rate
 * @param unknownDeletes deletes of keys that the filter does not hold
 * @param deadLetters events without a usable key or operation, with the reason
 * @param falselyDropped adds of new keys that the filter reported as duplicates, among the audited
 *     hashes. They are not on {@code duplicates}. Empty without an audit
 * @param <T> type of the events
 */
public record DedupStreams<T>(
    SingleOutputStreamOperator<Change<T>> accepted,
    DataStream<Change<T>> duplicates,
    DataStream<Change<T>> unknownDeletes,
    DataStream<Rejected<T>> deadLetters,
    DataStream<Change<T>> falselyDropped) {}
