package io.firstseen.sql;

import io.firstseen.consumer.SnapshotClient;
import io.firstseen.filters.key.InvalidKeyException;
import java.time.Duration;
import java.util.List;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.types.inference.CallContext;
import org.jspecify.annotations.Nullable;

/**
 * {@code SNAPSHOT_CONTAINS(set, key)} returns whether the current snapshot of a set contains a key,
 * like {@link SnapshotClient#mightContain(byte[], byte[])}. {@code SNAPSHOT_CONTAINS(set, key,
 * scope)} looks the key up in a scope. The set is a literal; key and scope are STRINGs or BYTES,
 * the key before canonicalisation. Returns NULL for a NULL key and for a key without a canonical
 * form, which cannot be looked up. A NULL or empty scope means none.
 */
public final class SnapshotContains extends SnapshotFunction {
  private static final long serialVersionUID = 2;

  /**
   * Called by Flink: {@code CREATE FUNCTION SNAPSHOT_CONTAINS AS
   * 'io.firstseen.sql.SnapshotContains'}.
   */
  public SnapshotContains() {
    this(List.of(), Duration.ZERO);
  }

  private SnapshotContains(List<Source> sources, Duration wait) {
    super(sources, wait);
  }

  @Override
  String sqlName() {
    return "SNAPSHOT_CONTAINS";
  }

  @Override
  SnapshotFunction specialized(List<Source> sources, Duration wait, CallContext call) {
    return new SnapshotContains(sources, wait);
  }

  /** Evaluates the function for a key in UTF-8. */
  public @Nullable Boolean eval(
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) StringData set,
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) @Nullable StringData key) {
    return contains(bytes(key), null);
  }

  /** Evaluates the function for a key of bytes. */
  public @Nullable Boolean eval(
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) StringData set,
      byte @Nullable [] key) {
    return contains(key, null);
  }

  /** Evaluates the function for a key and a scope in UTF-8. */
  public @Nullable Boolean eval(
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) StringData set,
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) @Nullable StringData key,
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) @Nullable StringData scope) {
    return contains(bytes(key), bytes(scope));
  }

  /** Evaluates the function for a key and a scope of bytes. */
  public @Nullable Boolean eval(
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) StringData set,
      byte @Nullable [] key,
      byte @Nullable [] scope) {
    return contains(key, scope);
  }

  private @Nullable Boolean contains(byte @Nullable [] key, byte @Nullable [] scope) {
    if (key == null) {
      return null;
    }
    try {
      return client(0).mightContain(scope, key);
    } catch (InvalidKeyException e) {
      // NULL, so that neither the condition nor its negation holds.
      return null;
    }
  }
}
