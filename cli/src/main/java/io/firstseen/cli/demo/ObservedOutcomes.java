package io.firstseen.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.BitSet;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The pipeline's results for the demo's stream, read from its topics. */
final class ObservedOutcomes {
  private final BitSet accepted = new BitSet();
  private final BitSet acceptedTwice = new BitSet();
  private final Set<String> live = new HashSet<>();
  private long acceptedRecords;
  private long removals;
  private long strayRemovals;
  private long duplicates;
  private long unknownDeletes;
  private long deadLetters;

  /** Adds a record of the changelog; those of one key must come in order. */
  void changelog(byte[] key, byte @Nullable [] value) {
    String url = new String(key, UTF_8);
    if (value == null) {
      removals++;
      if (!live.remove(url)) {
        strayRemovals++;
      }
    } else {
      acceptedRecords++;
      int number = DemoEvent.numberIn(value);
      accepted.set(number);
      if (!live.add(url)) {
        acceptedTwice.set(number);
      }
    }
  }

  void duplicate() {
    duplicates++;
  }

  void unknownDelete() {
    unknownDeletes++;
  }

  void deadLetter() {
    deadLetters++;
  }

  /** The numbers of the events that were accepted. */
  BitSet accepted() {
    return accepted;
  }

  /** The live keys according to the changelog. */
  Set<String> live() {
    return live;
  }

  long acceptedRecords() {
    return acceptedRecords;
  }

  /** The numbers of the events whose key was accepted while it was live. */
  BitSet acceptedTwice() {
    return acceptedTwice;
  }

  long removals() {
    return removals;
  }

  /**
   * How many removals were of keys that had not been accepted. Each of them removed the fingerprint
   * of another key from the filter, which may then be accepted a second time.
   */
  long strayRemovals() {
    return strayRemovals;
  }

  long duplicates() {
    return duplicates;
  }

  long unknownDeletes() {
    return unknownDeletes;
  }

  long deadLetters() {
    return deadLetters;
  }

  /** The number of outcomes. */
  long outcomes() {
    return acceptedRecords + removals + duplicates + unknownDeletes + deadLetters;
  }
}
