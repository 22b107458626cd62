package io.firstseen.server.http;

import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The names that the Host header of a request may have. This stops DNS rebinding: a page of another
 * site, whose name an attacker has pointed to this server, could otherwise read replies. Its
 * requests have that site's name.
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

  // Null allows any.
  private final @Nullable Set<String> names;

  private AllowedHosts(@Nullable Set<String> names) {
    this.names = names;
  }

  /** Every name. */
  public static AllowedHosts any() {
    return ANY;
  }

  /**
   * These names, IP addresses and {@code localhost}; every name if one is {@code *}.
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
   * The names to allow by default for an address to listen on. If only this machine can connect,
   * they are IP addresses, {@code localhost} and the address's own name. Otherwise they are all
   * names, because it is unknown by which names other machines know this one.
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
   * Whether a request is answered.
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

  /** The names in a sentence. */
  @Override
  public String toString() {
    if (names == null) {
      return "any name";
    }
    return "an IP address, localhost" + (names.isEmpty() ? "" : ", " + String.join(", ", names));
  }
}
