package io.firstseen.filters.snapshot;

import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.UrlExpressions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Several lists that answer together: a URL is present if a list has it, unless an allow set has
 * it, too. The false positives of an allow set override as its entries do, so its rate should be
 * very low. The names should differ, so that an answer tells which list it comes from.
 *
 * @param lists the lists
 * @param allow the allow sets; an entry in one overrides those of all lists, even if it is less
 *     specific
 */
public record UrlLists(List<UrlList> lists, List<UrlList> allow) {
  /** The URLs whose expressions are looked up together. */
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
   * Asks all lists for some URLs. The expressions of many URLs are looked up together, which is
   * much faster than one by one.
   *
   * @param scope the scope of the entries; null or empty means none
   * @return an answer for each URL, in their order
   * @throws InvalidKeyException if the scope is too long
   */
  public List<UrlAnswer> askEach(byte @Nullable [] scope, List<UrlExpressions> urls)
      throws InvalidKeyException {
    List<UrlAnswer> answers = new ArrayList<>(urls.size());
    for (int from = 0; from < urls.size(); from += URLS_AT_ONCE) {
      Questions questions =
          new Questions(scope, urls.subList(from, Math.min(urls.size(), from + URLS_AT_ONCE)));
      int[][] listed = questions.ask(lists);
      int[][] allowed = questions.ask(allow);
      for (int i = 0; i < questions.urls.size(); i++) {
        UrlExpressions url = questions.urls.get(i);
        answers.add(new UrlAnswer(matches(lists, listed, url, i), matches(allow, allowed, url, i)));
      }
    }
    return answers;
  }

  private static List<UrlAnswer.Match> matches(
      List<UrlList> lists, int[][] found, UrlExpressions url, int index) {
    List<UrlAnswer.Match> matches = List.of();
    for (int list = 0; list < found.length; list++) {
      int expression = found[list][index];
      if (expression >= 0) {
        matches = matches.isEmpty() ? new ArrayList<>() : matches;
        matches.add(new UrlAnswer.Match(lists.get(list).name(), url.asList().get(expression)));
      }
    }
    return matches;
  }

  /**
   * The highest probability that a URL is present although no list has it: 1 − Π (1 − ε)^n over the
   * lists.
   *
   * @param expressions the URL's number of expressions, n
   */
  public double falsePositiveRate(int expressions) {
    // By logarithms, so that small rates are not lost beside 1.
    return -Math.expm1(
        -lists.stream()
            .mapToDouble(list -> -Math.log1p(-list.falsePositiveRate(expressions)))
            .sum());
  }

  /** The names of all lists, then of the allow sets. */
  public List<String> names() {
    return Stream.concat(lists.stream(), allow.stream()).map(UrlList::name).toList();
  }

  /** URLs whose expressions are hashed once for all lists with the same hash. */
  private static final class Questions {
    private final byte @Nullable [] scope;
    private final List<UrlExpressions> urls;
    private final boolean[] found;
    private final List<Hashes> known = new ArrayList<>(1);

    Questions(byte @Nullable [] scope, List<UrlExpressions> urls) {
      this.scope = scope;
      this.urls = urls;
      int count = 0;
      for (UrlExpressions url : urls) {
        count += url.count();
      }
      found = new boolean[count];
    }

    /** The hashes of all expressions under a key. */
    @SuppressWarnings("ArrayRecordComponent")
    private record Hashes(KeyHash keyHash, long[] ofExpressions) {
      boolean areBy(KeyHash other) {
        return keyHash.algorithm() == other.algorithm() && keyHash.keyCheck() == other.keyCheck();
      }
    }

    /** For each list, for each URL the index of the most specific expression in it, or -1. */
    int[][] ask(List<UrlList> lists) throws InvalidKeyException {
      int[][] expressions = new int[lists.size()][];
      for (int list = 0; list < expressions.length; list++) {
        lists.get(list).mightContainEach(hashes(lists.get(list).keyHash()), found.length, found);
        expressions[list] = mostSpecific();
      }
      return expressions;
    }

    private long[] hashes(KeyHash keyHash) throws InvalidKeyException {
      for (Hashes hashes : known) {
        if (hashes.areBy(keyHash)) {
          return hashes.ofExpressions();
        }
      }
      long[] hashes = new long[found.length];
      int at = 0;
      for (UrlExpressions url : urls) {
        at = url.hash(scope, keyHash, hashes, at);
      }
      known.add(new Hashes(keyHash, hashes));
      return hashes;
    }

    private int[] mostSpecific() {
      int[] expressions = new int[urls.size()];
      int at = 0;
      for (int i = 0; i < expressions.length; i++) {
        int count = urls.get(i).count();
        int expression = 0;
        while (expression < count && !found[at + expression]) {
          expression++;
        }
        expressions[i] = expression < count ? expression : -1;
        at += count;
      }
      return expressions;
    }
  }
}
