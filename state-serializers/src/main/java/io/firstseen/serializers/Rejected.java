package io.firstseen.serializers;

import org.apache.flink.api.common.typeinfo.TypeInfo;

/**
 * An event that has no usable key.
 *
 * @param reason why not, in a few words for a human
 * @param event the user's event
 * @param <T> type of the events
 */
@TypeInfo(RejectedSerializer.InfoFactory.class)
public record Rejected<T>(String reason, T event) {}
