package io.firstseen.jobs.shared;

import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.SnapshotRecord;
import java.util.List;
import java.util.Set;

/**
 * Checks that the blobs that a job needs for its first manifest exist where it publishes. Restored
 * state assumes that they were published; they are missing if the state is of a job that published
 * elsewhere, or so old that they were removed since.
 */
public final class BlobsInPlace {

  private BlobsInPlace() {}

  /** Whether all blobs in use are among these. */
  public static boolean areAll(SnapshotRecord inUse, Set<String> digests) {
    return digests.containsAll(inUse.digestsInUse());
  }

  /**
   * Refuses to go on without a blob in use.
   *
   * @param digests of the blobs that exist
   * @param place the location for the error message, such as "in s3://bucket/spam"
   * @throws UserErrorException if a blob is missing
   */
  public static void require(SnapshotRecord inUse, Set<String> digests, String place) {
    List<String> needed = inUse.digestsInUse();
    List<String> missing =
        needed.stream().filter(digest -> !digests.contains(digest)).sorted().toList();
    if (!missing.isEmpty()) {
      throw new UserErrorException(
          ("set %s needs %d blobs, of which %d are not %s, such as %s: the job published elsewhere"
                  + " when its state was written, or the state is so old that they were removed (put"
                  + " them there, or start without state)")
              .formatted(inUse.key(), needed.size(), missing.size(), place, missing.get(0)));
    }
  }
}
