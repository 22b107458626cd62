package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;

import crawlercommons.domains.EffectiveTldFinder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.Set;

/**
 * The ICANN section of the public suffix list that crawler-commons bundles. Its {@link
 * EffectiveTldFinder} is not used, because any code in the JVM may replace the finder's list.
 *
 * <p>The private section is ignored, so an entry for a host of that section, such as {@code
 * github.io}, lists all hosts below it.
 */
final class PublicSuffixes {
  private static final String VERSION = "// VERSION: ";

  /** Loaded at the first use. */
  private static final class Loaded {
    static final PublicSuffixes INSTANCE = load();
  }

  private final Set<String> suffixes = new HashSet<>();
  // Every name that is one label longer than one of these is a public suffix.
  private final Set<String> wildcards = new HashSet<>();
  // Names that are not public suffixes, although a wildcard covers them.
  private final Set<String> exceptions = new HashSet<>();
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
      exceptions.add(Hosts.canonical(line.substring(1)));
    } else if (line.startsWith("*.")) {
      wildcards.add(Hosts.canonical(line.substring(2)));
    } else {
      suffixes.add(Hosts.canonical(line));
    }
    longestRule = Math.max(longestRule, line.split("\\.", -1).length);
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
      if (exceptions.contains(domain.substring(next))) {
        return next;
      }
      if (suffixes.contains(domain.substring(next))
          || wildcards.contains(domain.substring(below))) {
        suffix = next;
      }
      below = next;
    }
    return suffix == 0 ? -1 : domain.lastIndexOf('.', suffix - 2) + 1;
  }
}
