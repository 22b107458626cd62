package io.firstseen.consumer.internal;

import io.firstseen.consumer.internal.ManifestOrder.Verdict;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestCheck;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.SnapshotTopicFormat.ChunkKey;
import io.firstseen.filters.snapshot.UnsupportedSnapshotException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Turns the records of a snapshots topic into verified snapshots of one set. {@link #accept} only
 * stores records; {@link #settle}, which is called whenever the end of the topic has been reached,
 * returns decisions. So old manifests are not judged: of those read since the last call only some
 * count, see {@link ManifestOrder#keep}.
 *
 * <p>The last good snapshot is never dropped. A manifest replaces it when its sequence is higher
 * and all its blobs are loaded and verified. Until then the manifest waits, at first without a
 * report. Lower sequences wait beside it, because they may become complete when the highest does
 * not.
 *
 * <p>A manifest is reached by packs or by bases, see {@link CatchUp}. Bases are read only while
 * {@link #needsBases}; if one is missing later, or a pack is, all of the topic is read again.
 *
 * <p><b>Memory.</b> {@link ChunkSelection} decides which chunks are kept, and bounds those that
 * nothing waits for.
 *
 * <p>Knows neither Kafka nor a clock. Not safe for use by several threads.
 */
public final class SnapshotAssembler {
  /** The default bound for unnamed chunks while a small set answers, in bytes. */
  public static final long DEFAULT_MAX_UNNAMED_BYTES = 256L << 20;

  private final AssemblerSettings settings;
  private final String setName;
  private final ChunkStore chunks;
  private final ChunkSelection selection;
  private final CandidateLoader loader;
  private final LoadedSnapshots loaded;
  private final BlobWaits waits;
  // In the order of the topic.
  private final List<Candidate> candidates = new ArrayList<>();
  private final Reports reports = new Reports();
  // What was wrong with manifests since a snapshot became active. Their sentences name no sequence.
  private final Reports problems = new Reports();
  private final ManifestOrder order = new ManifestOrder();
  private Newest newest = Newest.USABLE;
  private boolean hasSeenManifests;
  private boolean isDropTold;

  /**
   * The newest manifest on the topic.
   *
   * @param problem what is wrong with it; null if nothing is
   * @param unreadable why this client cannot read it, or its blobs, however often it tries; null if
   *     it can
   */
  private record Newest(@Nullable String problem, @Nullable String unreadable) {
    static final Newest USABLE = new Newest(null, null);
  }

  /** Makes an assembler that has seen nothing. */
  public SnapshotAssembler(AssemblerSettings settings) {
    // A set is loaded beside its blobs.
    this(settings, Runtime.getRuntime().maxMemory() / 2);
  }

  /**
   * The same.
   *
   * @param maxMemoryBytes what the blobs of a set may take in memory; with a cache they are in
   *     files
   */
  SnapshotAssembler(AssemblerSettings settings, long maxMemoryBytes) {
    this.settings = settings;
    this.setName = settings.setName();
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
   * @return what to do at once
   * @throws SnapshotException if the content cannot be used
   */
  public List<Decision> restore(CachedState state, Predicate<ActiveSnapshot> show)
      throws SnapshotException {
    Manifest manifest = read(state.manifest().toBytes());
    String why = whyUnreadable(manifest);
    if (why != null) {
      throw new SnapshotException(why);
    }
    ActiveSnapshot kept = loaded.open(state, manifest);
    order.restore(state.highest());
    selection.dropBases();
    hasSeenManifests = true;
    List<Decision> decisions = new ArrayList<>();
    activate(Decision.Activate.kept(kept), show, decisions);
    return decisions;
  }

  /**
   * Writes the active snapshot to the cache, if all of it can be written.
   *
   * @param nextOffset the offset that is read next
   */
  public void commit(String topic, String topicId, long nextOffset) {
    loaded.commit(topic, topicId, resumeOffset(nextOffset), order.highest());
  }

  /** Must be called when the topic was created anew: its manifests may begin with any sequence. */
  public void beginAnew() {
    order.beginAnew();
  }

  /** The highest sequence that answered since the topic was created; empty if none did. */
  public OptionalLong highestSequence() {
    return order.highest() == null
        ? OptionalLong.empty()
        : OptionalLong.of(order.highest().sequence());
  }

  /**
   * Restricts answers to one sequence, or if empty, allows any later one again. The active snapshot
   * keeps answering until the pinned one is loaded.
   *
   * @param show whether a snapshot may be shown, and shows it
   * @return what to do at once, without reading the topic
   */
  public List<Decision> pin(OptionalLong sequence, Predicate<ActiveSnapshot> show) {
    order.pin(sequence);
    candidates.removeIf(
        candidate -> sequence.isPresent() && candidate.sequence() != sequence.getAsLong());
    List<Decision> decisions = new ArrayList<>();
    if (sequence.isPresent()) {
      loaded
          .take(sequence.getAsLong())
          .ifPresent(earlier -> activate(Decision.Activate.kept(earlier), show, decisions));
    }
    // Records of the wanted sequence that were read before were not kept.
    waits.wantReread(hasSeenManifests && !order.isSettled());
    return decisions;
  }

  private long maxUnnamedBytes() {
    return settings
        .maxUnnamedBytes()
        .orElseGet(() -> Math.max(DEFAULT_MAX_UNNAMED_BYTES, 2 * loaded.activeBytes()));
  }

  /**
   * A notice for the user, in one sentence; empty if there is none, or if it was given since a
   * snapshot became active.
   */
  public Optional<String> takeNotice() {
    if (!selection.takeDropUntold() || isDropTold) {
      return Optional.empty();
    }
    isDropTold = true;
    return Optional.of(
        ("chunks on the topic of set '%s' for which no manifest waits took more than %d bytes, so"
                + " the oldest were dropped; the topic is read again if a manifest needs them:"
                + " raise maxUnnamedBytes if it often is")
            .formatted(setName, maxUnnamedBytes()));
  }

  /**
   * Stores the next record of the topic.
   *
   * @param offset see {@link TopicFollower.Reader#accept}
   * @param key the record's key
   * @param value its value; null for a tombstone. Not copied, must not change any more
   * @param clockMillis the time now, in milliseconds since the epoch
   */
  public void accept(long offset, String key, byte @Nullable [] value, LongSupplier clockMillis) {
    Optional<ChunkKey> chunkKey = SnapshotTopicFormat.parseChunkKey(key);
    if (chunkKey.isPresent()) {
      selection.accept(offset, chunkKey.get(), value, () -> BlobWaits.asked(candidates));
    } else if (key.equals(setName) && offset != TopicFollower.Reader.OTHER_PARTITION) {
      acceptManifest(offset, value, clockMillis);
    }
  }

  private Manifest read(byte[] bytes) throws SnapshotException {
    return ManifestCheck.read(bytes, setName, settings.trustedKeys());
  }

  private void acceptManifest(long offset, byte[] value, LongSupplier clockMillis) {
    if (value == null) {
      newest =
          new Newest(
              "the manifest of set '%s' was deleted from the topic".formatted(setName), null);
      // A deletion has no signature. If a client forgot its manifest, an old one could follow.
      if (settings.trustedKeys().isEmpty()) {
        candidates.clear();
      }
      return;
    }
    hasSeenManifests = true;
    Manifest manifest;
    try {
      manifest = read(value);
    } catch (SnapshotException e) {
      String problem =
          "a manifest of set '%s' cannot be read: %s".formatted(setName, e.getMessage());
      newest = new Newest(problem, e instanceof UnsupportedSnapshotException ? problem : null);
      return;
    }
    String problem = whyUnreadable(manifest);
    newest = new Newest(problem, problem);
    if (problem == null && order.check(manifest) != Verdict.NOT_PINNED) {
      Candidate candidate = new Candidate(manifest, offset, clockMillis.getAsLong());
      candidates.stream()
          .filter(earlier -> earlier.manifest.hasContentOf(manifest))
          .findFirst()
          .ifPresent(candidate::goOnFrom);
      String unreachable = settings.blobs().whyUnreachable(manifest);
      if (unreachable != null) {
        candidate.unusable =
            "the blobs of sequence %d of set '%s' cannot be fetched: %s"
                .formatted(manifest.sequence(), setName, unreachable);
      }
      ManifestOrder.keep(candidates, candidate, Candidate::sequence);
    } else if (order.isSettled()) {
      selection.dropUpTo(manifest.sequence(), offset, BlobWaits.asked(candidates));
    }
  }

  /** Why a manifest can never become active, or null. */
  private @Nullable String whyUnreadable(Manifest manifest) {
    try {
      if (settings.keyHash() != null) {
        manifest.parameters().requireReadableBy(settings.keyHash());
      }
    } catch (SnapshotException e) {
      return "sequence %d of set '%s' cannot be used: %s"
          .formatted(manifest.sequence(), setName, e.getMessage());
    }
    return null;
  }

  /**
   * Why no manifest on the topic can become active with the settings of this client; empty if a
   * snapshot is active or may become active. To be called after {@link #settle}.
   */
  public Optional<String> unusable() {
    if (loaded.active() != null) {
      return Optional.empty();
    }
    if (candidates.isEmpty()) {
      return Optional.ofNullable(newest.unreadable());
    }
    return candidates.stream().allMatch(candidate -> candidate.unusable != null)
        ? Optional.of(candidates.get(candidates.size() - 1).unusable)
        : Optional.empty();
  }

  /**
   * Forgets unused records, because all of the topic is about to be read from its beginning. The
   * active snapshot stays.
   */
  public void rewind() {
    selection.clear();
    candidates.clear();
    waits.rewind();
    newest = Newest.USABLE;
  }

  /**
   * Whether bases are needed, which are on the last partition of the topic. That is so from {@link
   * #rewind} until no manifest waits for blobs that the topic may still hold.
   */
  public boolean needsBases() {
    return selection.keepsBases();
  }

  /** Whether a manifest waits to become active. */
  public boolean isLoading() {
    return !candidates.isEmpty();
  }

  /**
   * The offset to read from if everything but the active snapshot is forgotten.
   *
   * @param nextOffset the offset to read from if nothing is forgotten
   */
  public long resumeOffset(long nextOffset) {
    long first = Math.min(nextOffset, chunks.firstOffset());
    for (Candidate candidate : candidates) {
      first = Math.min(first, candidate.offset);
    }
    return first;
  }

  /** The bytes of kept chunks. */
  public long bufferedBytes() {
    return chunks.totalBytes();
  }

  /**
   * Judges the records read so far; called at the end of the topic. Must be called again from time
   * to time, since waits for chunks time out.
   *
   * @param nowMillis any clock that only moves forward
   * @param show whether a snapshot may be shown, and shows it
   * @return what to do, in order
   */
  public List<Decision> settle(long nowMillis, Predicate<ActiveSnapshot> show) {
    List<Decision> decisions = new ArrayList<>();
    selection.awaitNothing();
    loader.endOtherThan(candidates);
    List<Candidate> highestFirst = new ArrayList<>(candidates);
    highestFirst.sort(Comparator.comparingLong(Candidate::sequence).reversed());
    for (Candidate candidate : highestFirst) {
      // An active higher candidate has superseded those before it in the topic.
      if (candidates.contains(candidate) && judge(candidate, nowMillis, show, decisions)) {
        break;
      }
    }
    // Of the newest, so it holds also if an older one has just become active.
    if (newest.problem() != null && problems.isFirst(newest.problem())) {
      decisions.add(new Decision.Refuse(newest.problem()));
    }
    if (candidates.isEmpty()) {
      waits.end();
      loader.forget();
    }
    waits.dropBases(
        nowMillis, loaded.active() != null, candidates.stream().anyMatch(this::mayNeedBases));
    waits.retain(candidates);
    if (waits.takeReread()) {
      decisions.add(new Decision.Reread());
    } else if (order.pinned().isPresent() && !order.isSettled() && candidates.isEmpty()) {
      refuse(
          decisions,
          "sequence %d of set '%s' is pinned and is not on the topic; %s"
              .formatted(order.pinned().getAsLong(), setName, order.whatAnswers()));
    }
    return decisions;
  }

  /** Not if its blobs are elsewhere, nor if the topic was read again for them in vain. */
  private boolean mayNeedBases(Candidate candidate) {
    return !loader.isElsewhere(candidate) && !candidate.isGivenUp;
  }

  /** Returns whether lower sequences must wait. */
  private boolean judge(
      Candidate candidate,
      long nowMillis,
      Predicate<ActiveSnapshot> show,
      List<Decision> decisions) {
    Verdict verdict = order.check(candidate.manifest);
    switch (verdict) {
      case NEXT -> {
        return advance(candidate, nowMillis, show, decisions);
      }
      case SAME -> {
        supersede(candidate);
        order.answer(candidate.manifest);
        refresh(candidate, show, decisions);
      }
      case NOT_PINNED -> candidates.remove(candidate);
      case BACK, FORKED -> {
        candidates.remove(candidate);
        refuse(decisions, order.reason(candidate.manifest, verdict));
      }
    }
    return false;
  }

  /** Takes over a later time of publication of the active snapshot. */
  private void refresh(Candidate again, Predicate<ActiveSnapshot> show, List<Decision> decisions) {
    ActiveSnapshot active = loaded.active();
    if (again.manifest.publishedMillis() <= active.manifest().publishedMillis()) {
      return;
    }
    ActiveSnapshot next = ActiveSnapshot.of(with(again.manifest, active.set()), again.readMillis);
    if (show.test(next)) {
      loaded.refresh(next);
      decisions.add(Decision.Activate.kept(next));
    }
  }

  private static SnapshotSet with(Manifest manifest, SnapshotSet set) {
    try {
      return SnapshotSet.of(manifest, LoadedSnapshots.snapshots(set).toArray(Snapshot[]::new));
    } catch (SnapshotException e) {
      throw new IllegalStateException("a manifest of the same content does not fit the set", e);
    }
  }

  /** Drops the candidate that became active, and older ones that precede it in the topic. */
  private void supersede(Candidate answering) {
    int at = candidates.indexOf(answering);
    candidates.remove(at);
    // A lower sequence after it in the topic is kept, so that it is reported as a step back.
    candidates.subList(0, at).removeIf(other -> other.sequence() < answering.sequence());
    selection.dropUpTo(answering.sequence(), answering.offset, BlobWaits.asked(candidates));
    loader.forget();
  }

  /**
   * Loads what is available of a candidate, then activates it or lets it wait. Returns whether
   * lower sequences must wait too.
   */
  private boolean advance(
      Candidate candidate,
      long nowMillis,
      Predicate<ActiveSnapshot> show,
      List<Decision> decisions) {
    if (!candidate.waits) {
      candidate.waits = true;
      candidate.waitsSinceMillis = nowMillis;
    }
    List<BlobReference> lacked = candidate.lacking;
    try {
      Optional<CatchUp> reached =
          loader.load(
              candidate, loaded.sets(), nowMillis, complaint -> refuse(decisions, complaint));
      if (reached.isPresent()) {
        answer(candidate, reached.get(), show, decisions);
      } else if (!loader.isElsewhere(candidate) && candidate.load.isDue(nowMillis)) {
        if (!lacked.isEmpty() && !lacked.equals(candidate.lacking)) {
          waits.tryAgain(candidate, nowMillis);
        }
        return waits.await(
            candidate, candidates, loaded.active() != null, nowMillis, decisions::add);
      }
    } catch (SnapshotException e) {
      candidates.remove(candidate);
      String reason =
          "sequence %d of set '%s' cannot be used: %s"
              .formatted(candidate.sequence(), setName, e.getMessage());
      if (e instanceof UnsupportedSnapshotException) {
        newest = new Newest(newest.problem(), reason);
      }
      refuse(decisions, reason);
    }
    return false;
  }

  /** Activates a candidate whose set is loaded. */
  private void answer(
      Candidate candidate,
      CatchUp reached,
      Predicate<ActiveSnapshot> show,
      List<Decision> decisions)
      throws SnapshotException {
    if (reached.refusal() != null) {
      refuse(
          decisions,
          "sequence %d of set '%s' cannot be reached by packs, so the bases are taken: %s"
              .formatted(candidate.sequence(), setName, reached.refusal()));
    }
    ActiveSnapshot active = loaded.active();
    ActiveSnapshot next =
        ActiveSnapshot.of(loaded.keep(candidate.manifest, reached.set()), candidate.readMillis);
    boolean isSinceActive = active != null && active.manifest().equals(reached.from());
    Decision.Activate answer =
        new Decision.Activate(
            next, reached.way(), reached.bytes(), isSinceActive ? reached.changes() : null);
    if (activate(answer, show, decisions)) {
      supersede(candidate);
    }
  }

  /**
   * Makes a snapshot active. Returns false if another sequence was pinned meanwhile; {@link #pin}
   * is then about to be called.
   */
  private boolean activate(
      Decision.Activate answer, Predicate<ActiveSnapshot> show, List<Decision> decisions) {
    ActiveSnapshot next = answer.snapshot();
    if (!show.test(next)) {
      return false;
    }
    loaded.activate(next);
    isDropTold = false;
    waits.answered();
    problems.clear();
    order.answer(next.manifest());
    candidates.forEach(candidate -> candidate.lacking = List.of());
    decisions.add(answer);
    return true;
  }

  /** Adds a refusal, unless the same sentence was reported before. */
  private void refuse(List<Decision> decisions, String reason) {
    if (reports.isFirst(reason)) {
      decisions.add(new Decision.Refuse(reason));
    }
  }
}
