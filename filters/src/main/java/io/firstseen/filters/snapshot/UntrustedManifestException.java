package io.firstseen.filters.snapshot;

/** No trusted key has signed a manifest. */
public final class UntrustedManifestException extends SnapshotException {
  private static final long serialVersionUID = 1;

  UntrustedManifestException(String message) {
    super(message);
  }
}
