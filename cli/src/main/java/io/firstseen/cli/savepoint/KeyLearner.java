package io.firstseen.cli.savepoint;

import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.ScopedKey;
import io.firstseen.jobs.files.DeadLetterFile;
import io.firstseen.operators.dedup.KnownKeys;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.Operation;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Converts events into known keys like a dedup job. Unusable events are separated and counted. */
final class KeyLearner {
  private static final int MAX_DEAD_LETTERS_TOLD = 5;

  private final Canonicaliser canonicaliser;
  private final KeyHash keyHash;
  private final KnownKeys known;
  private final @Nullable DeadLetterFile deadLetterFile;

  private long events;
  private long deadLetters;
  private final List<String> told = new ArrayList<>();

  KeyLearner(
      Canonicaliser canonicaliser,
      KeyHash keyHash,
      KnownKeys known,
      @Nullable DeadLetterFile deadLetterFile) {
    this.canonicaliser = canonicaliser;
    this.keyHash = keyHash;
    this.known = known;
    this.deadLetterFile = deadLetterFile;
  }

  /** Learns an event of the input. */
  void learn(SourceEvent event) {
    learn(event, event.scope(), event.key(), canonicaliser::canonicalise);
  }

  /** Learns a change of an accepted topic, whose key is prefixed with its scope. */
  void learnChange(SourceEvent change) {
    byte[] scope = null;
    byte[] key = change.key();
    try {
      scope = ScopedKey.scope(change.key());
      key = ScopedKey.key(change.key());
    } catch (IllegalArgumentException e) {
      events++;
      setAside(change, e.getMessage());
      return;
    }
    learn(change, scope, key, canonicaliser::canonicaliseAgain);
  }

  /** Gives a key its canonical form. */
  @FunctionalInterface
  private interface Form {
    byte[] of(byte[] key) throws InvalidKeyException;
  }

  private void learn(SourceEvent event, byte @Nullable [] scope, byte[] key, Form form) {
    events++;
    if (!event.isWellFormed()) {
      setAside(event, event.problem());
      return;
    }
    long hash;
    try {
      hash = keyHash.hash(ScopedKey.join(scope, form.of(key)));
    } catch (InvalidKeyException e) {
      setAside(event, e.getMessage());
      return;
    }
    try {
      if (event.operation() == Operation.ADD) {
        known.add(hash, event.timestampMillis());
      } else {
        known.remove(hash);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void setAside(SourceEvent event, String reason) {
    deadLetters++;
    if (deadLetterFile != null) {
      deadLetterFile.write(event, reason);
    } else if (told.size() < MAX_DEAD_LETTERS_TOLD) {
      told.add(event.place() + ": " + reason);
    }
  }

  /** Events so far, including unusable ones. */
  long events() {
    return events;
  }

  /** Unusable events so far. */
  long deadLetters() {
    return deadLetters;
  }

  String progress() {
    return SnapshotSummary.number(events) + " events read";
  }

  /** Prints the first unusable events, unless they go to a file. */
  void warnOfDeadLetters(PrintWriter err) {
    if (told.isEmpty()) {
      return;
    }
    err.printf(
        "warning: %s events are unusable (--dead-letters writes them to a file)%s%n",
        SnapshotSummary.number(deadLetters), deadLetters > told.size() ? ", the first ones:" : ":");
    told.forEach(err::println);
  }
}
