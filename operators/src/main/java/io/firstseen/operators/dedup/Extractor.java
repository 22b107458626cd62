package io.firstseen.operators.dedup;

import java.io.Serializable;

/**
 * Extracts a value from an event; may be a lambda or a method reference. It is sent to the cluster
 * by Java serialisation, so everything that it captures must be serialisable.
 *
 * @param <T> type of the events
 * @param <R> type of the values
 */
@FunctionalInterface
public interface Extractor<T, R> extends Serializable {
  /**
   * Returns the value of an event. It must be equal for equal events, because replays depend on it.
   *
   * @param event the event; must not be changed or stored
   * @return the value; the meaning of null is described where the extractor is used. It must not
   *     change later, so an array must not be reused for the next event
   */
  R extract(T event);
}
