package io.firstseen.filters.snapshot;

import java.util.Collection;
import java.util.List;

/** Decides whether the bytes of a published manifest may be used. */
public final class ManifestCheck {

  private ManifestCheck() {}

  /**
   * Reads a published manifest, and checks its signature if there are trusted keys.
   *
   * @param keys the trusted keys; if empty, the manifest may be unsigned
   * @throws SnapshotException if the bytes are not a manifest, if it belongs to a different set, or
   *     if there are trusted keys and none of them signed it
   */
  public static Manifest read(byte[] bytes, String setName, Collection<TrustedKey> keys)
      throws SnapshotException {
    Manifest manifest = keys.isEmpty() ? Manifest.read(bytes) : requireSigned(bytes, keys);
    if (!manifest.setName().equals(setName)) {
      throw new MalformedSnapshotException("it belongs to set '" + manifest.setName() + "'");
    }
    return manifest;
  }

  /**
   * Reads a published manifest and checks that it is signed by one of these keys.
   *
   * @param bytes the manifest as it was published
   * @throws UntrustedManifestException if it has no signature, an invalid signature, or a signature
   *     of a different key
   * @throws SnapshotException if the bytes are not a manifest that this version can read
   */
  public static Manifest requireSigned(byte[] bytes, Collection<TrustedKey> keys)
      throws SnapshotException {
    Manifest manifest = Manifest.read(bytes);
    ManifestSignature signature = manifest.signature();
    if (signature == null) {
      throw new UntrustedManifestException("the manifest has no signature");
    }
    byte[] signed = ManifestFormat.signedPart(bytes);
    List<TrustedKey> named = keys.stream().filter(key -> key.id().equals(signature.key())).toList();
    if (named.stream().anyMatch(key -> key.verifies(signed, signature.bytes()))) {
      return manifest;
    }
    String problem =
        named.isEmpty()
            ? "the manifest is signed by the key %s, which is not trusted"
            : "the manifest is not what the key %s signed";
    throw new UntrustedManifestException(problem.formatted(signature.key()));
  }
}
