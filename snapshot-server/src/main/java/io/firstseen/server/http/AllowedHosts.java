package io.firstseen.server.http;

import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The allowed names in the Host header of a request. This prevents DNS rebinding: a page of a
 * different site whose name an attacker has pointed to this server could otherwise read replies.
 * Its requests contain the site's name.
 *
 * <p>IP addresses and {@code localhost} are always allowed: no other site can have them.
 */
public final class AllowedHosts {
  private static final AllowedHosts ANY = new AllowedHosts(null);

  private static final String ALL = "*";
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?");
  private static final Pattern ADDRESS =
      Pattern.compile("[0-9]{1,3}(\\.[0-9]{1,3}){3}|\\[[0-9A-Fa-f:.%]+\\]");
  private static final Pattern PORT = Pattern.compile(":[0-9]*$");

  // Null allows any name.
  private final @Nullable Set<String> names;

  private AllowedHosts(@Nullable Set<String> names) {
    this.names = names;
  }

  /** Allows every name. */
  public static AllowedHosts any() {
    return ANY;
  }

  /**
   * Allows these names, IP addresses and {@code localhost}; every name if one is {@code *}.
   *
   * @throws IllegalArgumentException if one of them is not the name of a host
   */
  public static AllowedHosts only(Collection<String> names) {
    Set<String> lowerCase = new TreeSet<>();
    for (String name : names) {
      if (!name.equals(ALL) && !NAME.matcher(name).matches()) {
        throw new IllegalArgumentException(
            "must be the name of a host without a port, such as filter.example.org, or *, got '"
                + name
                + "'");
      }
      lowerCase.add(name.toLowerCase(Locale.ROOT));
    }
    return lowerCase.contains(ALL) ? ANY : new AllowedHosts(lowerCase);
  }

  /**
   * Returns the names to allow by default for an address to listen on. If only this machine can
   * connect, these are IP addresses, {@code localhost} and the name of the address. Otherwise all
   * names are allowed, because the names under which other machines know this machine are unknown.
   */
  public static AllowedHosts defaultFor(InetSocketAddress address) {
    if (address.isUnresolved() || !address.getAddress().isLoopbackAddress()) {
      return ANY;
    }
    AllowedHosts local = only(Set.of());
    String name = address.getHostString();
    return local.allow(name) || !NAME.matcher(name).matches() ? local : only(Set.of(name));
  }

  /**
   * Returns whether a request is allowed.
   *
   * @param host its Host header; null if it has none, as HTTP/1.0 allows and no browser does
   */
  boolean allow(@Nullable String host) {
    if (names == null || host == null) {
      return true;
    }
    String name = PORT.matcher(host.strip()).replaceFirst("").toLowerCase(Locale.ROOT);
    if (name.endsWith(".")) {
      name = name.substring(0, name.length() - 1);
    }
    return ADDRESS.matcher(name).matches()
        || name.equals("localhost")
        || name.endsWith(".localhost")
        || names.contains(name);
  }

  /** Returns the names for messages. */
  @Override
  public String toString() {
    if (names == null) {
      return "any name";
    }
    return "an IP address, localhost" + (names.isEmpty() ? "" : ", " + String.join(", ", names));
  }
}
