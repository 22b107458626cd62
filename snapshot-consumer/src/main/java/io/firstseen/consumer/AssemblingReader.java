package io.firstseen.consumer;

import io.firstseen.consumer.internal.AssemblerSettings;
import io.firstseen.consumer.internal.CachedState;
import io.firstseen.consumer.internal.Decision;
import io.firstseen.consumer.internal.FollowerTime;
import io.firstseen.consumer.internal.SnapshotAssembler;
import io.firstseen.consumer.internal.SnapshotCache;
import io.firstseen.consumer.internal.TopicFollower;
import io.firstseen.filters.snapshot.SnapshotException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Runs on the following thread: passes records to the assembler and executes its decisions. */
final class AssemblingReader implements TopicFollower.Reader {
  private final SnapshotClientOptions options;
  private final LongSupplier wallClockMillis;
  private final FollowerTime time;
  private final CurrentSnapshot current;
  private final Executor fetches;
  private final FollowedState shown;
  private final @Nullable SnapshotCache cache;
  // While there is no snapshot.
  private final OtherRecords others;
  private @Nullable String onlyOthers;
  private SnapshotAssembler assembler;
  private OptionalLong pinned;
  private String topicId;
  // -1 if the topic must be read from its beginning.
  private long nextOffset = -1;
  private long readBytesAtEnd;
  // When the first record for the next snapshot arrived.
  private long loadingSinceNanos = System.nanoTime();
  private boolean loading = true;

  AssemblingReader(
      SnapshotClientOptions options,
      LongSupplier wallClockMillis,
      FollowerTime time,
      CurrentSnapshot current,
      Executor fetches) {
    this.options = options;
    this.others = new OtherRecords(options.topic(), options.setName());
    this.wallClockMillis = wallClockMillis;
    this.time = time;
    this.current = current;
    this.shown =
        new FollowedState(
            options.setName(),
            "topic '" + options.topic() + "'",
            options.staleAfter(),
            options.listener(),
            wallClockMillis,
            () -> assembler.isLoading(),
            current);
    this.fetches = fetches;
    this.cache =
        options
            .cacheDirectory()
            .map(directory -> SnapshotCache.open(directory, options.setName()))
            .orElse(null);
    this.assembler = newAssembler();
    this.pinned = OptionalLong.empty();
    applyPin();
  }

  private SnapshotAssembler newAssembler() {
    return new SnapshotAssembler(
        new AssemblerSettings(
            options.setName(),
            options.isFollowingOnly() ? null : options.keyHash(),
            options.chunkWait().toMillis(),
            options.maxUnnamedBytes(),
            options.history(),
            options.trustedKeys(),
            options.blobSource(),
            cache,
            fetches));
  }

  boolean isClosed() {
    return current.view().state() == ClientState.CLOSED;
  }

  FollowedState shown() {
    return shown;
  }

  @Override
  public void start() {
    if (cache == null) {
      return;
    }
    try {
      Optional<CachedState> kept = cache.load();
      if (kept.isPresent()) {
        restore(kept.get());
      }
    } catch (SnapshotException e) {
      shown.notice(e.getMessage());
    } catch (RuntimeException | OutOfMemoryError | InternalError e) {
      // The topic contains all data of the cache. A mapped file that was truncated throws
      // InternalError.
      shown.notice("the cache of set '%s' cannot be used: %s".formatted(options.setName(), e));
      forget();
    }
    reportCacheTrouble();
  }

  /** Starts over as if no record had been read, because a restore may have failed half-way. */
  private void forget() {
    assembler = newAssembler();
    topicId = null;
    nextOffset = -1;
    pinned = OptionalLong.empty();
    applyPin();
    shown.forget();
  }

  private void restore(CachedState kept) throws SnapshotException {
    if (!kept.topic().equals(options.topic())) {
      throw new SnapshotException(
          "the cache of set '%s' is of topic '%s'".formatted(options.setName(), kept.topic()));
    }
    carryOut(assembler.restore(kept, shown::showNext));
    if (shown.active() != null && !kept.topicId().isEmpty()) {
      topicId = kept.topicId();
      nextOffset = kept.resumeOffset();
    }
  }

  @Override
  public void end() {
    if (fetches instanceof ExecutorService threads) {
      threads.shutdownNow();
    }
    if (cache != null) {
      cache.close();
    }
  }

  private void reportCacheTrouble() {
    if (cache != null) {
      cache.takeTrouble().ifPresent(shown::notice);
    }
  }

  @Override
  public OptionalLong open(String newTopicId) {
    boolean known = newTopicId != null && topicId != null;
    if (known && !newTopicId.equals(topicId)) {
      topicRecreated();
    }
    boolean same = known && newTopicId.equals(topicId);
    if (newTopicId != null) {
      topicId = newTopicId;
    }
    return same && nextOffset >= 0 && !assembler.needsBases()
        ? OptionalLong.of(nextOffset)
        : OptionalLong.empty();
  }

  private void topicRecreated() {
    OptionalLong highest = assembler.highestSequence();
    assembler.topicRecreated();
    nextOffset = -1;
    String sentence =
        "topic '%s' was recreated; set '%s' may start again with any sequence%s"
            .formatted(
                options.topic(),
                options.setName(),
                highest.isPresent() ? ", it was at " + highest.getAsLong() : "");
    shown.notice(sentence);
  }

  @Override
  public void rewind() {
    nextOffset = -1;
    assembler.rewind();
  }

  @Override
  public void accept(long offset, String key, byte[] value) {
    if (!loading) {
      loading = true;
      loadingSinceNanos = System.nanoTime();
    }
    shown.readRecords.incrementAndGet();
    shown.readBytes.addAndGet(value == null ? 0 : value.length);
    assembler.accept(offset, key, value, wallClockMillis);
    if (shown.active() == null && !key.equals(options.setName())) {
      others.accept(key, value);
    }
    if (offset != OTHER_PARTITION) {
      nextOffset = offset + 1;
    }
  }

  @Override
  public void progress(long recordsLeft) {
    long bytes = shown.readBytes.get() - readBytesAtEnd;
    shown.tell(listener -> listener.onProgress(bytes, recordsLeft));
  }

  @Override
  public boolean settle() {
    applyPin();
    long before = shown.snapshots.get();
    readBytesAtEnd = shown.readBytes.get();
    boolean reread =
        carryOut(assembler.settle(TimeUnit.NANOSECONDS.toMillis(time.nanoTime()), shown::showNext));
    shown.setUnusable(assembler.unusable().orElse(null));
    loading &= reread || assembler.isLoading();
    boolean hasActivated = shown.snapshots.get() > before;
    if (hasActivated) {
      // A manifest that never becomes complete may still be waiting.
      loadingSinceNanos = System.nanoTime();
    }
    if (cache != null && hasActivated) {
      // A client that starts without the pin reads manifests again that the pin has skipped.
      assembler.commit(options.topic(), topicId, pinned.isPresent() ? -1 : nextOffset);
    }
    reportCacheTrouble();
    assembler.takeNotice().ifPresent(shown::notice);
    reportOtherRecords();
    return reread;
  }

  /** Reports other records on the topic while there is no snapshot of the set. */
  private void reportOtherRecords() {
    if (onlyOthers != null && shown.active() != null) {
      shown.endRefusal(onlyOthers);
      onlyOthers = null;
    } else if (onlyOthers == null && shown.active() == null) {
      onlyOthers = others.insteadOfSet().orElse(null);
      if (onlyOthers != null) {
        shown.suspect(onlyOthers);
      }
    }
  }

  @Override
  public boolean needsBases() {
    return assembler.needsBases();
  }

  private void applyPin() {
    OptionalLong wanted = current.pinned();
    if (!wanted.equals(pinned)) {
      pinned = wanted;
      carryOut(assembler.pin(wanted, shown::showNext));
    }
  }

  /** Executes decisions. Returns whether the topic must be read again. */
  private boolean carryOut(List<Decision> decisions) {
    boolean reread = false;
    for (Decision decision : decisions) {
      if (decision instanceof Decision.Activate activate) {
        shown.answer(activate, loading ? loadingSinceNanos : System.nanoTime());
      } else if (decision instanceof Decision.Refuse refuse) {
        shown.refuse(refuse.reason());
      } else {
        reread = true;
      }
    }
    return reread;
  }

  @Override
  public void tick() {
    applyPin();
    shown.tick();
  }

  @Override
  public void unreachable(String reason) {
    shown.unreachable(reason);
  }

  @Override
  public void reachable() {
    shown.reachable();
  }
}
