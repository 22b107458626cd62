package io.firstseen.jobs.shared;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestShard;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Whether the blobs that a job's first manifest names are where it publishes. State takes them as
 * out already; they are not if it comes from publishing to another place, or is so old that they
 * were removed since.
 */
public final class BlobsInPlace {

  private BlobsInPlace() {}

  /** Whether a manifest names no other blobs than these. */
  public static boolean areAll(Manifest manifest, Set<String> digests) {
    return digests.containsAll(named(manifest));
  }

  /**
   * Refuses a manifest that nobody could use.
   *
   * @param digests of the blobs that are there
   * @param place such as "in s3://bucket/spam"
   * @throws UserErrorException if it names others
   */
  public static void require(Manifest manifest, Set<String> digests, String place) {
    Set<String> named = named(manifest);
    Set<String> missing = new HashSet<>(named);
    missing.removeAll(digests);
    Optional<String> one = missing.stream().min(String::compareTo);
    if (one.isPresent()) {
      throw new UserErrorException(
          ("manifest %d of set %s names %d of its %d blobs that are not %s, such as %s: this job's"
                  + " state is from publishing elsewhere, or so old that they were removed (put"
                  + " them there, or start without state)")
              .formatted(
                  manifest.sequence(),
                  manifest.setName(),
                  missing.size(),
                  named.size(),
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
