package io.firstseen.filters.snapshot;

import java.util.List;

/**
 * The result of looking up a URL in lists.
 *
 * @param matches the entries that list the URL, at most one per list, in the order of the lists
 * @param allowedBy the entries of allow sets that list it
 */
public record UrlAnswer(List<Match> matches, List<Match> allowedBy) {
  /** Copies the lists. */
  public UrlAnswer {
    matches = List.copyOf(matches);
    allowedBy = List.copyOf(allowedBy);
  }

  /**
   * An entry that lists a URL.
   *
   * @param list the name of the list
   * @param entry the most specific of its entries that list the URL, in canonical form
   */
  public record Match(String list, String entry) {}

  /**
   * Returns whether a list contains the URL and no allow set contains it, not even by a less
   * specific entry.
   */
  public boolean isPresent() {
    return !matches.isEmpty() && allowedBy.isEmpty();
  }
}
