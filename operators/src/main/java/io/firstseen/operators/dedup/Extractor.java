package io.firstseen.operators.dedup;

import java.io.Serializable;

/**
 * Takes one thing out of an event; a lambda or a method reference will do. It travels to the
 * cluster by Java serialisation, so what it captures must be serialisable.
 *
 * @param <T> type of the events
 * @param <R> type of what is taken out
 */
@FunctionalInterface
public interface Extractor<T, R> extends Serializable {
  /**
   * The value for one event, the same at every call for equal events: a replay relies on it.
   *
   * @param event the event, which must be neither changed nor kept
   * @return the value; each use says what null means. It must not change until the event has been
   *     passed on
   */
  R extract(T event);
}
