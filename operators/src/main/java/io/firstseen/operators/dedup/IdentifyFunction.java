package io.firstseen.operators.dedup;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.ScopedKey;
import io.firstseen.filters.near.NearRule;
import io.firstseen.filters.near.TextSignature;
import io.firstseen.operators.KeyHashSource;
import io.firstseen.serializers.Change;
import io.firstseen.serializers.Rejected;
import io.firstseen.types.Operation;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFunction;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;
import org.jspecify.annotations.Nullable;

/**
 * Computes every event's canonical key and hash; rejects events with a problem, or without a usable
 * key or operation.
 *
 * @param <T> type of the events
 */
final class IdentifyFunction<T> extends ProcessFunction<T, Change<T>> {
  private static final long serialVersionUID = 1;
  private static final byte[] NO_SCOPE = {};

  private final Extractor<T, String> problem;
  private final Extractor<T, byte[]> key;
  private final Extractor<T, Operation> operation;
  private final Extractor<T, byte[]> scope;
  private final Canonicaliser canonicaliser;
  private final @Nullable NearRule near;
  private final KeyHashSource hashSource;
  private final OutputTag<Rejected<T>> rejectedTag;

  private transient KeyHash hash;
  private transient @Nullable TextSignature signature;
  private transient Counter deadLetters;

  IdentifyFunction(
      Extractor<T, String> problem,
      Extractor<T, byte[]> key,
      Extractor<T, Operation> operation,
      Extractor<T, byte[]> scope,
      Canonicaliser canonicaliser,
      @Nullable NearRule near,
      KeyHashSource hashSource,
      OutputTag<Rejected<T>> rejectedTag) {
    this.problem = problem;
    this.key = key;
    this.operation = operation;
    this.scope = scope;
    this.canonicaliser = canonicaliser;
    this.near = near;
    this.hashSource = hashSource;
    this.rejectedTag = rejectedTag;
  }

  @Override
  public void open(OpenContext context) throws Exception {
    if (problem instanceof RichFunction rich) {
      rich.setRuntimeContext(getRuntimeContext());
      rich.open(context);
    }
    hash = hashSource.open();
    signature = near == null ? null : new TextSignature(near, hash);
    deadLetters = getRuntimeContext().getMetricGroup().counter("deadLetters");
  }

  @Override
  public void processElement(T event, Context context, Collector<Change<T>> out) {
    String unusable = problem.extract(event);
    if (unusable != null) {
      reject(unusable, event, context);
      return;
    }
    byte[] rawKey = key.extract(event);
    if (rawKey == null) {
      reject("key is missing", event, context);
      return;
    }
    Operation asked = operation.extract(event);
    if (asked == null) {
      reject("operation is missing", event, context);
      return;
    }
    byte[] ofScope = scope.extract(event);
    byte[] canonical;
    byte[] joined;
    try {
      canonical = canonicaliser.canonicalise(rawKey);
      joined = ScopedKey.join(ofScope, canonical);
    } catch (InvalidKeyException e) {
      reject(e.getMessage(), event, context);
      return;
    }
    if (signature == null) {
      out.collect(new Change<>(asked, joined, hash.hash(joined), event));
    } else {
      // All texts of a scope are compared by one task.
      long scopeHash = hash.hash(ofScope == null ? NO_SCOPE : ofScope);
      long[] bands = signature.hashesAndSample(canonical, scopeHash, hash.hash(joined));
      out.collect(new Change<>(asked, joined, scopeHash, bands, event));
    }
  }

  private void reject(String reason, T event, Context context) {
    deadLetters.inc();
    context.output(rejectedTag, new Rejected<>(reason, event));
  }
}
