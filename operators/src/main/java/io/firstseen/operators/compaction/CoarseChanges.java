package io.firstseen.operators.compaction;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.snapshot.SectionWriter;
import io.firstseen.filters.snapshot.SetDigest;
import org.jspecify.annotations.Nullable;

/**
 * Translates changes of a shard's live keys into changes of snapshot values. A value is the value
 * of a key's suffix in the universe of the published sets, so several keys may share a value. The
 * keys must be given in ascending order. Computes the digest of the values after the changes, and
 * writes the differences to a section.
 */
final class CoarseChanges {
  /** The maximum number of keys per call; longer runs are passed in several calls. */
  static final int MAX_RUN = 512;

  private final int shardBits;
  private final Universe universe;
  private final @Nullable SectionWriter section;
  private final SetDigest digest;
  private final long[] run = new long[MAX_RUN];
  // The value of the last key, and whether a key with this value is live before and after the
  // changes.
  private long value;
  private boolean before;
  private boolean after;
  private long place;
  private long count;

  /**
   * Begins with the first key.
   *
   * @param shardBits the bits of a hash that are not in a suffix
   * @param universe the values of the published sets
   * @param section receives the differences; null if they are not needed
   */
  CoarseChanges(int shardBits, Universe universe, @Nullable SectionWriter section) {
    this.shardBits = shardBits;
    this.universe = universe;
    this.section = section;
    this.digest = new SetDigest(universe);
  }

  /** Adds 1 to {@value #MAX_RUN} keys that are live before and after the changes. */
  void kept(long[] suffixes, int from, int to) {
    kept(suffixes[from]);
    long last = value;
    int length = 0;
    for (int i = from + 1; i < to; i++) {
      long next = valueOf(suffixes[i]);
      // Overwritten in the next step if the value repeats; this avoids a branch.
      run[length] = last;
      length += next == last ? 0 : 1;
      last = next;
    }
    digest.add(run, length);
    count += length;
    place += length;
    value = last;
  }

  void kept(long suffix) {
    moveTo(valueOf(suffix));
    before = true;
    after = true;
  }

  /** Adds a key that is live only after the changes. */
  void added(long suffix) {
    moveTo(valueOf(suffix));
    after = true;
  }

  /** Adds a key that was live only before the changes. */
  void removed(long suffix) {
    moveTo(valueOf(suffix));
    before = true;
  }

  private long valueOf(long suffix) {
    return universe.valueOf(suffix << shardBits);
  }

  private void moveTo(long next) {
    if (next != value) {
      finishValue();
      value = next;
      before = false;
      after = false;
    }
  }

  private void finishValue() {
    if (after) {
      digest.add(value);
      count++;
    }
    if (section != null && before != after) {
      if (after) {
        section.add(value);
      } else {
        section.remove(place);
      }
    }
    place += before ? 1 : 0;
  }

  /** Ends the input and returns the digest of the values after the changes. */
  String finish() {
    finishValue();
    return digest.hex();
  }

  long count() {
    return count;
  }
}
