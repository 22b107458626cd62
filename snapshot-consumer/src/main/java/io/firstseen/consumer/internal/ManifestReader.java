package io.firstseen.consumer.internal;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestCheck;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.TrustedKey;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a follower can use a published manifest, whatever its source is.
 *
 * @param setName the set that is followed
 * @param keyHash the hash function and key that the set must be made with; null for any
 * @param trustedKeys a manifest must carry a signature by one of these keys; empty if none is
 *     required
 */
public record ManifestReader(
    String setName, @Nullable KeyHash keyHash, Set<TrustedKey> trustedKeys) {

  /** Reads a manifest; checks that it belongs to the set, and its signature. */
  public Manifest read(byte[] bytes) throws SnapshotException {
    return ManifestCheck.read(bytes, setName, trustedKeys);
  }

  /** Checks that the snapshots of a manifest are made with the hash key of this follower. */
  public void requireReadable(Manifest manifest) throws SnapshotException {
    if (keyHash != null) {
      manifest.parameters().requireReadableBy(keyHash);
    }
  }

  /** The report on a manifest that is refused. */
  public String refusal(long sequence, String reason) {
    return "sequence %d of set '%s' cannot be used: %s".formatted(sequence, setName, reason);
  }

  /** The report on a manifest whose packs are refused. */
  public String detour(long sequence, String reason) {
    return "sequence %d of set '%s' cannot be reached by packs, so the bases are loaded: %s"
        .formatted(sequence, setName, reason);
  }
}
