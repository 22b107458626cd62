package io.firstseen.filters.snapshot;

/** Thrown if a manifest is not signed by a trusted key. */
public final class UntrustedManifestException extends SnapshotException {
  private static final long serialVersionUID = 1;

  UntrustedManifestException(String message) {
    super(message);
  }
}
