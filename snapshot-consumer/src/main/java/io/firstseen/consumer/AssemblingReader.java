package io.firstseen.consumer;

import io.firstseen.consumer.CurrentSnapshot.View;
import io.firstseen.consumer.internal.ActiveSnapshot;
import io.firstseen.consumer.internal.AssemblerSettings;
import io.firstseen.consumer.internal.CachedState;
import io.firstseen.consumer.internal.Decision;
import io.firstseen.consumer.internal.SnapshotAssembler;
import io.firstseen.consumer.internal.SnapshotCache;
import io.firstseen.consumer.internal.TopicFollower;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs on the following thread: hands records to the assembler and carries out its decisions. */
final class AssemblingReader implements TopicFollower.Reader {
  private static final Logger LOG = LoggerFactory.getLogger(AssemblingReader.class);

  private final SnapshotClientOptions options;
  private final LongSupplier wallClockMillis;
  private final CurrentSnapshot current;
  private final @Nullable SnapshotCache cache;
  private SnapshotAssembler assembler;
  private final Counters counters = new Counters();

  private ClientState state = ClientState.EMPTY;
  private ActiveSnapshot active;
  private String trouble;
  private OptionalLong pinned;
  private String topicId;
  // -1 until the topic was read.
  private long nextOffset = -1;
  private long readBytesAtEnd;
  // When the first record for the next snapshot arrived.
  private long loadingSinceNanos = System.nanoTime();
  private boolean loading = true;

  AssemblingReader(
      SnapshotClientOptions options, LongSupplier wallClockMillis, CurrentSnapshot current) {
    this.options = options;
    this.wallClockMillis = wallClockMillis;
    this.current = current;
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
            options.history(),
            options.trustedKeys(),
            options.blobSource(),
            cache));
  }

  boolean isClosed() {
    return current.view().state() == ClientState.CLOSED;
  }

  Counters counters() {
    return counters;
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
      notice(e.getMessage());
    } catch (RuntimeException | OutOfMemoryError | InternalError e) {
      // The topic holds everything that the cache does. A mapped file that was truncated throws
      // InternalError.
      notice("the cache of set '%s' cannot be used: %s".formatted(options.setName(), e));
      forget();
    }
    tellCacheTrouble();
  }

  /** Starts over as if nothing had been read, since a restore may have failed half-way. */
  private void forget() {
    assembler = newAssembler();
    active = null;
    topicId = null;
    nextOffset = -1;
    pinned = OptionalLong.empty();
    applyPin();
    update();
  }

  private void restore(CachedState kept) throws SnapshotException {
    if (!kept.topic().equals(options.topic())) {
      throw new SnapshotException(
          "the cache of set '%s' is of topic '%s'".formatted(options.setName(), kept.topic()));
    }
    carryOut(assembler.restore(kept, this::showNext));
    if (active != null && !kept.topicId().isEmpty()) {
      topicId = kept.topicId();
      nextOffset = kept.resumeOffset();
    }
  }

  @Override
  public void end() {
    if (cache != null) {
      cache.close();
    }
  }

  private void tellCacheTrouble() {
    if (cache != null) {
      cache.takeTrouble().ifPresent(this::notice);
    }
  }

  private void notice(String sentence) {
    LOG.warn(sentence);
    tell(listener -> listener.onNotice(sentence));
  }

  @Override
  public OptionalLong open(String newTopicId) {
    boolean known = newTopicId != null && topicId != null;
    if (known && !newTopicId.equals(topicId)) {
      beginAnew();
    }
    boolean same = known && newTopicId.equals(topicId);
    if (newTopicId != null) {
      topicId = newTopicId;
    }
    return same && nextOffset >= 0 ? OptionalLong.of(nextOffset) : OptionalLong.empty();
  }

  private void beginAnew() {
    OptionalLong highest = assembler.highestSequence();
    assembler.beginAnew();
    nextOffset = -1;
    String sentence =
        "topic '%s' was created anew; set '%s' may begin anew with any sequence%s"
            .formatted(
                options.topic(),
                options.setName(),
                highest.isPresent() ? ", it was at " + highest.getAsLong() : "");
    notice(sentence);
  }

  @Override
  public void rewind() {
    nextOffset = -1;
    assembler.rewind();
  }

  @Override
  public void accept(long offset, String key, byte[] value, long timestampMillis) {
    nextOffset = offset + 1;
    if (!loading) {
      loading = true;
      loadingSinceNanos = System.nanoTime();
    }
    counters.readRecords.incrementAndGet();
    counters.readBytes.addAndGet(value == null ? 0 : value.length);
    assembler.accept(offset, key, value, timestampMillis);
  }

  @Override
  public void progress(long recordsLeft) {
    long bytes = counters.readBytes.get() - readBytesAtEnd;
    tell(listener -> listener.onProgress(bytes, recordsLeft));
  }

  @Override
  public boolean settle() {
    applyPin();
    long before = counters.snapshots.get();
    readBytesAtEnd = counters.readBytes.get();
    boolean reread =
        carryOut(
            assembler.settle(TimeUnit.NANOSECONDS.toMillis(System.nanoTime()), this::showNext));
    loading &= reread || assembler.isLoading();
    if (cache != null && counters.snapshots.get() > before) {
      assembler.commit(options.topic(), topicId, nextOffset);
    }
    tellCacheTrouble();
    return reread;
  }

  private void applyPin() {
    OptionalLong wanted = current.pinned();
    if (!wanted.equals(pinned)) {
      pinned = wanted;
      carryOut(assembler.pin(wanted, this::showNext));
    }
  }

  /** Carries out decisions. Returns whether the topic must be read again. */
  private boolean carryOut(List<Decision> decisions) {
    boolean reread = false;
    for (Decision decision : decisions) {
      if (decision instanceof Decision.Activate activate) {
        activate(activate.snapshot(), Optional.ofNullable(activate.changes()));
      } else if (decision instanceof Decision.Refuse refuse) {
        counters.refusals.incrementAndGet();
        complain(refuse.reason());
        tell(listener -> listener.onRefused(refuse.reason()));
      } else {
        reread = true;
      }
    }
    return reread;
  }

  /** Publishes a snapshot to queries, unless another sequence is pinned. */
  private boolean showNext(ActiveSnapshot next) {
    return current.showNext(new View(stateOf(next), next, null));
  }

  private void activate(ActiveSnapshot snapshot, Optional<Decision.Changes> changes) {
    Optional<Manifest> previous = Optional.ofNullable(active).map(ActiveSnapshot::manifest);
    active = snapshot;
    trouble = null;
    Manifest manifest = snapshot.manifest();
    long fetchedBytes = assembler.fetchedBytes() - counters.fetchedBytes.get();
    long tookMillis =
        loading ? TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - loadingSinceNanos) : 0;
    counters.snapshots.incrementAndGet();
    counters.fetchedBytes.set(assembler.fetchedBytes());
    counters.lastLoadMillis.set(tookMillis);
    LOG.info(
        "set '{}': sequence {} answers, {} keys until {}",
        options.setName(),
        manifest.sequence(),
        manifest.count(),
        Instant.ofEpochMilli(manifest.windowEndMillis()));
    update();
    SnapshotUpdate change =
        new SnapshotUpdate(
            manifest,
            previous,
            changes.map(each -> OptionalLong.of(each.added())).orElse(OptionalLong.empty()),
            changes.map(each -> OptionalLong.of(each.removed())).orElse(OptionalLong.empty()),
            fetchedBytes,
            tookMillis);
    tell(listener -> listener.onUpdate(change));
  }

  @Override
  public void tick() {
    applyPin();
    if (stateNow() != state) {
      update();
    }
  }

  @Override
  public void unreachable(String reason) {
    counters.outages.incrementAndGet();
    complain(reason);
    tell(listener -> listener.onUnreachable(reason));
  }

  @Override
  public void reachable() {
    trouble = null;
    update();
    LOG.info("topic '{}' can be read again", options.topic());
    tell(SnapshotListener::onReachable);
  }

  private void complain(String reason) {
    trouble = reason;
    update();
    LOG.warn(reason);
  }

  /** Publishes the current view, and tells the listener of a new state. */
  private void update() {
    ClientState before = state;
    state = stateNow();
    current.show(new View(state, active, trouble));
    if (state != before) {
      tell(listener -> listener.onState(state));
    }
  }

  private ClientState stateNow() {
    if (active == null) {
      return state == ClientState.LOADING || assembler.isLoading()
          ? ClientState.LOADING
          : ClientState.EMPTY;
    }
    return stateOf(active);
  }

  private ClientState stateOf(ActiveSnapshot answering) {
    long ageMillis = wallClockMillis.getAsLong() - answering.publishedMillis();
    return options.staleAfter().map(bound -> ageMillis >= bound.toMillis()).orElse(false)
        ? ClientState.STALE
        : ClientState.READY;
  }

  private void tell(Consumer<SnapshotListener> event) {
    try {
      event.accept(options.listener());
    } catch (RuntimeException | Error e) {
      LOG.warn("set '{}': the listener failed", options.setName(), e);
    }
  }
}
