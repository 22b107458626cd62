package io.firstseen.consumer.internal;

import io.firstseen.consumer.TestPublisher.Entry;
import io.firstseen.filters.key.KeyHash;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Feeds an assembler and does what it decides. */
final class Following {
  static final long CHUNK_WAIT_MILLIS = 30_000;
  static final String SET = "spam";

  final SnapshotAssembler assembler;
  final List<String> refusals = new ArrayList<>();
  ActiveSnapshot active;
  int rereads;
  private long nowMillis = 1_000_000;

  Following(KeyHash keyHash) {
    assembler = new SnapshotAssembler(SET, keyHash, CHUNK_WAIT_MILLIS);
  }

  Following() {
    this(KeyHash.fixed());
  }

  /** Reads records without reaching the end of the topic. */
  Following read(List<Entry> entries) {
    for (Entry entry : entries) {
      assembler.accept(entry.key(), entry.value(), nowMillis);
    }
    return this;
  }

  Following read(Entry... entries) {
    return read(List.of(entries));
  }

  /** Reaches the end of the topic. */
  Following settle() {
    for (Decision decision : assembler.settle(nowMillis)) {
      if (decision instanceof Decision.Activate activate) {
        active = activate.snapshot();
      } else if (decision instanceof Decision.Refuse refuse) {
        refusals.add(refuse.reason());
      } else {
        rereads++;
      }
    }
    return this;
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
