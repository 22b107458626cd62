package io.firstseen.operators.dedup;

import io.firstseen.serializers.Change;
import io.firstseen.serializers.Rejected;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;

/**
 * The streams that a dedup gives. Every event comes out on one of them, once, with its timestamp;
 * the events of one key that came in order stay in order on each stream.
 *
 * @param accepted an add for every key seen for the first time (since it was last removed), a
 *     delete for every key removed: replayed in order, the live keys. Its parallelism may be set,
 *     up to the number of shards; its uid and maximum parallelism must stay as they are
 * @param duplicates adds of keys that the filter holds, and at most the false-positive rate of the
 *     adds of new keys
 * @param unknownDeletes deletes of keys that the filter does not hold
 * @param deadLetters events without a usable key or operation, with the reason
 * @param falselyDropped adds that the filter took for duplicates although they are new, as far as
 *     the audit knows: of one hash in so many. They are not on {@code duplicates}. Empty without an
 *     audit
 * @param <T> type of the events
 */
public record DedupStreams<T>(
    SingleOutputStreamOperator<Change<T>> accepted,
    DataStream<Change<T>> duplicates,
    DataStream<Change<T>> unknownDeletes,
    DataStream<Rejected<T>> deadLetters,
    DataStream<Change<T>> falselyDropped) {}
