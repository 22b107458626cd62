package io.firstseen.serializers;

import io.firstseen.filters.near.NearMatch;
import io.firstseen.types.Operation;
import java.util.Arrays;
import java.util.Objects;
import org.apache.flink.api.common.typeinfo.TypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * An operation on one key, with the event that requested it.
 *
 * <p>On the accepted stream an {@link Operation#ADD} means a key seen for the first time, and an
 * {@link Operation#DELETE} means a key that was removed.
 *
 * @param operation the requested operation; on the accepted stream, the one that was done
 * @param key the canonical form of the key, prefixed with its scope as by {@link
 *     io.firstseen.filters.key.ScopedKey}
 * @param hash the key's hash
 * @param bands with {@link io.firstseen.filters.near.NearRule}, the hashes of the text's bands, of
 *     the text and of its sample, and {@code hash} is the hash of its scope; null otherwise
 * @param match with {@code NearRule}, the text that the text of an add matches, as far as it is
 *     known; for an accepted text the text itself. Null otherwise, and before the decision
 * @param event the user's event
 * @param <T> type of the events
 */
@TypeInfo(ChangeSerializer.InfoFactory.class)
// Equality by content is written out below.
@SuppressWarnings("ArrayRecordComponent")
public record Change<T>(
    Operation operation,
    byte[] key,
    long hash,
    long @Nullable [] bands,
    T event,
    @Nullable NearMatch match) {

  /** A change before the decision. */
  public Change(Operation operation, byte[] key, long hash, long @Nullable [] bands, T event) {
    this(operation, key, hash, bands, event, null);
  }

  /** A change of a key that is compared as a whole. */
  public Change(Operation operation, byte[] key, long hash, T event) {
    this(operation, key, hash, null, event);
  }

  /** Returns a copy with a match. */
  public Change<T> withMatch(@Nullable NearMatch newMatch) {
    return new Change<>(operation, key, hash, bands, event, newMatch);
  }

  /** Returns the hash of the key, also if {@link #hash} is the hash of its scope. */
  public long keyHash() {
    return bands == null ? hash : bands[bands.length - 2];
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Change<?> that
        && operation == that.operation
        && Arrays.equals(key, that.key)
        && hash == that.hash
        && Arrays.equals(bands, that.bands)
        && Objects.equals(event, that.event)
        && Objects.equals(match, that.match);
  }

  @Override
  public int hashCode() {
    return Objects.hash(
        operation, Arrays.hashCode(key), hash, Arrays.hashCode(bands), event, match);
  }
}
