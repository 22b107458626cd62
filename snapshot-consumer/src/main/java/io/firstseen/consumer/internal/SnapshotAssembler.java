package io.firstseen.consumer.internal;

import io.firstseen.consumer.internal.ManifestOrder.Verdict;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.MalformedSnapshotException;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestCheck;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotHeader;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.SnapshotTopicFormat.ChunkKey;
import io.firstseen.filters.snapshot.UnsupportedSnapshotException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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

  // Records of one window may become visible one after another.
  private static final long REREAD_AFTER_MILLIS = 2_000;

  // The first pause before the topic is read again for a manifest that waits in vain, in waits for
  // chunks. Each further pause is twice as long, up to an hour.
  private static final int FIRST_RETRY_WAITS = 10;
  private static final long MAX_RETRY_MILLIS = 3_600_000;

  // A pack, the list of bases and the bases may be found missing one after another.
  private static final int MAX_DEFERRALS = 3;

  private final AssemblerSettings settings;
  private final String setName;

  private final @Nullable SnapshotCache cache;
  private final long maxBlobBytes;
  private final ChunkStore chunks;
  private final ChunkSelection selection;
  private final CandidateLoader loader;
  // In the order of the topic.
  private final List<Candidate> candidates = new ArrayList<>();
  private final Reports reports = new Reports();
  // What was wrong with manifests since a snapshot became active. Their sentences name no sequence.
  private final Reports problems = new Reports();
  private final ManifestOrder order = new ManifestOrder();
  // Snapshots that answered before, the newest first.
  private final Deque<ActiveSnapshot> history = new ArrayDeque<>();
  private ActiveSnapshot active;
  // What is wrong with the newest manifest on the topic; null if nothing is.
  private @Nullable String problem;
  // Why this client cannot read the newest manifest, or its blobs, however often it tries; null if
  // it
  // can.
  private @Nullable String unreadable;
  private boolean rereadWanted;
  private boolean hasSeenManifests;
  private long activeBytes;
  // How often the first answer has waited until the topic was read again.
  private int deferrals;
  private boolean isDeferring;
  // When the end of the topic was first reached since all of it is read; null before.
  private @Nullable Long needsBasesSinceMillis;
  private boolean isDropTold;
  // When all of the topic is read again, by the sequences of manifests that wait in vain.
  private final Map<Long, Retry> retries = new HashMap<>();
  // When a manifest began to wait, since one was complete and since all of the topic is read; null
  // if none waits. Each may wait for a short time only, if windows are short.
  private @Nullable Long nothingCompleteSinceMillis;
  private boolean isNothingCompleteTold;
  private boolean isReadForNothingComplete;

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
    this.maxBlobBytes = settings.cache() == null ? maxMemoryBytes : Long.MAX_VALUE;
    this.setName = settings.setName();
    this.cache = settings.cache();
    this.chunks = new ChunkStore(cache);
    this.selection = new ChunkSelection(setName, chunks, this::maxUnnamedBytes);
    this.loader = new CandidateLoader(settings, chunks);
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
    if (state.digests().size() != manifest.parameters().shards().count()) {
      throw new MalformedSnapshotException("the cache must have a line for each shard");
    }
    Snapshot[] snapshots = new Snapshot[state.digests().size()];
    for (int shard = 0; shard < snapshots.length; shard++) {
      String digest = state.digests().get(shard);
      snapshots[shard] = digest.isEmpty() ? null : cache.open(digest);
    }
    ActiveSnapshot kept =
        new ActiveSnapshot(SnapshotSet.of(manifest, snapshots), state.publishedMillis());
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
    List<Snapshot> inUse = new ArrayList<>();
    held().forEach(set -> inUse.addAll(snapshots(set)));
    inUse.removeIf(Objects::isNull);
    List<String> digests = new ArrayList<>();
    for (Snapshot snapshot : snapshots(active.set())) {
      String digest = snapshot == null ? "" : cache.digest(snapshot);
      if (digest == null) {
        cache.removeUnused(inUse);
        return;
      }
      digests.add(digest);
    }
    cache.commit(
        new CachedState(
            topic,
            topicId == null ? "" : topicId,
            resumeOffset(nextOffset),
            active.publishedMillis(),
            order.highest(),
            digests,
            active.manifest()),
        inUse);
  }

  /** The snapshots of all shards; null where a shard has none. */
  private static List<@Nullable Snapshot> snapshots(SnapshotSet set) {
    return IntStream.range(0, set.manifest().parameters().shards().count())
        .mapToObj(set::snapshot)
        .collect(Collectors.toCollection(ArrayList::new));
  }

  /** The sets that are loaded, the active one first. */
  private List<SnapshotSet> held() {
    return Stream.concat(Stream.ofNullable(active), history.stream())
        .map(ActiveSnapshot::set)
        .toList();
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
    for (ActiveSnapshot earlier : List.copyOf(history)) {
      if (sequence.isPresent() && earlier.sequence() == sequence.getAsLong()) {
        history.remove(earlier);
        activate(Decision.Activate.kept(earlier), show, decisions);
        break;
      }
    }
    // Records of the wanted sequence that were read before were not kept.
    rereadWanted = hasSeenManifests && !order.isSettled();
    return decisions;
  }

  private long maxUnnamedBytes() {
    return settings
        .maxUnnamedBytes()
        .orElseGet(() -> Math.max(DEFAULT_MAX_UNNAMED_BYTES, 2 * activeBytes));
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
      selection.accept(offset, chunkKey.get(), value, this::askedDigests);
    } else if (key.equals(setName) && offset != TopicFollower.Reader.OTHER_PARTITION) {
      acceptManifest(offset, value, clockMillis);
    }
  }

  private Manifest read(byte[] bytes) throws SnapshotException {
    return ManifestCheck.read(bytes, setName, settings.trustedKeys());
  }

  private void acceptManifest(long offset, byte[] value, LongSupplier clockMillis) {
    unreadable = null;
    if (value == null) {
      problem = "the manifest of set '%s' was deleted from the topic".formatted(setName);
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
      problem = "a manifest of set '%s' cannot be read: %s".formatted(setName, e.getMessage());
      unreadable = e instanceof UnsupportedSnapshotException ? problem : null;
      return;
    }
    problem = whyUnreadable(manifest);
    unreadable = problem;
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
      selection.dropUpTo(manifest.sequence(), offset, askedDigests());
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
    if (active != null) {
      return Optional.empty();
    }
    if (candidates.isEmpty()) {
      return Optional.ofNullable(unreadable);
    }
    return candidates.stream().allMatch(candidate -> candidate.unusable != null)
        ? Optional.of(candidates.get(candidates.size() - 1).unusable)
        : Optional.empty();
  }

  /** The digests of the blobs that candidates need, as far as they are known. */
  private Set<String> askedDigests() {
    Set<String> digests = new HashSet<>();
    candidates.forEach(candidate -> digests.addAll(candidate.asked));
    return digests;
  }

  /**
   * Forgets unused records, because all of the topic is about to be read from its beginning. The
   * active snapshot stays.
   */
  public void rewind() {
    selection.clear();
    candidates.clear();
    nothingCompleteSinceMillis = null;
    needsBasesSinceMillis = null;
    problem = null;
    unreadable = null;
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
      if (candidates.contains(candidate)) {
        judge(candidate, nowMillis, show, decisions);
      }
      if (isDeferring) {
        isDeferring = false;
        break;
      }
    }
    // Of the newest, so it holds also if an older one has just become active.
    if (problem != null && problems.isFirst(problem)) {
      decisions.add(new Decision.Refuse(problem));
    }
    if (candidates.isEmpty()) {
      nothingCompleteSinceMillis = null;
      loader.forget();
    }
    if (needsBasesSinceMillis == null) {
      needsBasesSinceMillis = nowMillis;
    }
    boolean mayAnswerSoon =
        active == null && nowMillis - needsBasesSinceMillis < settings.chunkWaitMillis();
    if (selection.keepsBases()
        && !mayAnswerSoon
        && candidates.stream().noneMatch(this::mayNeedBases)) {
      selection.dropBases();
    }
    retries
        .keySet()
        .retainAll(candidates.stream().map(Candidate::sequence).collect(Collectors.toSet()));
    if (rereadWanted) {
      rereadWanted = false;
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

  private void judge(
      Candidate candidate,
      long nowMillis,
      Predicate<ActiveSnapshot> show,
      List<Decision> decisions) {
    Verdict verdict = order.check(candidate.manifest);
    switch (verdict) {
      case NEXT -> advance(candidate, nowMillis, show, decisions);
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
  }

  /** Takes over a later time of publication of the active snapshot. */
  private void refresh(Candidate again, Predicate<ActiveSnapshot> show, List<Decision> decisions) {
    if (again.manifest.publishedMillis() <= active.manifest().publishedMillis()) {
      return;
    }
    ActiveSnapshot next = ActiveSnapshot.of(with(again.manifest, active.set()), again.readMillis);
    if (show.test(next)) {
      active = next;
      decisions.add(Decision.Activate.kept(next));
    }
  }

  private static SnapshotSet with(Manifest manifest, SnapshotSet set) {
    try {
      return SnapshotSet.of(manifest, snapshots(set).toArray(Snapshot[]::new));
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
    selection.dropUpTo(answering.sequence(), answering.offset, askedDigests());
    loader.forget();
  }

  /** Loads what is available of a candidate, then activates it or lets it wait. */
  private void advance(
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
      Optional<CatchUp> loaded =
          loader.load(candidate, held(), nowMillis, complaint -> refuse(decisions, complaint));
      if (loaded.isPresent()) {
        answer(candidate, loaded.get(), show, decisions);
      } else if (!loader.isElsewhere(candidate) && candidate.load.isDue(nowMillis)) {
        if (!lacked.isEmpty() && !lacked.equals(candidate.lacking)) {
          // Some of its blobs came late, so others may have come where nobody reads any more.
          retries.computeIfPresent(
              candidate.sequence(), (sequence, retry) -> new Retry(nowMillis, retry.pause()));
        }
        await(candidate, nowMillis, decisions);
      }
    } catch (SnapshotException e) {
      candidates.remove(candidate);
      String reason =
          "sequence %d of set '%s' cannot be used: %s"
              .formatted(candidate.sequence(), setName, e.getMessage());
      if (e instanceof UnsupportedSnapshotException) {
        unreadable = reason;
      }
      refuse(decisions, reason);
    }
  }

  /** Activates a candidate whose set is loaded. */
  private void answer(
      Candidate candidate, CatchUp loaded, Predicate<ActiveSnapshot> show, List<Decision> decisions)
      throws SnapshotException {
    if (loaded.refusal() != null) {
      refuse(
          decisions,
          "sequence %d of set '%s' cannot be reached by packs, so the bases are taken: %s"
              .formatted(candidate.sequence(), setName, loaded.refusal()));
    }
    ActiveSnapshot next =
        ActiveSnapshot.of(keep(candidate.manifest, loaded.set()), candidate.readMillis);
    boolean isSinceActive = active != null && active.manifest().equals(loaded.from());
    Decision.Activate answer =
        new Decision.Activate(
            next, loaded.way(), loaded.bytes(), isSinceActive ? loaded.changes() : null);
    if (activate(answer, show, decisions)) {
      supersede(candidate);
    }
  }

  /**
   * The same set, with those snapshots of the active one that have the same content, and the others
   * in files if there is a cache.
   */
  private SnapshotSet keep(Manifest manifest, SnapshotSet loaded) throws SnapshotException {
    List<@Nullable Snapshot> snapshots = snapshots(loaded);
    for (int shard = 0; shard < snapshots.size(); shard++) {
      Snapshot snapshot = snapshots.get(shard);
      if (snapshot != null) {
        Snapshot before = active == null ? null : active.set().snapshot(shard);
        boolean isSame = before != null && hasSameContent(before.header(), snapshot.header());
        Snapshot next = isSame ? before : snapshot;
        // The same one, too: it may still be in memory, from when the disk was full.
        snapshots.set(shard, cache == null ? next : cache.keep(next));
      }
    }
    return SnapshotSet.of(manifest, snapshots.toArray(Snapshot[]::new));
  }

  private static boolean hasSameContent(SnapshotHeader one, SnapshotHeader other) {
    return one.setDigest().equals(other.setDigest())
        && one.hashCount() == other.hashCount()
        && one.parameters().set().equals(other.parameters().set());
  }

  /** Lets a candidate wait for blobs of the topic. */
  private void await(Candidate candidate, long nowMillis, List<Decision> decisions) {
    long lackingBytes = candidate.lacking.stream().mapToLong(BlobReference::bytes).sum();
    if (lackingBytes > maxBlobBytes) {
      // To wait for them would take the memory from the other sets of a consumer.
      candidate.isGivenUp = true;
      candidate.unusable =
          "sequence %d of set '%s' needs %d more bytes of blobs, and only %d may be in memory: give it a cache directory or more heap"
              .formatted(candidate.sequence(), setName, lackingBytes, maxBlobBytes);
      refuse(decisions, candidate.unusable);
      return;
    }
    long waitedMillis = nowMillis - candidate.waitsSinceMillis;
    if (!selection.keepsBases()) {
      boolean isLate = waitedMillis >= Math.min(REREAD_AFTER_MILLIS, settings.chunkWaitMillis());
      // Once, so that a manifest that is published again and again costs no more.
      if (isLate && reports.isFirst("reread for " + candidate.sequence())) {
        rereadWanted = true;
        selection.await(candidate.asked);
      } else if (waitedMillis >= settings.chunkWaitMillis()) {
        reportWaiting(candidate, nowMillis, decisions);
      }
    } else if (selection.takeDropped(candidate.lacking)) {
      rereadWanted = true;
      // All at once: a bound that has room for one of them alone would drop each for the others.
      selection.await(askedDigests());
      // Otherwise a lower sequence would answer first, only because its blobs came later.
      isDeferring = active == null && deferrals++ < MAX_DEFERRALS;
    } else if (waitedMillis >= settings.chunkWaitMillis()) {
      reportWaiting(candidate, nowMillis, decisions);
    }
    awaitAny(candidate, nowMillis, decisions);
  }

  /** Reports that manifests wait all the time, where each leaves before it has waited enough. */
  private void awaitAny(Candidate candidate, long nowMillis, List<Decision> decisions) {
    if (reports.has("waiting for " + candidate.sequence())) {
      return;
    }
    if (nothingCompleteSinceMillis == null) {
      nothingCompleteSinceMillis = nowMillis;
    }
    if (isNothingCompleteTold
        || nowMillis - nothingCompleteSinceMillis < settings.chunkWaitMillis()) {
      return;
    }
    if (!selection.keepsBases() && !isReadForNothingComplete) {
      isReadForNothingComplete = true;
      rereadWanted = true;
      selection.await(candidate.asked);
      return;
    }
    List<BlobReference> missing = missing(candidate);
    if (!missing.isEmpty()) {
      isNothingCompleteTold = true;
      decisions.add(
          new Decision.Refuse(
              "no manifest of set '%s' has become complete for %d ms: of sequence %d, %s"
                  .formatted(
                      setName,
                      settings.chunkWaitMillis(),
                      candidate.sequence(),
                      describe(missing))));
    }
  }

  /** What a candidate lacks, but for damaged blobs, which were reported already. */
  private List<BlobReference> missing(Candidate candidate) {
    return candidate.lacking.stream().filter(blob -> !chunks.isDamaged(blob)).toList();
  }

  private String describe(List<BlobReference> missing) {
    BlobReference first = missing.get(0);
    return "%d of its blobs are missing; the first is %s, which lacks %d of %d chunks"
        .formatted(
            missing.size(),
            first.digest(),
            chunks.missing(first),
            SnapshotTopicFormat.chunkCount(first.bytes()));
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
    if (active != null) {
      history.addFirst(active);
    }
    active = next;
    activeBytes = next.setBytes();
    isDropTold = false;
    nothingCompleteSinceMillis = null;
    isNothingCompleteTold = false;
    isReadForNothingComplete = false;
    problems.clear();
    history.removeIf(earlier -> earlier.sequence() == next.sequence());
    while (history.size() > settings.historyLength()) {
      history.removeLast();
    }
    order.answer(next.manifest());
    candidates.forEach(candidate -> candidate.lacking = List.of());
    decisions.add(answer);
    return true;
  }

  private void reportWaiting(Candidate candidate, long nowMillis, List<Decision> decisions) {
    List<BlobReference> missing = missing(candidate);
    boolean tells = !missing.isEmpty() && reports.isFirst("incomplete " + candidate.sequence());
    boolean isFirst = reports.isFirst("waiting for " + candidate.sequence());
    if (tells) {
      isNothingCompleteTold = true;
      decisions.add(
          new Decision.Refuse(
              "sequence %d of set '%s' is incomplete after %d ms: %s"
                  .formatted(
                      candidate.sequence(),
                      setName,
                      settings.chunkWaitMillis(),
                      describe(missing))));
    }
    if (tells || isFirst || (candidate.isGivenUp && isRetryDue(candidate, nowMillis))) {
      selection.await(candidate.asked);
      decisions.add(new Decision.Reread());
    } else if (!candidate.isGivenUp) {
      candidate.isGivenUp = true;
      if (isRetryDue(candidate, nowMillis)) {
        long first = FIRST_RETRY_WAITS * Math.max(1, settings.chunkWaitMillis());
        retries.put(
            candidate.sequence(), retry(candidate).next(nowMillis, first, MAX_RETRY_MILLIS));
      }
    }
  }

  private boolean isRetryDue(Candidate candidate, long nowMillis) {
    return retry(candidate).isDue(nowMillis);
  }

  private Retry retry(Candidate candidate) {
    return retries.getOrDefault(candidate.sequence(), Retry.NONE);
  }

  /** Adds a refusal, unless the same sentence was reported before. */
  private void refuse(List<Decision> decisions, String reason) {
    if (reports.isFirst(reason)) {
      decisions.add(new Decision.Refuse(reason));
    }
  }
}
