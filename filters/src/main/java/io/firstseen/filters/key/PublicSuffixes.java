package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;

import crawlercommons.domains.EffectiveTldFinder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;

/**
 * The ICANN section of the public suffix list that crawler-commons bundles. Its {@link
 * EffectiveTldFinder} is not used, because any code in the JVM may replace the finder's list.
 *
 * <p>The private section is ignored, so an entry for a host of that section, such as {@code
 * github.io}, lists all hosts below it.
 */
final class PublicSuffixes {
  private static final String VERSION = "// VERSION: ";

  private enum Rule {
    /** The name is a public suffix. */
    SUFFIX,
    /** Every name that is one label longer is a public suffix. */
    WILDCARD,
    /** Both. */
    BOTH,
    /** The name is not a public suffix, although a wildcard rule covers it. */
    EXCEPTION
  }

  /** Loaded at the first use. */
  private static final class Loaded {
    static final PublicSuffixes INSTANCE = load();
  }

  private final Map<String, Rule> rules = new HashMap<>();
  private String version = "";
  // The labels of the longest rule, with its star.
  private int longestRule = 1;

  private PublicSuffixes() {}

  static PublicSuffixes bundled() {
    return Loaded.INSTANCE;
  }

  private static PublicSuffixes load() {
    InputStream list = EffectiveTldFinder.class.getResourceAsStream(EffectiveTldFinder.ETLD_DATA);
    if (list == null) {
      throw new IllegalStateException("crawler-commons comes without its public suffix list");
    }
    PublicSuffixes suffixes = new PublicSuffixes();
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(list, UTF_8))) {
      boolean icann = false;
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith(VERSION)) {
          suffixes.version = line.substring(VERSION.length());
        } else if (line.contains("===BEGIN ICANN DOMAINS===")) {
          icann = true;
        } else if (line.contains("===END ICANN DOMAINS===")) {
          icann = false;
        } else if (icann && !line.isBlank() && !line.startsWith("//")) {
          suffixes.add(line.strip());
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InvalidKeyException e) {
      throw new IllegalStateException("the public suffix list is damaged", e);
    }
    return suffixes;
  }

  private void add(String line) throws InvalidKeyException {
    if (line.startsWith("!")) {
      rules.put(Hosts.canonical(line.substring(1)), Rule.EXCEPTION);
    } else {
      boolean wildcard = line.startsWith("*.");
      String name = Hosts.canonical(wildcard ? line.substring(2) : line);
      rules.merge(name, wildcard ? Rule.WILDCARD : Rule.SUFFIX, PublicSuffixes::together);
    }
    longestRule = Math.max(longestRule, line.split("\\.", -1).length);
  }

  private static Rule together(Rule one, Rule other) {
    return one == other ? one : Rule.BOTH;
  }

  /** Returns the version that the list states. */
  String version() {
    return version;
  }

  /**
   * Returns the index at which the registrable domain starts in {@code domain}; -1 if {@code
   * domain} is a public suffix.
   */
  int registrableStart(String domain) {
    int suffix = domain.lastIndexOf('.') + 1;
    int below = suffix;
    for (int labels = 1; below > 0 && labels < longestRule; labels++) {
      // Longer rules may exist even if no rule matches the labels so far.
      int next = domain.lastIndexOf('.', below - 2) + 1;
      Rule parent = rules.get(domain.substring(below));
      Rule rule = rules.get(domain.substring(next));
      if (rule == Rule.EXCEPTION) {
        return next;
      }
      if (rule == Rule.SUFFIX
          || rule == Rule.BOTH
          || parent == Rule.WILDCARD
          || parent == Rule.BOTH) {
        suffix = next;
      }
      below = next;
    }
    return suffix == 0 ? -1 : domain.lastIndexOf('.', suffix - 2) + 1;
  }
}
