package io.firstseen.sql;

import io.firstseen.consumer.SnapshotClient;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.NearTexts;
import java.time.Duration;
import java.util.List;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.types.inference.CallContext;
import org.jspecify.annotations.Nullable;

/**
 * {@code SNAPSHOT_RESEMBLES(set, text)} returns how many bands a text shares with the live text of
 * the current snapshot that resembles it most, like {@link SnapshotClient#resembles(byte[],
 * byte[])}: 0 if no live text resembles it. {@code SNAPSHOT_RESEMBLES(set, text, scope)} looks the
 * text up in a scope. The set is a literal with the name of a set that has a rule for
 * near-duplicates; text and scope are STRINGs or BYTES, the text before canonicalisation. Returns
 * NULL for a NULL text and for a text without a canonical form, which cannot be looked up. A NULL
 * or empty scope means none.
 */
public final class SnapshotResembles extends SnapshotFunction {
  private static final long serialVersionUID = 2;

  /**
   * Called by Flink: {@code CREATE FUNCTION SNAPSHOT_RESEMBLES AS
   * 'io.firstseen.sql.SnapshotResembles'}.
   */
  public SnapshotResembles() {
    this(List.of(), Duration.ZERO);
  }

  private SnapshotResembles(List<Source> sources, Duration wait) {
    super(sources, wait);
  }

  @Override
  String sqlName() {
    return "SNAPSHOT_RESEMBLES";
  }

  @Override
  SnapshotFunction specialized(List<Source> sources, Duration wait, CallContext call) {
    return new SnapshotResembles(sources, wait);
  }

  @Override
  void requireUsable() {
    Manifest manifest = client(0).status().snapshot().orElseThrow().manifest();
    NearTexts.requireRule(manifest.setName(), manifest.parameters());
  }

  /** Evaluates the function for a text in UTF-8. */
  public @Nullable Integer eval(
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) StringData set,
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) @Nullable StringData text) {
    return resembles(bytes(text), null);
  }

  /** Evaluates the function for a text of bytes. */
  public @Nullable Integer eval(
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) StringData set,
      byte @Nullable [] text) {
    return resembles(text, null);
  }

  /** Evaluates the function for a text and a scope in UTF-8. */
  public @Nullable Integer eval(
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) StringData set,
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) @Nullable StringData text,
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) @Nullable StringData scope) {
    return resembles(bytes(text), bytes(scope));
  }

  /** Evaluates the function for a text and a scope of bytes. */
  public @Nullable Integer eval(
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) StringData set,
      byte @Nullable [] text,
      byte @Nullable [] scope) {
    return resembles(text, scope);
  }

  private @Nullable Integer resembles(byte @Nullable [] text, byte @Nullable [] scope) {
    if (text == null) {
      return null;
    }
    try {
      return client(0).resembles(scope, text);
    } catch (InvalidKeyException e) {
      // NULL, so that neither the condition nor its negation holds.
      return null;
    }
  }
}
