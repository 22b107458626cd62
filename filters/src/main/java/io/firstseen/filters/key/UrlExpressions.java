package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.AbstractList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * All entries of a list that would list a URL, from the most to the least specific: its match
 * expressions. A URL is on a list of {@link Canonicaliser#URL_EXPRESSION} if any of them is. {@code
 * docs/format/url-expression-v1.md} specifies them.
 *
 * <p>They are each host with each path. Hosts: the one with its port, if it has one; the one
 * without; its parents, the longest first, down to the registrable domain. Paths: with the query;
 * without; the directories above it, the longest first, down to {@code /}.
 *
 * <p>Immutable. Expressions are made when they are asked for.
 */
public final class UrlExpressions {
  /**
   * The most hosts. Of more, the URL's own, the registrable domain and the nearest to that stay.
   */
  public static final int MAX_HOSTS = 5;

  /** The most directories. Of more, the shortest are kept. */
  public static final int MAX_DIRECTORIES = 4;

  /**
   * The largest number of expressions: each host with the path, with its query, and directories.
   */
  public static final int MAX_COUNT = MAX_HOSTS * (MAX_DIRECTORIES + 2);

  private final byte[] canonical;
  // The end of the host with its port, where the path starts.
  private final int pathStart;
  // The end of the host without its port.
  private final int hostEnd;
  // Where each host starts; the first one has the port if there is one.
  private final int[] hostStarts;
  private final int[] pathEnds;

  private UrlExpressions(byte[] canonical) {
    this.canonical = canonical;
    String text = new String(canonical, US_ASCII);
    pathStart = text.indexOf('/');
    int portAt = text.indexOf(':', canonical[0] == '[' ? text.indexOf(']') : 0);
    hostEnd = portAt >= 0 && portAt < pathStart ? portAt : pathStart;
    hostStarts = hostStarts(text.substring(0, hostEnd), hostEnd < pathStart);
    pathEnds = pathEnds(text, pathStart);
  }

  /**
   * The expressions of a URL.
   *
   * @param url as a user has it, with or without its scheme, in UTF-8; not a line of a list, whose
   *     notation may mean more
   * @throws InvalidKeyException if it has no canonical form; no list holds such a URL
   */
  public static UrlExpressions of(byte[] url) throws InvalidKeyException {
    return new UrlExpressions(Canonicaliser.bounded(url, ExpressionRule::ofVisit));
  }

  private static int[] hostStarts(String host, boolean hasPort) {
    int[] starts = new int[MAX_HOSTS];
    // The first is 0: the host itself, with its port or, without one, as it is.
    int count = hasPort ? 2 : 1;
    int registrable =
        host.startsWith("[") || IpLiterals.endsInNumber(host)
            ? -1
            : PublicSuffixes.bundled().registrableStart(host);
    if (registrable > 0) {
      int first = count;
      for (int start = registrable; start > 0 && count < MAX_HOSTS; count++) {
        starts[count] = start;
        start = host.lastIndexOf('.', start - 2) + 1;
      }
      reverse(starts, first, count);
    }
    return Arrays.copyOf(starts, count);
  }

  private static int[] pathEnds(String text, int pathStart) {
    int[] ends = new int[MAX_DIRECTORIES + 2];
    int count = 0;
    int queryAt = text.indexOf('?');
    if (queryAt >= 0) {
      ends[count++] = text.length();
    }
    int pathEnd = queryAt < 0 ? text.length() : queryAt;
    ends[count++] = pathEnd;
    int first = count;
    int directory = pathStart + 1;
    for (int i = 0; i < MAX_DIRECTORIES && directory > 0 && directory < pathEnd; i++) {
      ends[count++] = directory;
      directory = text.indexOf('/', directory) + 1;
    }
    reverse(ends, first, count);
    return Arrays.copyOf(ends, count);
  }

  private static void reverse(int[] numbers, int from, int to) {
    for (int left = from, right = to - 1; left < right; left++, right--) {
      int number = numbers[left];
      numbers[left] = numbers[right];
      numbers[right] = number;
    }
  }

  /** The number of expressions, in [1, {@value #MAX_COUNT}]. */
  public int count() {
    return hostStarts.length * pathEnds.length;
  }

  /**
   * The expression at {@code index}: the canonical form that an entry which lists the URL would
   * have.
   *
   * @throws IndexOutOfBoundsException if there is none
   */
  public byte[] bytes(int index) {
    Objects.checkIndex(index, count());
    int host = index / pathEnds.length;
    int from = hostStarts[host];
    int pathEnd = pathEnds[index % pathEnds.length];
    if (host == 0 || hostEnd == pathStart) {
      return Arrays.copyOfRange(canonical, from, pathEnd);
    }
    byte[] withoutPort = new byte[hostEnd - from + pathEnd - pathStart];
    System.arraycopy(canonical, from, withoutPort, 0, hostEnd - from);
    System.arraycopy(canonical, pathStart, withoutPort, hostEnd - from, pathEnd - pathStart);
    return withoutPort;
  }

  /** The expressions as texts, made when they are read. */
  public List<String> asList() {
    return new AbstractList<>() {
      @Override
      public String get(int index) {
        return new String(bytes(index), US_ASCII);
      }

      @Override
      public int size() {
        return count();
      }
    };
  }

  /**
   * Puts the hashes of the expressions, in their order, into {@code hashes}, as a set's keys are
   * hashed. So the hashes of many URLs can be looked up in one batch.
   *
   * @param scope the scope; null or empty means none
   * @param from where to start; there must be room for {@link #count()} hashes
   * @return the index after the last one
   * @throws InvalidKeyException if the scope is too long
   */
  public int hash(byte @Nullable [] scope, KeyHash keyHash, long[] hashes, int from)
      throws InvalidKeyException {
    int at = from;
    for (int index = 0; index < count(); index++) {
      hashes[at++] = keyHash.hash(ScopedKey.join(scope, bytes(index)));
    }
    return at;
  }

  /** The most specific expression: the URL's canonical form. */
  @Override
  public String toString() {
    return new String(canonical, US_ASCII);
  }
}
