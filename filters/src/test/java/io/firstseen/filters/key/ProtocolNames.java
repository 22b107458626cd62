package io.firstseen.filters.key;

/**
 * Names of rules in {@code conformance/README.md}: there the plain name means the first version
 * that it had, so that released cases stay as they are.
 */
public final class ProtocolNames {
  private ProtocolNames() {}

  /** The name of a rule. */
  public static String of(Canonicaliser rule) {
    boolean newer = rule.is(Canonicaliser.URL) ? rule.version() > 2 : rule.version() > 1;
    return newer ? rule.versionedName() : rule.id();
  }

  /** The rule of a name. */
  public static Canonicaliser rule(String name) {
    return Canonicaliser.of(
        switch (name) {
          case "url" -> "url-2";
          case "url-expression" -> "url-expression-1";
          default -> name;
        });
  }
}
