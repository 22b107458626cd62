package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Patterns of the query parameters that are removed from a URL. A pattern is the name of a
 * parameter, or a prefix of names followed by {@code *}. Specified in {@code
 * docs/format/url-v3.md}.
 */
final class StrippedParameters implements Serializable {
  static final StrippedParameters NONE = new StrippedParameters("");

  private static final long serialVersionUID = 1;

  /** Stands for {@link #COMMON_PATTERNS}, so it cannot be used as a pattern. */
  private static final String COMMON = "common";

  /** This list must never change, because existing sets were built with it. */
  private static final List<String> COMMON_PATTERNS =
      List.of(
          ("_ga,_gl,_hsenc,_hsmi,_openstat,dclid,fbclid,gad_campaignid,gad_source,gbraid,"
                  + "gclid,gclsrc,igsh,igshid,li_fat_id,mc_cid,mc_eid,mkt_tok,msclkid,srsltid,ttclid,"
                  + "twclid,utm_*,wbraid,yclid,ysclid")
              .split(","));

  private static final Pattern PATTERN = Pattern.compile("[A-Za-z0-9._~-]+\\*?|\\*");

  private final String text;

  /** The patterns that a name may match which begins with this character. */
  private final byte[][][] ofFirst;

  private StrippedParameters(String text) {
    this.text = text;
    this.ofFirst = new byte[128][][];
    Arrays.fill(ofFirst, new byte[0][]);
    for (String pattern : text.split(",", -1)) {
      byte[] bytes = pattern.getBytes(US_ASCII);
      if (pattern.equals("*")) {
        for (int first = 0; first < ofFirst.length; first++) {
          add(first, bytes);
        }
      } else if (bytes.length > 0) {
        add(bytes[0], bytes);
      }
    }
  }

  private void add(int first, byte[] pattern) {
    byte[][] before = ofFirst[first];
    ofFirst[first] = Arrays.copyOf(before, before.length + 1);
    ofFirst[first][before.length] = pattern;
  }

  /**
   * Parses patterns that are separated by commas.
   *
   * @throws IllegalArgumentException if the text is empty or too long, or contains an invalid
   *     pattern
   */
  static StrippedParameters parse(String text) {
    TreeSet<String> patterns = new TreeSet<>();
    for (String pattern : text.split(",", -1)) {
      if (pattern.equals(COMMON)) {
        patterns.addAll(COMMON_PATTERNS);
      } else if (PATTERN.matcher(pattern).matches()) {
        patterns.add(pattern);
      } else {
        throw new IllegalArgumentException(
            "a stripped parameter must be a name of letters, digits and '-._~', with '*' only at"
                + " its end, got "
                + Quoted.of(pattern));
      }
    }
    String joined = String.join(",", patterns);
    if (joined.length() > Canonicaliser.MAX_STRIPPED_CHARS) {
      throw new IllegalArgumentException(
          "the stripped parameters must have at most %d characters with their commas, got %d"
              .formatted(Canonicaliser.MAX_STRIPPED_CHARS, joined.length()));
    }
    return new StrippedParameters(joined);
  }

  boolean isEmpty() {
    return text.isEmpty();
  }

  /**
   * Returns a URL in the form of {@link UrlNormaliser} without the parameters that match. Returns
   * the given array if no parameter matches.
   */
  byte[] without(byte[] url) {
    int query = endOf(url, 0, '?', '?');
    byte[] out = null;
    int length = query;
    for (int from = query + 1; from < url.length; ) {
      int nameEnd = endOf(url, from, '=', '&');
      int to = endOf(url, nameEnd, '&', '&');
      boolean stripped = matches(url, from, nameEnd);
      if (stripped && out == null) {
        out = url.clone();
        length = from - 1;
      } else if (!stripped && out != null) {
        out[length] = (byte) (length == query ? '?' : '&');
        System.arraycopy(url, from, out, length + 1, to - from);
        length += 1 + to - from;
      }
      from = to + 1;
    }
    return out == null ? url : Arrays.copyOf(out, length);
  }

  /** Returns the index of the next of two delimiters, or of the end. */
  private static int endOf(byte[] url, int from, char mark, char otherMark) {
    int at = from;
    while (at < url.length && url[at] != mark && url[at] != otherMark) {
      at++;
    }
    return at;
  }

  /** Returns whether a name, which is not empty and ASCII, matches. */
  private boolean matches(byte[] url, int from, int to) {
    for (byte[] pattern : ofFirst[url[from]]) {
      boolean isBeginning = pattern[pattern.length - 1] == '*';
      int length = isBeginning ? pattern.length - 1 : pattern.length;
      int end = from + length;
      if ((isBeginning ? end <= to : end == to)
          && Arrays.equals(url, from, end, pattern, 0, length)) {
        return true;
      }
    }
    return false;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof StrippedParameters that && text.equals(that.text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  /** Returns the patterns, sorted, each once, with commas between them; empty for none. */
  @Override
  public String toString() {
    return text;
  }
}
