package io.firstseen.filters.key;

import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A line of a published list: what is listed, without the notation around it. It knows plain hosts
 * and URLs, {@code *.host} and {@code .host}, lines of hosts files, and network filters of Adblock
 * lists that list a whole host or a directory. Lines whose meaning an entry cannot express are
 * refused, and so are ranges of addresses.
 */
final class ListLine {
  private static final Pattern SCHEME = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*:[/\\\\]");
  private static final Pattern SPACE = Pattern.compile("[ \t]+");
  private static final Pattern COSMETIC = Pattern.compile("#[@?$%]*#");
  private static final Pattern OPTIONS = Pattern.compile("\\$([A-Za-z0-9~_,=|.-]+)\\z");

  /** What may be an address, and what may be the length of a prefix. */
  private static final Pattern RANGE = Pattern.compile("([^/]+)/([0-9]{1,3})(?=[ \t#]|\\z)");

  /** Options that do not narrow which visits of a page a filter blocks. */
  private static final Set<String> WIDE_OPTIONS = Set.of("all", "doc", "document", "important");

  /** Addresses by which hosts files send a name nowhere. */
  private static final Set<String> NOWHERE = Set.of("0.0.0.0", "127.0.0.1", "[::]", "[::1]");

  private ListLine() {}

  /**
   * The host or URL that {@code line} lists.
   *
   * @throws InvalidKeyException if it lists none
   */
  static String listed(String line) throws InvalidKeyException {
    String text = WebUrl.trimmed(line);
    if (SCHEME.matcher(text).lookingAt()) {
      return text;
    }
    if (text.startsWith("#") || text.startsWith("!")) {
      throw new InvalidKeyException(Quoted.of(text) + " is a comment");
    }
    if (text.startsWith("@@")) {
      throw new InvalidKeyException(Quoted.of(text) + " is an exception, which lists nothing");
    }
    if (COSMETIC.matcher(text).find()) {
      throw new InvalidKeyException(
          Quoted.of(text) + " is a cosmetic filter, which lists parts of pages");
    }
    if (text.startsWith("|")) {
      return filtered(text);
    }
    String entry = withoutComment(text);
    String host = named(entry);
    String listed = withoutWildcard(host == null ? entry : host);
    if (isRange(listed)) {
      throw new InvalidKeyException(
          Quoted.of(listed)
              + " is a range of addresses; list them one by one, or a page with http:// before it");
    }
    return listed;
  }

  /** Whether a text is an IP address, a slash and the length of a prefix. */
  private static boolean isRange(String text) {
    Matcher range = RANGE.matcher(text);
    if (!range.lookingAt()) {
      return false;
    }
    String address = range.group(1);
    int length = Integer.parseInt(range.group(2));
    boolean bracketed = address.startsWith("[") && address.endsWith("]");
    String bare = bracketed ? address.substring(1, address.length() - 1) : address;
    return IpLiterals.ipv6(bare) != null
        ? length <= 128
        : !bracketed && IpLiterals.ipv4(bare) != null && length <= 32;
  }

  /** What is before the first {@code #} after a space, without the spaces between. */
  private static String withoutComment(String text) {
    for (int mark = text.indexOf('#', 1); mark > 0; mark = text.indexOf('#', mark + 1)) {
      int end = mark;
      while (end > 0 && isSpace(text.charAt(end - 1))) {
        end--;
      }
      if (end < mark) {
        return text.substring(0, end);
      }
    }
    return text;
  }

  private static boolean isSpace(char c) {
    return c == ' ' || c == '\t';
  }

  static String withoutWildcard(String text) {
    if (text.startsWith("*.")) {
      return text.substring(2);
    }
    return text.startsWith(".") ? text.substring(1) : text;
  }

  /** The name in a line of a hosts file; null if it is none. */
  private static @Nullable String named(String text) throws InvalidKeyException {
    String[] words = SPACE.split(text, -1);
    if (words.length < 2) {
      return null;
    }
    String address = address(words[0]);
    if (address == null) {
      return null;
    }
    if (!NOWHERE.contains(address)) {
      throw new InvalidKeyException(
          "a hosts-file line must have the address 0.0.0.0, 127.0.0.1, :: or ::1, got "
              + Quoted.of(words[0]));
    }
    if (words.length > 2) {
      throw new InvalidKeyException(
          "a hosts-file line must name one host, got " + (words.length - 1));
    }
    String name = words[1];
    if (name.indexOf('.') < 0 || name.equals("localhost.localdomain") || address(name) != null) {
      throw new InvalidKeyException(
          "a hosts-file line must name a domain of the Internet, got " + Quoted.of(name));
    }
    return name;
  }

  private static @Nullable String address(String word) {
    if (word.indexOf(':') >= 0) {
      int[] pieces = IpLiterals.ipv6(word);
      return pieces == null ? null : IpLiterals.bracketed(pieces);
    }
    return word.equals(IpLiterals.ipv4(word)) ? word : null;
  }

  /**
   * What an Adblock network filter lists: {@code ||host^} or {@code ||host/directory/}, of which
   * the last is also written with a star behind it.
   */
  private static String filtered(String text) throws InvalidKeyException {
    String filter = text;
    Matcher options = OPTIONS.matcher(text);
    if (options.find()) {
      for (String option : options.group(1).split(",", -1)) {
        if (!WIDE_OPTIONS.contains(option)) {
          throw new InvalidKeyException(
              "an Adblock filter must not have options that narrow it, got " + Quoted.of(option));
        }
      }
      filter = text.substring(0, options.start());
    }
    String body = filter.startsWith("||") ? withoutWildcard(filter.substring(2)) : "";
    boolean host = body.endsWith("^") && body.indexOf('/') < 0;
    boolean all = host || body.endsWith("/*");
    String listed = all ? body.substring(0, body.length() - 1) : body;
    boolean plain = !listed.isEmpty() && !listed.matches("(?s).*[\\^*|?].*");
    if (!plain || !(host || listed.endsWith("/"))) {
      throw new InvalidKeyException(
          "an Adblock filter must be ||host^ or ||host/directory/, got " + Quoted.of(text));
    }
    return listed;
  }
}
