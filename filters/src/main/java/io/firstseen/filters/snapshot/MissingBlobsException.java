package io.firstseen.filters.snapshot;

import java.util.List;

/** Thrown if blobs that are needed do not exist. */
public final class MissingBlobsException extends SnapshotException {
  private static final long serialVersionUID = 1L;

  private final transient List<BlobReference> blobs;

  /** Creates the exception for blobs, at least one. */
  public MissingBlobsException(List<BlobReference> blobs) {
    super(
        blobs.size() == 1
            ? "blob " + blobs.get(0).digest() + " is missing"
            : blobs.size() + " blobs are missing, the first is " + blobs.get(0).digest());
    this.blobs = List.copyOf(blobs);
  }

  /** Creates the exception for one blob, with a message that states where the blob is missing. */
  public MissingBlobsException(BlobReference blob, String message) {
    super(message);
    this.blobs = List.of(blob);
  }

  /** Returns the missing blobs. */
  public List<BlobReference> blobs() {
    return blobs;
  }
}
