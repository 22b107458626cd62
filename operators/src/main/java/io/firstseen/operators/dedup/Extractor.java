package io.firstseen.operators.dedup;

import java.io.Serializable;

/**
 * Takes one thing out of an event.
 *
 * @param <T> type of the events
 * @param <R> type of what is taken out
 */
@FunctionalInterface
public interface Extractor<T, R> extends Serializable {
  /** The value for one event; the event must not be changed or kept. */
  R extract(T event);
}
