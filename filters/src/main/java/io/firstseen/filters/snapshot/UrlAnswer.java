package io.firstseen.filters.snapshot;

import java.util.List;

/**
 * What lists say of a URL.
 *
 * @param matches the entries that list the URL, one a list at most, in the order of the lists
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

  /** Whether a list has the URL, and no allow set has it, even by a less specific entry. */
  public boolean isPresent() {
    return !matches.isEmpty() && allowedBy.isEmpty();
  }
}
