package io.firstseen.consumer.internal;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestCheck;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.TrustedKey;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a follower can use a published manifest, independently of its source.
 *
 * @param setName the set that is followed
 * @param keyHash the required hash function and key of the set; null for any
 * @param trustedKeys a manifest must be signed by one of these keys; empty if no signature is
 *     required
 */
public record ManifestReader(
    String setName, @Nullable KeyHash keyHash, Set<TrustedKey> trustedKeys) {

  /** Reads a manifest and checks its set and its signature. */
  public Manifest read(byte[] bytes) throws SnapshotException {
    return ManifestCheck.read(bytes, setName, trustedKeys);
  }

  /** Checks that the snapshots of a manifest were built with this follower's hash key. */
  public void requireReadable(Manifest manifest) throws SnapshotException {
    if (keyHash != null) {
      manifest.parameters().requireReadableBy(keyHash);
    }
  }

  /** Returns the report on a manifest that is rejected. */
  public String refusal(long sequence, String reason) {
    return "sequence %d of set '%s' cannot be used: %s".formatted(sequence, setName, reason);
  }

  /** Returns the report on a manifest whose packs are rejected. */
  public String detour(long sequence, String reason) {
    return "sequence %d of set '%s' cannot be reached by packs, so the bases are loaded: %s"
        .formatted(sequence, setName, reason);
  }
}
