package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.AbstractList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The match expressions of a URL: all possible list entries that would list it, from the most to
 * the least specific. A URL is on a list of {@link Canonicaliser#URL_EXPRESSION} if any of them is.
 * {@code docs/format/url-expression-v2.md} specifies them.
 *
 * <p>The expressions are the combinations of each host with each path. Hosts: the URL's host with
 * its port, if the URL has a port; the host without the port; its parent domains, the longest
 * first, down to the registrable domain. Paths: the path with the query; the path without the
 * query; the directories above it, the longest first, down to {@code /}. Expressions that exceed
 * the maximum length of an entry are omitted.
 *
 * <p>Fewer expressions are looked up in sets of version 1, see {@link #forVersion}.
 *
 * <p>Immutable. Expressions are created on access.
 */
public final class UrlExpressions {
  /**
   * The maximum number of hosts. If there are more, the URL's host, the registrable domain and the
   * hosts closest to the registrable domain are kept.
   */
  public static final int MAX_HOSTS = 128;

  /** The maximum number of directories. If there are more, the shortest are kept. */
  public static final int MAX_DIRECTORIES = 16;

  /**
   * The maximum number of labels of an entry's host: one less than the number of hosts, because a
   * URL may have a port.
   */
  static final int MAX_LABELS = MAX_HOSTS - 1;

  /**
   * The number of expressions per URL for which {@link
   * io.firstseen.filters.snapshot.UrlList#keyRateFor} computes the rate. Most URLs have fewer than
   * a dozen.
   */
  public static final int RATED_COUNT = 30;

  private final int version;
  private final byte[] canonical;
  // The end of the host with its port, where the path starts.
  private final int pathStart;
  // The end of the host without its port.
  private final int hostEnd;
  // The start of each host; the first host includes the port if the URL has one.
  private final int[] hostStarts;
  private final int[] pathEnds;
  // The pairs of host and path that do not exceed the maximum length of a key; null if all pairs
  // are included.
  private final int @Nullable [] pairs;

  private UrlExpressions(byte[] canonical, int version) {
    this.canonical = canonical;
    this.version = version;
    String text = new String(canonical, US_ASCII);
    pathStart = text.indexOf('/');
    int portAt = text.indexOf(':', canonical[0] == '[' ? text.indexOf(']') : 0);
    hostEnd = portAt >= 0 && portAt < pathStart ? portAt : pathStart;
    hostStarts =
        hostStarts(text.substring(0, hostEnd), hostEnd < pathStart, version == 1 ? 5 : MAX_HOSTS);
    pathEnds = pathEnds(text, pathStart, version == 1 ? 4 : MAX_DIRECTORIES);
    pairs =
        canonical.length <= Keys.MAX_KEY_BYTES
            ? null
            : IntStream.range(0, hostStarts.length * pathEnds.length)
                .filter(pair -> length(pair) <= Keys.MAX_KEY_BYTES)
                .toArray();
  }

  /**
   * Returns the expressions of a URL.
   *
   * @param url the URL as entered by a user, with or without its scheme, in UTF-8; not a line of a
   *     list, whose notation may have a different meaning
   * @throws InvalidKeyException if the URL has no canonical form, so it cannot be looked up
   */
  public static UrlExpressions of(byte[] url) throws InvalidKeyException {
    return new UrlExpressions(ExpressionRule.ofVisit(url), Canonicaliser.URL_EXPRESSION.version());
  }

  /**
   * Returns the expressions to look up in sets of a version of {@link
   * Canonicaliser#URL_EXPRESSION}: for version 1 at most 5 hosts and 4 directories.
   */
  public UrlExpressions forVersion(int setVersion) {
    return setVersion == version ? this : new UrlExpressions(canonical, setVersion);
  }

  private static int[] hostStarts(String host, boolean hasPort, int maxHosts) {
    int[] starts = new int[maxHosts];
    // The first start is 0: the host itself, with its port if it has one.
    int count = hasPort ? 2 : 1;
    int registrable =
        host.startsWith("[") || IpLiterals.endsInNumber(host)
            ? -1
            : PublicSuffixes.bundled().registrableStart(host);
    if (registrable > 0) {
      int first = count;
      for (int start = registrable; start > 0 && count < maxHosts; count++) {
        starts[count] = start;
        start = host.lastIndexOf('.', start - 2) + 1;
      }
      reverse(starts, first, count);
    }
    return Arrays.copyOf(starts, count);
  }

  private static int[] pathEnds(String text, int pathStart, int maxDirectories) {
    int[] ends = new int[maxDirectories + 2];
    int count = 0;
    int queryAt = text.indexOf('?');
    if (queryAt >= 0) {
      ends[count++] = text.length();
    }
    int pathEnd = queryAt < 0 ? text.length() : queryAt;
    ends[count++] = pathEnd;
    int first = count;
    int directory = pathStart + 1;
    for (int i = 0; i < maxDirectories && directory > 0 && directory < pathEnd; i++) {
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

  /**
   * Returns the number of expressions. It is 0 only if the URL's host alone exceeds the maximum
   * length of a key.
   */
  public int count() {
    return pairs == null ? hostStarts.length * pathEnds.length : pairs.length;
  }

  /**
   * Returns the expression at {@code index}: the canonical form of a possible entry that would list
   * the URL.
   *
   * @throws IndexOutOfBoundsException if the index is out of range
   */
  public byte[] bytes(int index) {
    Objects.checkIndex(index, count());
    int pair = pairs == null ? index : pairs[index];
    int from = hostStarts[pair / pathEnds.length];
    int pathEnd = pathEnds[pair % pathEnds.length];
    if (endOfHost(pair) == pathStart) {
      return Arrays.copyOfRange(canonical, from, pathEnd);
    }
    byte[] withoutPort = new byte[length(pair)];
    System.arraycopy(canonical, from, withoutPort, 0, hostEnd - from);
    System.arraycopy(canonical, pathStart, withoutPort, hostEnd - from, pathEnd - pathStart);
    return withoutPort;
  }

  private int length(int pair) {
    int host = endOfHost(pair) - hostStarts[pair / pathEnds.length];
    return host + pathEnds[pair % pathEnds.length] - pathStart;
  }

  /** Returns whether the first host includes the port. */
  private int endOfHost(int pair) {
    return pair < pathEnds.length ? pathStart : hostEnd;
  }

  /** Returns the expressions as strings, which are created on access. */
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
   * Writes the hashes of the expressions, in their order, to {@code hashes}. They are hashed like a
   * set's keys, so the hashes of many URLs can be looked up in one batch.
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

  /** Returns the most specific expression, which is the URL's canonical form. */
  @Override
  public String toString() {
    return new String(canonical, US_ASCII);
  }
}
