package io.firstseen.filters.key;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Parses a line of a published list and returns the listed host or URL without the notation around
 * it. Supports plain hosts and URLs, {@code *.host} and {@code .host}, lines of hosts files, and
 * network filters of Adblock lists that list a whole host or a directory. Rejects ranges of
 * addresses and lines whose meaning an entry cannot express.
 */
final class ListLine {
  private static final Pattern SCHEME = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*:[/\\\\]");
  private static final Pattern SPACE = Pattern.compile("[ \t]+");

  /** Unicode's White_Space, and control characters. */
  private static final Pattern SPACE_OR_CONTROL =
      Pattern.compile(
          "[\\x00- \\x7F-\\xA0\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}"
              + "\\x{3000}]");

  /** The mark of a cosmetic filter, which version 1 recognises at any position. */
  private static final Pattern COSMETIC_MARK = Pattern.compile("#[@?$%]*#");

  /**
   * A cosmetic filter: an optional list of domains, the mark, and a selector. {@code ##} followed
   * by a space is a comment.
   */
  private static final Pattern COSMETIC =
      Pattern.compile(
          "[\\w.*,~\\x{80}-\\x{10FFFF}-]*#[@?$%]*##?[^# \t]"
              + "|[\\w.*,~\\x{80}-\\x{10FFFF}-]+#[@?$%]*#\\z");

  private static final Pattern ADBLOCK_HEADER =
      Pattern.compile("\\[Adblock", Pattern.CASE_INSENSITIVE);

  /** A backslash, or a character in path or query that URLs escape. */
  private static final Pattern REGULAR_EXPRESSION =
      Pattern.compile(
          "[^\\\\]*+\\\\|[^/?]*+[/?][^\"<>\\[\\]^`{|}]*+[\"<>\\[\\]^`{|}]", Pattern.DOTALL);

  /** A filter of a part of a name, such as {@code .ad.page.} or {@code .com/ads/}. */
  private static final Pattern PART_OF_NAME =
      Pattern.compile("\\.(.*[/?:].*|.*\\.)", Pattern.DOTALL);

  private static final Pattern OPTION =
      Pattern.compile(
          "~?(third-party|3p|strict3p|first-party|1p|strict1p|script|image|stylesheet|css|object|object-subrequest|xmlhttprequest|xhr|subdocument|frame|popup|popunder|media|font|websocket|webrtc|ping|other|badfilter|important|all|document|doc|domain|from|to|method|header|ipaddress|denyallow|sitekey|app|csp|permissions|redirect|redirect-rule|rewrite|replace|removeparam|removeheader|uritransform|urltransform|urlskip|empty|mp4|cookie|cname|match-case|generichide|ghide|genericblock|specifichide|shide|elemhide|ehide|urlblock|content|jsinject|extension|stealth|inline-script|inline-font|network)(=.*)?",
          Pattern.DOTALL);

  private static final Pattern PAGE_AND_OPTION =
      Pattern.compile(".*\\$" + OPTION.pattern(), Pattern.DOTALL);

  private static final Pattern LINE_BREAK = Pattern.compile("[\r\n]");
  private static final Pattern OPTIONS = Pattern.compile("\\$([A-Za-z0-9~_,=|.-]+)\\z");

  /** Text that may be an address, a slash, and text that may be the length of a prefix. */
  private static final Pattern RANGE = Pattern.compile("([^/]+)/([0-9]{1,3})(?=[ \t#]|\\z)");

  private static final Pattern RANGE_IN_PAGE =
      Pattern.compile("\\.?(?::[0-9]*)?/([0-9]{1,3})/?\\z");

  /** Filter options that do not narrow which visits of a page are blocked. */
  private static final Set<String> WIDE_OPTIONS = Set.of("all", "doc", "document", "important");

  /** Addresses with which hosts files block a name. */
  private static final Set<String> NOWHERE = Set.of("0.0.0.0", "127.0.0.1", "[::]", "[::1]");

  private ListLine() {}

  /**
   * Returns the host or URL that {@code line} lists.
   *
   * @param version the version of the rule {@code url-expression}
   * @throws InvalidKeyException if the line does not list a host or URL
   */
  static String listed(String line, int version) throws InvalidKeyException {
    String text = line.trim();
    if (version == 1 && SCHEME.matcher(text).lookingAt()) {
      return text;
    }
    if (version > 1 && LINE_BREAK.matcher(text).find()) {
      throw new InvalidKeyException(Quoted.of(text) + " has a line break");
    }
    if (isComment(text)) {
      throw new InvalidKeyException(Quoted.of(text) + " is a comment");
    }
    if (text.startsWith("@@")) {
      throw new InvalidKeyException(Quoted.of(text) + " is an exception, which lists nothing");
    }
    if (version == 1 ? COSMETIC_MARK.matcher(text).find() : isCosmetic(text)) {
      throw new InvalidKeyException(
          Quoted.of(text) + " is a cosmetic filter, which lists parts of pages");
    }
    String entry = withoutComment(text);
    if (text.startsWith("|")) {
      if (version == 1) {
        return filtered(text);
      }
      requireOneColumn(entry);
      return requireNoRange(filtered(entry), version);
    }
    if (version > 1) {
      // A URL that is looked up has no fragment, either.
      entry = entry.substring(0, (entry + "#").indexOf('#')).trim();
    }
    boolean isUrl = SCHEME.matcher(entry).lookingAt();
    String host = isUrl ? null : named(entry, version);
    if (version > 1) {
      requireOneColumn(host == null ? entry : host);
    }
    if (isUrl) {
      return entry;
    }
    if (version > 1 && isPattern(entry)) {
      throw new InvalidKeyException(
          Quoted.of(entry)
              + " is a pattern or a regular expression; list the host, or the page with http://"
              + " before it");
    }
    String listed = host == null ? entry : host;
    listed = version > 1 && listed.startsWith("+.") ? listed.substring(2) : withoutWildcard(listed);
    return requireNoRange(listed, version);
  }

  private static void requireOneColumn(String entry) throws InvalidKeyException {
    if (SPACE_OR_CONTROL.matcher(entry).find()) {
      throw new InvalidKeyException(
          Quoted.of(entry)
              + " has more than one column; select one, or write a space in a URL as %20");
    }
  }

  private static String requireNoRange(String listed, int version) throws InvalidKeyException {
    // Version 2 also recognises a dot or a port after the address, and a slash after the length.
    String bare = RANGE_IN_PAGE.matcher(listed).replaceFirst("/$1");
    if (isRange(listed) || (version > 1 && isRange(bare))) {
      throw new InvalidKeyException(
          Quoted.of(listed)
              + " is a range of addresses; list them one by one, or a page with http:// before it");
    }
    return listed;
  }

  /** Returns whether a line has columns, but is neither a comment nor a line of a hosts file. */
  static boolean hasColumns(String line) {
    String text = line.trim();
    String[] words = SPACE.split(withoutComment(text), -1);
    return !isComment(text) && words.length > 1 && address(words[0]) == null;
  }

  /** Returns whether a line without the spaces around it is a comment, or empty. */
  static boolean isComment(String text) {
    return text.isEmpty()
        || text.startsWith("!")
        || (text.startsWith("#") && !isCosmetic(text))
        || ADBLOCK_HEADER.matcher(text).lookingAt();
  }

  private static boolean isCosmetic(String text) {
    return COSMETIC.matcher(text).lookingAt();
  }

  private static boolean isPattern(String entry) {
    return REGULAR_EXPRESSION.matcher(entry).lookingAt()
        || PART_OF_NAME.matcher(entry).matches()
        || hasOptions(entry);
  }

  /** Returns whether a line ends with a dollar sign and options of filters between commas. */
  private static boolean hasOptions(String entry) {
    String[] parts = entry.split(",", -1);
    int last = parts.length - 1;
    while (last > 0
        && !PAGE_AND_OPTION.matcher(parts[last]).matches()
        && OPTION.matcher(parts[last]).matches()) {
      last--;
    }
    return PAGE_AND_OPTION.matcher(parts[last]).matches();
  }

  /** Returns whether a text is an IP address, a slash and the length of a prefix. */
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

  /** Returns the text before the first {@code #} that follows a space, without trailing spaces. */
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

  /** Returns the name in a line of a hosts file; null if the line is not from a hosts file. */
  private static @Nullable String named(String text, int version) throws InvalidKeyException {
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
    String plain = version == 1 ? name : name.toLowerCase(Locale.ROOT).replaceFirst("\\.$", "");
    if (plain.indexOf('.') < 0
        || plain.equals("localhost.localdomain")
        || address(plain) != null
        || (version > 1 && IpLiterals.ipv4(plain) != null)) {
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
   * Returns the host or directory that an Adblock network filter lists: {@code ||host^} or {@code
   * ||host/directory/}. The latter may end with a star.
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
