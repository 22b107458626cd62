package io.firstseen.filters.snapshot;

import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.UrlExpressions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Several lists that are queried together: a URL is present if a list contains it, unless an allow
 * set also contains it. False positives of an allow set also override lists, so its rate should be
 * very low. Names should be unique, so that a result identifies the list it comes from.
 *
 * @param lists the lists
 * @param allow the allow sets; an entry in an allow set overrides the entries of all lists, even if
 *     it is less specific
 */
public record UrlLists(List<UrlList> lists, List<UrlList> allow) {
  private static final int URLS_AT_ONCE = 64;

  /** Copies the lists. */
  public UrlLists {
    lists = List.copyOf(lists);
    allow = List.copyOf(allow);
  }

  /** Like {@link #askEach}, for one URL. */
  public UrlAnswer ask(byte @Nullable [] scope, UrlExpressions url) throws InvalidKeyException {
    return askEach(scope, List.of(url)).get(0);
  }

  /**
   * Looks up some URLs in all lists. The expressions of many URLs are looked up together, which is
   * much faster than one by one.
   *
   * @param scope the scope of the entries; null or empty means none
   * @return a result for each URL, in their order
   * @throws InvalidKeyException if the scope is too long
   */
  public List<UrlAnswer> askEach(byte @Nullable [] scope, List<UrlExpressions> urls)
      throws InvalidKeyException {
    List<UrlAnswer> answers = new ArrayList<>(urls.size());
    for (int from = 0; from < urls.size(); from += URLS_AT_ONCE) {
      Questions questions =
          new Questions(scope, urls.subList(from, Math.min(urls.size(), from + URLS_AT_ONCE)));
      @Nullable String[][] listed = questions.ask(lists);
      @Nullable String[][] allowed = questions.ask(allow);
      for (int i = 0; i < questions.urls.size(); i++) {
        answers.add(new UrlAnswer(matches(lists, listed, i), matches(allow, allowed, i)));
      }
    }
    return answers;
  }

  private static List<UrlAnswer.Match> matches(
      List<UrlList> lists, @Nullable String[][] found, int index) {
    List<UrlAnswer.Match> matches = List.of();
    for (int list = 0; list < found.length; list++) {
      String entry = found[list][index];
      if (entry != null) {
        matches = matches.isEmpty() ? new ArrayList<>() : matches;
        matches.add(new UrlAnswer.Match(lists.get(list).name(), entry));
      }
    }
    return matches;
  }

  /**
   * Returns the maximum probability that a URL which is on no list is reported as present: 1 − Π (1
   * − ε)^n over the lists, with the URL's number of expressions n.
   */
  public double falsePositiveRate(UrlExpressions url) {
    // Computed with logarithms, so that small rates are not lost in the difference from 1.
    return -Math.expm1(
        -lists.stream().mapToDouble(list -> -Math.log1p(-list.falsePositiveRate(url))).sum());
  }

  /** Returns the names of all lists, then the names of the allow sets. */
  public List<String> names() {
    return Stream.concat(lists.stream(), allow.stream()).map(UrlList::name).toList();
  }

  /** URLs whose expressions are hashed once for all lists with the same hash and version. */
  private static final class Questions {
    private final byte @Nullable [] scope;
    private final List<UrlExpressions> urls;
    private final List<Hashes> known = new ArrayList<>(1);

    Questions(byte @Nullable [] scope, List<UrlExpressions> urls) {
      this.scope = scope;
      this.urls = urls;
    }

    @SuppressWarnings("ArrayRecordComponent")
    private record Hashes(UrlList of, List<UrlExpressions> urls, long[] ofExpressions) {
      boolean areFor(UrlList list) {
        KeyHash hash = list.keyHash();
        return of.version() == list.version()
            && of.keyHash().algorithm() == hash.algorithm()
            && of.keyHash().keyCheck() == hash.keyCheck();
      }
    }

    /** Returns for each list and each URL the most specific entry, or null. */
    @Nullable String[][] ask(List<UrlList> lists) throws InvalidKeyException {
      @Nullable String[][] entries = new String[lists.size()][];
      for (int list = 0; list < entries.length; list++) {
        Hashes hashes = hashes(lists.get(list));
        boolean[] found = new boolean[hashes.ofExpressions.length];
        lists.get(list).mightContainEach(hashes.ofExpressions, found.length, found);
        entries[list] = mostSpecific(hashes.urls, found);
      }
      return entries;
    }

    private Hashes hashes(UrlList list) throws InvalidKeyException {
      for (Hashes hashes : known) {
        if (hashes.areFor(list)) {
          return hashes;
        }
      }
      List<UrlExpressions> asked =
          urls.stream().map(url -> url.forVersion(list.version())).toList();
      long[] hashes = new long[asked.stream().mapToInt(UrlExpressions::count).sum()];
      int at = 0;
      for (UrlExpressions url : asked) {
        at = url.hash(scope, list.keyHash(), hashes, at);
      }
      known.add(new Hashes(list, asked, hashes));
      return known.get(known.size() - 1);
    }

    private static @Nullable String[] mostSpecific(List<UrlExpressions> urls, boolean[] found) {
      @Nullable String[] entries = new String[urls.size()];
      int at = 0;
      for (int i = 0; i < entries.length; i++) {
        int count = urls.get(i).count();
        int expression = 0;
        while (expression < count && !found[at + expression]) {
          expression++;
        }
        entries[i] = expression < count ? urls.get(i).asList().get(expression) : null;
        at += count;
      }
      return entries;
    }
  }
}
