package io.firstseen.filters.snapshot;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The packs of a set, and the list of bases that the newest pack names.
 *
 * @param kept the packs that are kept, the oldest first
 * @param packBytes the bytes of all packs up to the newest one
 * @param list the list of bases
 * @param basesBytes the bytes of that list and of the bases that it names
 * @param listWindowEndMillis the end of the window in which it was published (event time,
 *     exclusive)
 * @param packsSince the bytes of the packs whose windows are not in that list
 */
public record PackChain(
    List<BlobReference> kept,
    long packBytes,
    BlobReference list,
    long basesBytes,
    long listWindowEndMillis,
    long packsSince) {

  public PackChain {
    kept = List.copyOf(kept);
    Objects.requireNonNull(list, "list");
  }

  /** Returns the newest pack; null before the first one. */
  public @Nullable BlobReference newest() {
    return kept.isEmpty() ? null : kept.get(kept.size() - 1);
  }
}
