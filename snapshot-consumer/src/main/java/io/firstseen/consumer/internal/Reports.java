package io.firstseen.consumer.internal;

import java.util.LinkedHashSet;
import java.util.Set;

/** Remembers which messages were reported, so that no message is reported twice. */
final class Reports {
  private static final int MAX_REMEMBERED = 256;

  private final Set<String> said = new LinkedHashSet<>();

  boolean has(String what) {
    return said.contains(what);
  }

  void clear() {
    said.clear();
  }

  /** Returns whether this message is not remembered as reported. */
  boolean isFirst(String what) {
    if (!said.add(what)) {
      return false;
    }
    if (said.size() > MAX_REMEMBERED) {
      said.remove(said.iterator().next());
    }
    return true;
  }
}
