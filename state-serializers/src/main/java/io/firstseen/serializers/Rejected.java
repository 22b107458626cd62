package io.firstseen.serializers;

import org.apache.flink.api.common.typeinfo.TypeInfo;

/**
 * An event without a usable key or operation.
 *
 * @param reason why it was rejected, in a few words
 * @param event the user's event
 * @param <T> type of the events
 */
@TypeInfo(RejectedSerializer.InfoFactory.class)
public record Rejected<T>(String reason, T event) {}
