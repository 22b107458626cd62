package io.firstseen.jobs;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.near.NearRule;
import io.firstseen.filters.near.TextSignature;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.operators.KeyHashSource;
import io.firstseen.serializers.HashedOperation;
import io.firstseen.types.Operation;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;

/**
 * Maps elements to operations on the hashes that the snapshots contain for a key: its hash or, with
 * a rule for near-duplicates, also its bands.
 *
 * @param <T> the elements
 */
abstract class SetHashes<T> extends RichFlatMapFunction<T, HashedOperation> {
  private static final long serialVersionUID = 1;

  private final KeyHashSource hashSource;
  private final @Nullable NearRule near;
  private transient KeyHash hash;
  private transient @Nullable TextSignature signature;

  SetHashes(JobOptions options) {
    hashSource = options.snapshotKeyHashSource();
    near = options.near().orElse(null);
  }

  @Override
  public void open(OpenContext context) {
    hash = hashSource.open();
    signature = near == null ? null : new TextSignature(near, hash);
  }

  /** Emits an operation on each hash of a canonical key, which is prefixed with its scope. */
  final void emit(Operation operation, byte[] joined, Collector<HashedOperation> out) {
    long[] elements =
        signature == null ? new long[] {hash.hash(joined)} : signature.elements(joined);
    for (long element : elements) {
      out.collect(new HashedOperation(element, operation));
    }
  }
}
