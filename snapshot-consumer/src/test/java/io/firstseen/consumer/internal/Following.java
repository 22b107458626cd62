package io.firstseen.consumer.internal;

import io.firstseen.consumer.TestPublisher.Entry;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.TrustedKey;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;

/** Feeds an assembler and carries out its decisions. */
final class Following {
  static final long CHUNK_WAIT_MILLIS = 30_000;
  private static final long REREAD_AFTER_MILLIS = 2_000;
  static final String SET = "spam";

  final SnapshotAssembler assembler;
  final List<String> refusals = new ArrayList<>();
  ActiveSnapshot active;
  CatchUp.Changes changes;
  CatchUp.Way way;
  long bytes;
  int rereads;
  private boolean wantsReread;
  int activations;
  long offset;
  private long nowMillis = 1_000_000;

  Following(AssemblerSettings settings) {
    assembler = new SnapshotAssembler(settings);
  }

  private Following(SnapshotAssembler assembler) {
    this.assembler = assembler;
  }

  /** An assembler without a cache that may have so many bytes of blobs in memory. */
  static Following inMemory(long maxBytes) {
    return new Following(new SnapshotAssembler(settings(KeyHash.fixed(), 0, null), maxBytes));
  }

  Following(KeyHash keyHash) {
    this(settings(keyHash, 0, null));
  }

  Following(KeyHash keyHash, int history) {
    this(settings(keyHash, history, null));
  }

  Following(SnapshotCache cache) {
    this(settings(KeyHash.fixed(), 0, cache));
  }

  Following() {
    this(KeyHash.fixed());
  }

  private static AssemblerSettings settings(KeyHash keyHash, int history, SnapshotCache cache) {
    return settings(
        keyHash, OptionalLong.empty(), history, Set.of(), new BlobSource(null, null, false), cache);
  }

  private static AssemblerSettings settings(
      KeyHash keyHash,
      OptionalLong maxUnnamedBytes,
      int history,
      Set<TrustedKey> trustedKeys,
      BlobSource blobs,
      SnapshotCache cache) {
    return new AssemblerSettings(
        SET,
        keyHash,
        CHUNK_WAIT_MILLIS,
        maxUnnamedBytes,
        history,
        trustedKeys,
        blobs,
        cache,
        Runnable::run);
  }

  /** An assembler with these trusted keys and this source of blobs. */
  static Following with(Set<TrustedKey> trustedKeys, BlobSource blobs) {
    return new Following(
        settings(KeyHash.fixed(), OptionalLong.empty(), 0, trustedKeys, blobs, null));
  }

  /** An assembler with a bound on chunks that nothing waits for. */
  static Following within(long maxUnnamedBytes) {
    return new Following(
        settings(
            KeyHash.fixed(),
            OptionalLong.of(maxUnnamedBytes),
            0,
            Set.of(),
            new BlobSource(null, null, false),
            null));
  }

  /** Reads records without reaching the end of the topic. */
  Following read(List<Entry> entries) {
    for (Entry entry : entries) {
      assembler.accept(offset++, entry.key(), entry.value(), () -> nowMillis);
    }
    return this;
  }

  Following read(Entry... entries) {
    return read(List.of(entries));
  }

  /** Reads records of the last partition. */
  Following readBases(List<Entry> entries) {
    for (Entry entry : entries) {
      assembler.accept(
          TopicFollower.Reader.OTHER_PARTITION, entry.key(), entry.value(), () -> nowMillis);
    }
    return this;
  }

  /** Starts to read all of the topic again, if the last {@link #settle} asked for it. */
  boolean rewindIfAsked() {
    boolean isAsked = wantsReread;
    if (isAsked) {
      wantsReread = false;
      assembler.rewind();
      offset = 0;
    }
    return isAsked;
  }

  /** Restores the content of the cache. */
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
        activations++;
        changes = activate.changes();
        way = activate.way();
        bytes = activate.bytes();
      } else if (decision instanceof Decision.Refuse refuse) {
        refusals.add(refuse.reason());
      } else {
        rereads++;
        wantsReread = true;
      }
    }
  }

  /** Lets the time pass until missing chunks are reported. */
  Following waitForChunks() {
    settle();
    nowMillis += CHUNK_WAIT_MILLIS;
    return settle();
  }

  /** Lets the time pass until the topic is read again for what is missing. */
  Following waitForReread() {
    return waitFor(REREAD_AFTER_MILLIS);
  }

  Following waitFor(long millis) {
    settle();
    nowMillis += millis;
    return settle();
  }

  long sequence() {
    return active == null ? -1 : active.sequence();
  }

  boolean contains(String key) throws Exception {
    return active.set().mightContainKey(key.getBytes(StandardCharsets.UTF_8), KeyHash.fixed());
  }
}
