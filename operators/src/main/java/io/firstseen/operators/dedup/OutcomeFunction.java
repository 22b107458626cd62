package io.firstseen.operators.dedup;

import io.firstseen.serializers.Change;
import io.firstseen.serializers.Outcome;
import org.apache.flink.api.common.functions.Function;
import org.jspecify.annotations.Nullable;

/**
 * Creates the result that a dedup emits for an event. May be a {@link
 * org.apache.flink.api.common.functions.RichFunction}, of which only {@code open} is called.
 *
 * @param <T> type of the events
 * @param <R> type of the results
 */
@FunctionalInterface
public interface OutcomeFunction<T, R> extends Function {
  /**
   * Creates the result of an event. A replay of the event must give an equal result.
   *
   * @param kind the decision; never {@link Outcome.Kind#DEAD_LETTER}. A {@link
   *     Outcome.Kind#FALSE_DUPLICATE} is an add of a new key that the filter reported as a
   *     duplicate, among the audited hashes
   * @param change the event, with its canonical key and hash; must not be changed
   * @return the result; null to emit no result
   */
  @Nullable R apply(Outcome.Kind kind, Change<T> change) throws Exception;
}
