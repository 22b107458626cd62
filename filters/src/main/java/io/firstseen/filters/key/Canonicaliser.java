package io.firstseen.filters.key;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * The rule that gives a key its canonical form, so that different spellings become one key. Every
 * rule is idempotent: a canonical form is its own canonical form. {@link #URL_EXPRESSION} rejects
 * some canonical forms as keys; {@link #canonicaliseAgain} accepts them. A value, safe for use by
 * many threads.
 *
 * <p>All rules reject an empty key and a key that is longer than {@link Keys#MAX_KEY_BYTES} before
 * or after canonicalisation.
 */
public final class Canonicaliser implements Serializable {
  /** Does not change the bytes; any bytes are allowed. */
  public static final Canonicaliser NONE = new Canonicaliser(Rule.NONE);

  /**
   * URLs of pages, by {@link UrlNormaliser}. A URL that is canonical already is usually recognised
   * in one pass over its bytes. {@link #stripping} gives the rule that removes query parameters.
   */
  public static final Canonicaliser URL = new Canonicaliser(Rule.URL_3);

  /** Human text such as spam bodies, by {@link TextFolding}. */
  public static final Canonicaliser TEXT = new Canonicaliser(Rule.TEXT);

  /**
   * Entries of lists of hosts and URLs, by {@link ExpressionRule}: a key is a line of a list.
   * {@link UrlExpressions} gives the entries that would list a URL. Keys with a star and keys that
   * look like a range of addresses are rejected unless they start with {@code http://}.
   */
  public static final Canonicaliser URL_EXPRESSION = new Canonicaliser(Rule.URL_EXPRESSION_2);

  /** The bound of {@link #strippedParameters}. */
  public static final int MAX_STRIPPED_CHARS = 1_000;

  /**
   * All versions of all rules, the newest version of each rule first, without stripped parameters.
   */
  static final List<Canonicaliser> ALL =
      List.of(
          NONE,
          URL,
          TEXT,
          URL_EXPRESSION,
          new Canonicaliser(Rule.URL_2),
          new Canonicaliser(Rule.URL_EXPRESSION_1));

  private static final long serialVersionUID = 1;

  private final Rule rule;
  private final StrippedParameters stripped;

  private Canonicaliser(Rule rule) {
    this(rule, StrippedParameters.NONE);
  }

  private Canonicaliser(Rule rule, StrippedParameters stripped) {
    this.rule = rule;
    this.stripped = stripped;
  }

  private enum Rule {
    NONE("none", 0, 1) {
      @Override
      byte[] fold(byte[] key) {
        return key;
      }
    },

    URL_2("url", 1, 2) {
      @Override
      byte[] fold(byte[] key) throws InvalidKeyException {
        return url(key, PercentEscapes.IN_QUERY);
      }
    },

    URL_3("url", 1, 3) {
      @Override
      byte[] fold(byte[] key) throws InvalidKeyException {
        return url(key, PercentEscapes.IN_BROWSER_QUERY);
      }
    },

    TEXT("text", 2, 1) {
      @Override
      byte[] fold(byte[] key) throws InvalidKeyException {
        byte[] folded = TextFolding.foldAscii(key);
        return folded != null
            ? folded
            : TextFolding.fold(decode(key, "key")).getBytes(StandardCharsets.UTF_8);
      }
    },

    URL_EXPRESSION_1("url-expression", 3, 1) {
      @Override
      byte[] fold(byte[] key) throws InvalidKeyException {
        return ExpressionRule.ofEntry(key, 1);
      }
    },

    URL_EXPRESSION_2("url-expression", 3, 2) {
      @Override
      byte[] fold(byte[] key) throws InvalidKeyException {
        return ExpressionRule.ofEntry(key, 2);
      }
    };

    private final String id;
    private final int code;
    private final int version;

    Rule(String id, int code, int version) {
      this.id = id;
      this.code = code;
      this.version = version;
    }

    abstract byte[] fold(byte[] key) throws InvalidKeyException;

    private static byte[] url(byte[] key, PercentEscapes.Characters inQuery)
        throws InvalidKeyException {
      if (NormalUrl.matches(key)) {
        return key;
      }
      return NormalUrl.isHost(key)
          ? NormalUrl.withScheme(key)
          : UrlNormaliser.normalise(decode(key, "key"), inQuery);
    }
  }

  /**
   * Returns the canonical form of a key. May return the given array, so neither array may be
   * changed afterwards.
   *
   * @param utf8 the key; any bytes for {@link #NONE}, UTF-8 for the others
   * @throws InvalidKeyException if the key is empty or not UTF-8, exceeds the maximum length, or
   *     has no canonical form
   */
  public byte[] canonicalise(byte[] utf8) throws InvalidKeyException {
    if (utf8.length == 0) {
      throw new InvalidKeyException("key is empty");
    }
    checkLength("key", utf8.length);
    byte[] folded = rule.fold(utf8);
    byte[] form = stripped.isEmpty() ? folded : stripped.without(folded);
    checkLength("canonical key", form.length);
    return form;
  }

  /**
   * Returns the canonical form of a key that may be canonical already, such as a key of an accepted
   * topic. A canonical form is returned unchanged, even if {@link #canonicalise} rejects it because
   * it has a different meaning as a line of a list.
   *
   * @throws InvalidKeyException as {@link #canonicalise} does
   */
  public byte[] canonicaliseAgain(byte[] key) throws InvalidKeyException {
    return is(URL_EXPRESSION) && ExpressionRule.isForm(key) ? key : canonicalise(key);
  }

  /** Returns whether this is a version of the same rule, whatever parameters it strips. */
  public boolean is(Canonicaliser other) {
    return code() == other.code();
  }

  private static void checkLength(String what, int bytes) throws InvalidKeyException {
    if (bytes > Keys.MAX_KEY_BYTES) {
      throw new InvalidKeyException(
          what + " must be at most " + Keys.MAX_KEY_BYTES + " bytes, got " + bytes);
    }
  }

  /**
   * Returns whether a line of a list is blank or a comment. Such a line is skipped: it is neither
   * an entry nor an invalid entry.
   */
  public static boolean isCommentOfList(byte[] line) {
    return ListLine.isComment(new String(line, StandardCharsets.ISO_8859_1).trim());
  }

  /**
   * Returns whether a line of a list has more than one column. Version 1 of the rule treats such a
   * line as one entry.
   */
  public static boolean hasColumns(byte[] line) {
    return ListLine.hasColumns(new String(line, StandardCharsets.ISO_8859_1));
  }

  /**
   * Returns the rule {@link #URL} that also removes the query parameters that a pattern names.
   *
   * @param patterns with commas between them, at most {@value #MAX_STRIPPED_CHARS} characters. A
   *     pattern is the name of a parameter, or a prefix of names followed by {@code *}. Names
   *     consist of letters, digits and {@code - . _ ~} and are case-sensitive. The word {@code
   *     common} stands for the list of tracking parameters in {@code docs/format/url-v3.md}
   * @throws IllegalArgumentException if the patterns break these rules, or this is another rule
   */
  public Canonicaliser stripping(String patterns) {
    if (!is(URL)) {
      throw new IllegalArgumentException(
          "only the canonicaliser url strips parameters, not " + id());
    }
    return new Canonicaliser(rule, StrippedParameters.parse(patterns));
  }

  /**
   * Returns the patterns of the query parameters that are removed: sorted, each once, with commas
   * between them; empty if none are.
   */
  public String strippedParameters() {
    return stripped.toString();
  }

  /**
   * Returns the version of the rule. State and snapshots store this version and can only be used
   * with the same version of the rule.
   */
  public int version() {
    return rule.version;
  }

  /**
   * Returns the name in options, manifests and state: {@code none}, {@code url}, {@code text} or
   * {@code url-expression}.
   */
  public String id() {
    return rule.id;
  }

  /** Returns the number in binary headers. */
  public int code() {
    return rule.code;
  }

  /**
   * Returns the canonicaliser called {@code name}.
   *
   * @param name an {@link #id}, which means the newest version, or an id, {@code -} and a version,
   *     such as {@code url-2}
   * @throws IllegalArgumentException if no canonicaliser has this name
   */
  public static Canonicaliser of(String name) {
    return find(name)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "canonicaliser must be one of none, url, text, url-expression, or an older"
                        + " version, url-2 or url-expression-1, got '"
                        + name
                        + "'"));
  }

  /** Like {@link #of(String)}; empty if there is none. */
  public static Optional<Canonicaliser> find(String name) {
    return ALL.stream()
        .filter(each -> name.equals(each.id()) || name.equals(each.versionedName()))
        .findFirst();
  }

  /** Returns the id, {@code -} and the version, by which {@link #of(String)} finds this version. */
  public String versionedName() {
    return id() + "-" + version();
  }

  /**
   * Returns the canonicaliser with a code and a version, or its newest version if this program does
   * not support the given version.
   *
   * @throws IllegalArgumentException if no canonicaliser has this code
   */
  public static Canonicaliser of(int code, int version) {
    Optional<Canonicaliser> newest = ALL.stream().filter(each -> each.code() == code).findFirst();
    return ALL.stream()
        .filter(each -> each.code() == code && each.version() == version)
        .findFirst()
        .or(() -> newest)
        .orElseThrow(
            () -> new IllegalArgumentException("the canonicaliser must be in [0, 3], got " + code));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Canonicaliser that
        && rule == that.rule
        && stripped.equals(that.stripped);
  }

  @Override
  public int hashCode() {
    return 31 * versionedName().hashCode() + stripped.hashCode();
  }

  /** Returns the id and the stripped parameters, for messages. */
  @Override
  public String toString() {
    return stripped.isEmpty() ? id() : id() + " without " + stripped;
  }

  /** Returns the text of UTF-8 bytes; {@code what} names them in the message of the exception. */
  static String decode(byte[] utf8, String what) throws InvalidKeyException {
    ByteBuffer in = ByteBuffer.wrap(utf8);
    try {
      CharBuffer text = StandardCharsets.UTF_8.newDecoder().decode(in);
      return text.toString();
    } catch (CharacterCodingException e) {
      throw new InvalidKeyException(what + " is not UTF-8: malformed at byte " + in.position());
    }
  }
}
