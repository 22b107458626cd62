package io.firstseen.consumer.internal;

import java.util.LinkedHashSet;
import java.util.Set;

/** Remembers which sentences were reported, so that none is reported twice. */
final class Reports {
  private static final int MAX_REMEMBERED = 256;

  private final Set<String> said = new LinkedHashSet<>();

  /** Whether this sentence was reported before, as far as it is remembered. */
  boolean has(String what) {
    return said.contains(what);
  }

  /** Forgets all sentences. */
  void clear() {
    said.clear();
  }

  /** Whether this sentence was not reported before, as far as it is remembered. */
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
