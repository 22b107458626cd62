package io.firstseen.consumer.internal;

import io.firstseen.consumer.TestPublisher.Entry;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.SnapshotException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** Feeds an assembler and does what it decides. */
final class Following {
  static final long CHUNK_WAIT_MILLIS = 30_000;
  static final String SET = "spam";

  final SnapshotAssembler assembler;
  final List<String> refusals = new ArrayList<>();
  ActiveSnapshot active;
  int rereads;
  long offset;
  private long nowMillis = 1_000_000;

  Following(KeyHash keyHash) {
    this(keyHash, 0);
  }

  Following(KeyHash keyHash, int history) {
    this(keyHash, history, null);
  }

  Following(SnapshotCache cache) {
    this(KeyHash.fixed(), 0, cache);
  }

  private Following(KeyHash keyHash, int history, SnapshotCache cache) {
    assembler = new SnapshotAssembler(SET, keyHash, CHUNK_WAIT_MILLIS, history, cache);
  }

  Following() {
    this(KeyHash.fixed());
  }

  /** Reads records without reaching the end of the topic. */
  Following read(List<Entry> entries) {
    for (Entry entry : entries) {
      assembler.accept(offset++, entry.key(), entry.value(), nowMillis);
    }
    return this;
  }

  Following read(Entry... entries) {
    return read(List.of(entries));
  }

  /** Begins with what the cache holds. */
  void restore(CachedState state) throws SnapshotException {
    carryOut(assembler.restore(state, snapshot -> true));
  }

  /** Reaches the end of the topic. */
  Following settle() {
    carryOut(assembler.settle(nowMillis, snapshot -> true));
    return this;
  }

  /** Pins a sequence; -1 for none. */
  Following pin(long sequence) {
    OptionalLong pinned = sequence < 0 ? OptionalLong.empty() : OptionalLong.of(sequence);
    carryOut(assembler.pin(pinned, snapshot -> true));
    return this;
  }

  private void carryOut(List<Decision> decisions) {
    for (Decision decision : decisions) {
      if (decision instanceof Decision.Activate activate) {
        active = activate.snapshot();
      } else if (decision instanceof Decision.Refuse refuse) {
        refusals.add(refuse.reason());
      } else {
        rereads++;
      }
    }
  }

  /** Lets the time pass after which missing chunks are reported. */
  Following waitForChunks() {
    settle();
    nowMillis += CHUNK_WAIT_MILLIS;
    return settle();
  }

  long sequence() {
    return active == null ? -1 : active.sequence();
  }

  boolean contains(String key) throws Exception {
    return active.set().mightContainKey(key.getBytes(StandardCharsets.UTF_8), KeyHash.fixed());
  }
}
