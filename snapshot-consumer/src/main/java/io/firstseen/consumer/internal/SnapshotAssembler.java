package io.firstseen.consumer.internal;

import io.firstseen.consumer.internal.ManifestOrder.Verdict;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.SnapshotTopicFormat.ChunkKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Turns the records of a snapshots topic into verified snapshots of one set. {@link #accept} only
 * stores records; {@link #settle}, which is called whenever the end of the topic has been reached,
 * returns decisions. Old manifests are therefore not evaluated: of the manifests read since the
 * last call, {@link ManifestOrder#keep} selects a few.
 *
 * <p>The last valid snapshot is never dropped. A manifest replaces it when its sequence is higher
 * and all its blobs are loaded and verified. Until then the manifest waits, at first without a
 * report. Lower sequences also wait, because they may become complete when the highest does not.
 *
 * <p>A manifest is reached by packs or by bases, see {@link CatchUp}. Bases are read only while
 * {@link #needsBases}; if a base or a pack is missing later, the whole topic is read again.
 *
 * <p><b>Memory.</b> {@link ChunkSelection} decides which chunks are kept, and limits chunks for
 * which no manifest waits.
 *
 * <p>Does not depend on Kafka or a clock. Not safe for use by several threads.
 */
public final class SnapshotAssembler {
  /** The default limit for unnamed chunks while a small set is active, in bytes. */
  public static final long DEFAULT_MAX_UNNAMED_BYTES = 256L << 20;

  private final AssemblerSettings settings;
  private final String setName;
  private final ChunkStore chunks;
  private final ChunkSelection selection;
  private final CandidateLoader loader;
  private final LoadedSnapshots loaded;
  private final BlobWaits waits;
  private final ManifestReader reader;
  private final Candidates candidates;
  private final Reports reports = new Reports();
  // The problems of manifests since a snapshot became active. Their messages do not name a
  // sequence.
  private final Reports problems = new Reports();
  private final ManifestOrder order = new ManifestOrder();

  /**
   * One call of this assembler.
   *
   * @param show publishes a snapshot and returns whether it may be published
   * @param decisions the decisions so far
   */
  private record Round(long nowMillis, Predicate<ActiveSnapshot> show, List<Decision> decisions) {
    Round(long nowMillis, Predicate<ActiveSnapshot> show) {
      this(nowMillis, show, new ArrayList<>());
    }
  }

  /** Creates an assembler that has not seen any records. */
  public SnapshotAssembler(AssemblerSettings settings) {
    // A set and its blobs are in memory at the same time.
    this(settings, Runtime.getRuntime().maxMemory() / 2);
  }

  /**
   * Creates an assembler with a memory limit.
   *
   * @param maxMemoryBytes the maximum number of bytes of a set's blobs in memory; with a cache they
   *     are in files
   */
  SnapshotAssembler(AssemblerSettings settings, long maxMemoryBytes) {
    this.settings = settings;
    this.setName = settings.setName();
    this.reader = new ManifestReader(setName, settings.keyHash(), settings.trustedKeys());
    this.candidates = new Candidates(settings, reader, order);
    this.chunks = new ChunkStore(settings.cache());
    this.selection = new ChunkSelection(setName, chunks, this::maxUnnamedBytes);
    this.loader = new CandidateLoader(settings, chunks);
    this.loaded = new LoadedSnapshots(settings.cache(), settings.historyLength());
    this.waits =
        new BlobWaits(
            settings,
            settings.cache() == null ? maxMemoryBytes : Long.MAX_VALUE,
            chunks,
            selection,
            reports);
  }

  /**
   * Starts with the content of a cache.
   *
   * @return the decisions to execute immediately
   * @throws SnapshotException if the content cannot be used
   */
  public List<Decision> restore(CachedState state, Predicate<ActiveSnapshot> show)
      throws SnapshotException {
    Manifest manifest = reader.read(state.manifest().toBytes());
    String why = candidates.whyUnreadable(manifest);
    if (why != null) {
      throw new SnapshotException(why);
    }
    ActiveSnapshot kept = loaded.open(state, manifest);
    order.restore(state.highest());
    selection.dropBases();
    candidates.restored();
    Round round = new Round(0, show);
    activate(Decision.Activate.kept(kept), round);
    return round.decisions;
  }

  /**
   * Writes the active snapshot to the cache, if all of it can be written.
   *
   * @param nextOffset the offset that is read next
   */
  public void commit(String topic, String topicId, long nextOffset) {
    loaded.commit(topic, topicId, resumeOffset(nextOffset), order.highest());
  }

  /**
   * Must be called when the topic was recreated, because its manifests may begin with any sequence.
   */
  public void topicRecreated() {
    order.topicRecreated();
  }

  /**
   * Returns the highest sequence that was active since the topic was created; empty if there was
   * none.
   */
  public OptionalLong highestSequence() {
    return order.highest() == null
        ? OptionalLong.empty()
        : OptionalLong.of(order.highest().sequence());
  }

  /**
   * Pins a sequence, or if empty, allows any later sequence again. The active snapshot stays active
   * until the pinned snapshot is loaded.
   *
   * @param show publishes a snapshot and returns whether it may be published
   * @return the decisions to execute immediately, without reading the topic
   */
  public List<Decision> pin(OptionalLong sequence, Predicate<ActiveSnapshot> show) {
    order.pin(sequence);
    candidates.pin(sequence);
    Round round = new Round(0, show);
    if (sequence.isPresent()) {
      loaded
          .take(sequence.getAsLong())
          .ifPresent(earlier -> activate(Decision.Activate.kept(earlier), round));
    }
    // Records of the pinned sequence that were read before were not kept.
    waits.requestReread(candidates.hasSeenManifests() && !order.isSettled());
    return round.decisions;
  }

  private long maxUnnamedBytes() {
    return settings
        .maxUnnamedBytes()
        .orElseGet(() -> Math.max(DEFAULT_MAX_UNNAMED_BYTES, 2 * loaded.activeBytes()));
  }

  /**
   * Returns a notice for the user; empty if there is none, or if it was already returned since a
   * snapshot became active.
   */
  public Optional<String> takeNotice() {
    return selection.takeNotice();
  }

  /**
   * Stores the next record of the topic.
   *
   * @param offset see {@link TopicFollower.Reader#accept}
   * @param key the record's key
   * @param value its value; null for a tombstone. Not copied, must not be changed
   * @param clockMillis the current time, in milliseconds since the epoch
   */
  public void accept(long offset, String key, byte @Nullable [] value, LongSupplier clockMillis) {
    Optional<ChunkKey> chunkKey = SnapshotTopicFormat.parseChunkKey(key);
    if (chunkKey.isPresent()) {
      selection.accept(offset, chunkKey.get(), value, candidates::asked);
    } else if (key.equals(setName) && offset != TopicFollower.Reader.OTHER_PARTITION) {
      candidates
          .accept(offset, value, clockMillis)
          .ifPresent(useless -> selection.dropUpTo(useless.sequence(), offset, candidates.asked()));
    }
  }

  /**
   * Returns why no manifest on the topic can become active with the settings of this client; empty
   * if a snapshot is active or may become active. Must be called after {@link #settle}.
   */
  public Optional<String> unusable() {
    return loaded.active() != null ? Optional.empty() : candidates.unusable();
  }

  /**
   * Forgets unused records, because the whole topic is about to be read from its beginning. The
   * active snapshot is kept.
   */
  public void rewind() {
    selection.clear();
    candidates.rewind();
    waits.rewind();
  }

  /**
   * Returns whether bases are needed, which are on the last partition of the topic. They are needed
   * from {@link #rewind} until no manifest waits for blobs that the topic may still contain.
   */
  public boolean needsBases() {
    return selection.keepsBases();
  }

  /** Returns whether a manifest waits to become active. */
  public boolean isLoading() {
    return !candidates.all().isEmpty();
  }

  /**
   * Returns the offset to read from if only the active snapshot is kept.
   *
   * @param nextOffset the offset to read from if all records are kept
   */
  public long resumeOffset(long nextOffset) {
    long first = Math.min(nextOffset, chunks.firstOffset());
    for (Candidate candidate : candidates.all()) {
      first = Math.min(first, candidate.offset);
    }
    return first;
  }

  /** Returns the bytes of kept chunks. */
  public long bufferedBytes() {
    return chunks.totalBytes();
  }

  /**
   * Evaluates the records read so far; called at the end of the topic. Must be called again from
   * time to time, because waits for chunks time out.
   *
   * @param nowMillis the time of any monotonic clock
   * @param show publishes a snapshot and returns whether it may be published
   * @return the decisions to execute, in order
   */
  public List<Decision> settle(long nowMillis, Predicate<ActiveSnapshot> show) {
    Round round = new Round(nowMillis, show);
    selection.awaitNothing();
    loader.endOtherThan(candidates.all());
    for (Candidate candidate : candidates.highestFirst()) {
      // A higher candidate that became active has superseded earlier candidates in the topic.
      if (candidates.all().contains(candidate) && evaluate(candidate, round)) {
        break;
      }
    }
    // The problem of the newest manifest, which remains even if an older manifest has just become
    // active.
    String problem = candidates.problem();
    if (problem != null && problems.isFirst(problem)) {
      round.decisions.add(new Decision.Refuse(problem));
    }
    if (candidates.all().isEmpty()) {
      waits.end();
      loader.forget();
    }
    waits.dropBases(
        nowMillis, loaded.active() != null, candidates.all().stream().anyMatch(this::mayNeedBases));
    waits.retain(candidates.all());
    if (waits.takeReread()) {
      round.decisions.add(new Decision.Reread());
    } else if (order.pinned().isPresent() && !order.isSettled() && candidates.all().isEmpty()) {
      refuse(
          round,
          "sequence %d of set '%s' is pinned and is not on the topic; %s"
              .formatted(order.pinned().getAsLong(), setName, order.whatAnswers()));
    }
    return round.decisions;
  }

  /**
   * Not if its blobs are not on the topic, or if the topic was already read again for them without
   * success.
   */
  private boolean mayNeedBases(Candidate candidate) {
    return !loader.isElsewhere(candidate) && !candidate.isGivenUp;
  }

  /** Returns whether lower sequences must wait. */
  private boolean evaluate(Candidate candidate, Round round) {
    Verdict verdict = order.check(candidate.manifest);
    switch (verdict) {
      case NEXT -> {
        return advance(candidate, round);
      }
      case SAME -> {
        supersede(candidate);
        order.answer(candidate.manifest);
        refresh(candidate, round);
      }
      case NOT_PINNED -> candidates.remove(candidate);
      case BACK, FORKED -> {
        candidates.remove(candidate);
        refuse(round, order.reason(candidate.manifest, verdict));
      }
    }
    return false;
  }

  private void refresh(Candidate again, Round round) {
    ActiveSnapshot active = loaded.active();
    if (again.manifest.publishedMillis() <= active.manifest().publishedMillis()) {
      return;
    }
    ActiveSnapshot next = loaded.again(again.manifest, again.readMillis);
    if (round.show.test(next)) {
      loaded.refresh(next);
      round.decisions.add(Decision.Activate.kept(next));
    }
  }

  /** Drops the candidate that became active, and older candidates that precede it in the topic. */
  private void supersede(Candidate answering) {
    candidates.supersede(answering);
    selection.dropUpTo(answering.sequence(), answering.offset, candidates.asked());
    loader.forget();
  }

  /**
   * Loads the available blobs of a candidate, and then activates it or lets it wait. Returns
   * whether lower sequences must also wait.
   */
  private boolean advance(Candidate candidate, Round round) {
    if (!candidate.waits) {
      candidate.waits = true;
      candidate.waitsSinceMillis = round.nowMillis;
    }
    List<BlobReference> lacked = candidate.lacking;
    try {
      Optional<CatchUp> reached =
          loader.load(
              candidate, loaded.sets(), round.nowMillis, complaint -> refuse(round, complaint));
      if (reached.isPresent()) {
        answer(candidate, reached.get(), round);
      } else if (!loader.isElsewhere(candidate) && candidate.load.isDue(round.nowMillis)) {
        if (!lacked.isEmpty() && !lacked.equals(candidate.lacking)) {
          waits.tryAgain(candidate, round.nowMillis);
        }
        return waits.await(
            candidate,
            candidates.asked(),
            loaded.active() != null,
            round.nowMillis,
            round.decisions::add);
      }
    } catch (SnapshotException e) {
      refuse(round, candidates.refuse(candidate, e));
    }
    return false;
  }

  private void answer(Candidate candidate, CatchUp reached, Round round) throws SnapshotException {
    if (reached.refusal() != null) {
      refuse(round, reader.detour(candidate.sequence(), reached.refusal()));
    }
    ActiveSnapshot active = loaded.active();
    ActiveSnapshot next =
        ActiveSnapshot.of(loaded.keep(candidate.manifest, reached.set()), candidate.readMillis);
    boolean isSinceActive = active != null && active.manifest().equals(reached.from());
    Decision.Activate answer =
        new Decision.Activate(
            next, reached.way(), reached.bytes(), isSinceActive ? reached.changes() : null);
    if (activate(answer, round)) {
      supersede(candidate);
    }
  }

  /**
   * Makes a snapshot active. Returns false if a different sequence was pinned in the meantime;
   * {@link #pin} is then about to be called.
   */
  private boolean activate(Decision.Activate answer, Round round) {
    ActiveSnapshot next = answer.snapshot();
    if (!round.show.test(next)) {
      return false;
    }
    loaded.activate(next);
    selection.answered();
    waits.answered();
    problems.clear();
    order.answer(next.manifest());
    candidates.all().forEach(candidate -> candidate.lacking = List.of());
    round.decisions.add(answer);
    return true;
  }

  private void refuse(Round round, String reason) {
    if (reports.isFirst(reason)) {
      round.decisions.add(new Decision.Refuse(reason));
    }
  }
}
