package io.firstseen.jobs.shared;

import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.SnapshotRecord;
import java.util.List;
import java.util.Set;

/**
 * Checks that the blobs for the first manifest of a job exist in the topic or directory of the set.
 * Restored state assumes that they were published. They are missing if the job published elsewhere
 * when it wrote the state, or if the state is so old that they were deleted since.
 */
public final class BlobsInPlace {

  private BlobsInPlace() {}

  /**
   * Requires all blobs in use.
   *
   * @param digests the digests of the existing blobs
   * @param place the location for the error message, such as "in s3://bucket/spam"
   * @throws UserErrorException if a blob is missing
   */
  public static void require(SnapshotRecord inUse, Set<String> digests, String place) {
    List<String> needed = inUse.digestsInUse();
    List<String> missing =
        needed.stream().filter(digest -> !digests.contains(digest)).sorted().toList();
    if (!missing.isEmpty()) {
      throw new UserErrorException(
          ("set %s needs %d blobs, but %d of them are not %s, such as %s: the job published "
                  + "elsewhere when it wrote its state, or the state is so old that the blobs were "
                  + "deleted (restore the blobs, or start without state)")
              .formatted(inUse.key(), needed.size(), missing.size(), place, missing.get(0)));
    }
  }
}
