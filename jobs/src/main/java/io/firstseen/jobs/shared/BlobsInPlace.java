package io.firstseen.jobs.shared;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestShard;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Checks that the blobs of a job's first manifest exist where it publishes. Restored state assumes
 * that they were published; they are missing if the state is of a job that published elsewhere, or
 * so old that they were removed since.
 */
public final class BlobsInPlace {

  private BlobsInPlace() {}

  /** Whether all blobs that a manifest names are among these. */
  public static boolean areAll(Manifest manifest, Set<String> digests) {
    return digests.containsAll(named(manifest));
  }

  /**
   * Refuses a manifest that names missing blobs.
   *
   * @param digests of the blobs that exist
   * @param place the location for the error message, such as "in s3://bucket/spam"
   * @throws UserErrorException if a blob is missing
   */
  public static void require(Manifest manifest, Set<String> digests, String place) {
    Set<String> named = named(manifest);
    Set<String> missing = new HashSet<>(named);
    missing.removeAll(digests);
    Optional<String> one = missing.stream().min(String::compareTo);
    if (one.isPresent()) {
      throw new UserErrorException(
          ("manifest %d of set %s names %d blobs, of which %d are not %s, such as %s: the job"
                  + " published elsewhere when its state was written, or the state is so old that"
                  + " they were removed (put them there, or start without state)")
              .formatted(
                  manifest.sequence(),
                  manifest.setName(),
                  named.size(),
                  missing.size(),
                  place,
                  one.get()));
    }
  }

  private static Set<String> named(Manifest manifest) {
    Set<String> named = new HashSet<>();
    for (ManifestShard shard : manifest.shards()) {
      for (BlobReference blob : shard.blobs()) {
        named.add(blob.digest());
      }
    }
    return named;
  }
}
