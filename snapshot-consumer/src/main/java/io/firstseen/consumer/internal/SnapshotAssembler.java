package io.firstseen.consumer.internal;

import io.firstseen.consumer.internal.ManifestOrder.Verdict;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.MalformedSnapshotException;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestCheck;
import io.firstseen.filters.snapshot.ManifestShard;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.SnapshotTopicFormat.ChunkKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
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
 * <p><b>Memory.</b> {@link ChunkSelection} decides which chunks are kept, and bounds those that no
 * manifest has named. Blobs of snapshots in use are not kept twice.
 *
 * <p>Knows neither Kafka nor a clock. Not safe for use by several threads.
 */
public final class SnapshotAssembler {
  /** The default bound for unnamed chunks while a small set answers, in bytes. */
  static final long DEFAULT_MAX_UNNAMED_BYTES = 256L << 20;

  private final AssemblerSettings settings;
  private final String setName;

  private final @Nullable SnapshotCache cache;
  private final ChunkStore chunks;
  private final ChunkSelection selection;
  // Verified snapshots, by the digest of the shard's newest blob.
  private final Map<String, Snapshot> loaded = new HashMap<>();
  private final ShardLoader loader;
  // In the order of the topic.
  private final List<Candidate> candidates = new ArrayList<>();
  private final Reports reports = new Reports();
  private final ManifestOrder order = new ManifestOrder();
  // Snapshots that answered before, the newest first.
  private final Deque<ActiveSnapshot> history = new ArrayDeque<>();
  private ActiveSnapshot active;
  // What is wrong with the newest manifest on the topic; null if nothing is.
  private @Nullable String problem;
  private boolean rereadWanted;
  // True if reading began after the topic's beginning, so that a missing blob may be before that
  // point.
  private boolean startedLate;
  private long activeBytes;
  // True once the first answer waits, or has waited, until the topic was read again.
  private boolean hasDeferred;
  private boolean isDeferring;
  private boolean isDropTold;

  /** Makes an assembler that has seen nothing. */
  public SnapshotAssembler(AssemblerSettings settings) {
    this.settings = settings;
    this.setName = settings.setName();
    this.cache = settings.cache();
    this.chunks = new ChunkStore(cache);
    this.selection = new ChunkSelection(setName, chunks, this::maxUnnamedBytes);
    this.loader = new ShardLoader(settings, chunks, loaded);
  }

  /**
   * Starts with the content of a cache.
   *
   * @return what to do at once
   * @throws SnapshotException if the content cannot be used
   */
  public List<Decision> restore(CachedState state, Predicate<ActiveSnapshot> show)
      throws SnapshotException {
    // In parallel, to shorten the start: in a cold JVM both take equally long.
    CompletableFuture<Manifest> reading =
        CompletableFuture.supplyAsync(() -> readUnchecked(state.manifestJson()));
    List<Snapshot> snapshots = new ArrayList<>();
    for (String digest : state.digests()) {
      snapshots.add(digest.isEmpty() ? null : cache.open(digest));
    }
    Manifest manifest = join(reading);
    String why = whyUnreadable(manifest);
    if (why != null) {
      throw new SnapshotException(why);
    }
    if (snapshots.size() != manifest.shards().size()) {
      throw new MalformedSnapshotException("the cache must have a line for each shard");
    }
    for (ManifestShard shard : manifest.shards()) {
      Snapshot snapshot = snapshots.get(shard.shard());
      if (shard.base() != null && snapshot != null) {
        loaded.put(shard.newest().digest(), snapshot);
      }
    }
    List<Decision> decisions = new ArrayList<>();
    SnapshotSet set = SnapshotSet.of(manifest, loaded);
    startedLate = true;
    order.restore(state.highest());
    activate(
        new ActiveSnapshot(set, state.publishedMillis(), state.manifestJson()),
        null,
        show,
        decisions);
    dropUnusedSnapshots();
    return decisions;
  }

  private Manifest readUnchecked(byte[] json) {
    try {
      return read(json);
    } catch (SnapshotException e) {
      throw new CompletionException(e);
    }
  }

  private static Manifest join(CompletableFuture<Manifest> reading) throws SnapshotException {
    try {
      return reading.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof SnapshotException snapshotException) {
        throw snapshotException;
      }
      throw e;
    }
  }

  /**
   * Writes the active snapshot to the cache, if all of it can be written.
   *
   * @param nextOffset the offset that is read next
   */
  public void commit(String topic, String topicId, long nextOffset) {
    List<String> digests = new ArrayList<>();
    for (ManifestShard shard : active.manifest().shards()) {
      Snapshot snapshot = active.set().snapshot(shard.shard());
      String digest = snapshot == null ? "" : cache.digest(snapshot);
      if (digest == null) {
        return;
      }
      digests.add(digest);
    }
    List<Snapshot> inUse = new ArrayList<>(loaded.values());
    cache.commit(
        new CachedState(
            topic,
            topicId == null ? "" : topicId,
            resumeOffset(nextOffset),
            active.publishedMillis(),
            order.highest(),
            digests,
            active.manifestJson()),
        inUse);
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
        activate(earlier, null, show, decisions);
        break;
      }
    }
    dropUnusedSnapshots();
    // Records of the wanted sequence that were read before were not kept.
    rereadWanted = selection.hasSeenManifests() && !order.isSettled();
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
        ("chunks on the topic of set '%s' that no manifest has named took more than %d bytes, so"
                + " the oldest were dropped; the topic is read again if a manifest names them:"
                + " raise maxUnnamedBytes if it often is")
            .formatted(setName, maxUnnamedBytes()));
  }

  /** Bytes of the blobs that became part of a snapshot so far. */
  public long fetchedBytes() {
    return loader.fetchedBytes();
  }

  /**
   * Stores the next record of the topic.
   *
   * @param offset its place in the topic
   * @param key the record's key
   * @param value its value; null for a tombstone. Not copied, must not change any more
   * @param clockMillis the time now, in milliseconds since the epoch
   */
  public void accept(long offset, String key, byte @Nullable [] value, LongSupplier clockMillis) {
    Optional<ChunkKey> chunkKey = SnapshotTopicFormat.parseChunkKey(key);
    if (chunkKey.isPresent()) {
      selection.accept(offset, chunkKey.get(), value, loaded::containsKey, this::candidateDigests);
    } else if (key.equals(setName)) {
      acceptManifest(offset, value, clockMillis);
    } else if (value != null) {
      selection.dropNamedByOther(value, candidateDigests());
    }
  }

  private Manifest read(byte[] json) throws SnapshotException {
    return ManifestCheck.read(json, setName, settings.trustedKeys());
  }

  private void acceptManifest(long offset, byte[] value, LongSupplier clockMillis) {
    if (value == null) {
      problem = "the manifest of set '%s' was deleted from the topic".formatted(setName);
      // A deletion has no signature. If a client forgot its manifest, an old one could follow.
      if (settings.trustedKeys().isEmpty()) {
        candidates.clear();
      }
      return;
    }
    selection.countManifest();
    Manifest manifest;
    try {
      manifest = read(value);
    } catch (SnapshotException e) {
      problem = "a manifest of set '%s' cannot be read: %s".formatted(setName, e.getMessage());
      dropGarbage(null);
      return;
    }
    problem = whyUnreadable(manifest);
    if (problem == null && order.check(manifest) != Verdict.NOT_PINNED) {
      ManifestOrder.keep(
          candidates,
          new Candidate(manifest, value, offset, clockMillis.getAsLong()),
          Candidate::sequence);
    }
    dropGarbage(manifest);
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

  private void dropGarbage(@Nullable Manifest newest) {
    selection.dropGarbage(candidateDigests(), newest);
    dropUnusedSnapshots();
  }

  private void dropUnusedSnapshots() {
    Set<String> wanted = new HashSet<>();
    // Include the intermediate results of a candidate's deltas, whose chunks are gone.
    wanted.addAll(candidateDigests());
    if (active != null) {
      wanted.addAll(newest(active.manifest()));
    }
    history.forEach(earlier -> wanted.addAll(newest(earlier.manifest())));
    loaded.keySet().retainAll(wanted);
  }

  private Set<String> candidateDigests() {
    Set<String> digests = new HashSet<>();
    for (Candidate candidate : candidates) {
      blobs(candidate.manifest).forEach(blob -> digests.add(blob.digest()));
    }
    return digests;
  }

  private static List<BlobReference> blobs(Manifest manifest) {
    return manifest.shards().stream().flatMap(shard -> shard.blobs().stream()).toList();
  }

  /** The keys of a manifest's snapshots in {@code loaded}. */
  private static List<String> newest(Manifest manifest) {
    return manifest.shards().stream()
        .filter(shard -> shard.base() != null)
        .map(shard -> shard.newest().digest())
        .toList();
  }

  /**
   * Forgets unused records, because the topic is about to be read from its beginning. The active
   * snapshot stays.
   */
  public void rewind() {
    selection.clear();
    startedLate = false;
    candidates.clear();
    problem = null;
    dropUnusedSnapshots();
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
    if (problem != null) {
      refuse(decisions, problem);
      problem = null;
    }
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
      }
      case NOT_PINNED -> drop(candidate);
      case BACK, FORKED -> {
        drop(candidate);
        refuse(decisions, order.reason(candidate.manifest, verdict));
      }
    }
  }

  private void drop(Candidate candidate) {
    candidates.remove(candidate);
    dropUnusedSnapshots();
  }

  /** Drops the candidate that became active, and older ones that precede it in the topic. */
  private void supersede(Candidate answering) {
    int at = candidates.indexOf(answering);
    candidates.remove(at);
    // A lower sequence after it in the topic is kept, so that it is reported as a step back.
    candidates.subList(0, at).removeIf(other -> other.sequence() < answering.sequence());
    blobs(answering.manifest).forEach(blob -> chunks.remove(blob.digest()));
    dropUnusedSnapshots();
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
    try {
      List<BlobReference> lacking = load(candidate, nowMillis, decisions);
      if (lacking.isEmpty()) {
        SnapshotSet set = SnapshotSet.of(candidate.manifest, loaded);
        ActiveSnapshot next = ActiveSnapshot.of(set, candidate.readMillis, candidate.json);
        if (activate(
            next,
            candidate.changesSince(active == null ? null : active.manifest()),
            show,
            decisions)) {
          supersede(candidate);
        }
      } else if (settings.blobs().isNeededFor(candidate.manifest)) {
        // The missing blobs were reported and are tried again.
        return;
      } else if (startedLate) {
        startedLate = false;
        rereadWanted = true;
        selection.await(lacking);
      } else if (selection.takeDropped(lacking)) {
        rereadWanted = true;
        selection.await(lacking);
        // Otherwise a lower sequence would answer first, only because its blobs came later.
        isDeferring = active == null && !hasDeferred;
        hasDeferred = true;
      } else if (nowMillis - candidate.waitsSinceMillis >= settings.chunkWaitMillis()) {
        reportWaiting(candidate.manifest, lacking, decisions);
      }
    } catch (SnapshotException e) {
      drop(candidate);
      refuse(
          decisions,
          "sequence %d of set '%s' cannot be used: %s"
              .formatted(candidate.sequence(), setName, e.getMessage()));
    }
  }

  /**
   * Loads those shards of a manifest whose blobs are available.
   *
   * @return the missing blobs
   * @throws SnapshotException if a blob is not what the manifest says, which no later record can
   *     cure
   */
  private List<BlobReference> load(Candidate candidate, long nowMillis, List<Decision> decisions)
      throws SnapshotException {
    List<BlobReference> lacking = new ArrayList<>();
    List<String> complaints = new ArrayList<>();
    for (ManifestShard shard : candidate.manifest.shards()) {
      if (shard.base() == null) {
        continue;
      }
      if (!loaded.containsKey(shard.newest().digest())) {
        lacking.addAll(
            loader.load(candidate, shard, held(candidate.manifest, shard), nowMillis, complaints));
      }
    }
    complaints.forEach(complaint -> refuse(decisions, complaint));
    return lacking;
  }

  /** The loaded snapshots of a shard: the active one, and those of other candidates. */
  private List<Snapshot> held(Manifest manifest, ManifestShard shard) {
    List<Snapshot> held = new ArrayList<>();
    for (BlobReference blob : shard.blobs()) {
      if (loaded.containsKey(blob.digest())) {
        held.add(loaded.get(blob.digest()));
      }
    }
    if (active != null && active.manifest().parameters().equals(manifest.parameters())) {
      Snapshot answering = active.set().snapshot(shard.shard());
      if (answering != null) {
        held.add(answering);
      }
    }
    return held;
  }

  /**
   * Makes a snapshot active. Returns false if another sequence was pinned meanwhile; {@link #pin}
   * is then about to be called.
   */
  private boolean activate(
      ActiveSnapshot next,
      Decision.Changes changes,
      Predicate<ActiveSnapshot> show,
      List<Decision> decisions) {
    if (!show.test(next)) {
      return false;
    }
    if (active != null) {
      history.addFirst(active);
    }
    active = next;
    activeBytes = next.setBytes();
    isDropTold = false;
    history.removeIf(earlier -> earlier.sequence() == next.sequence());
    while (history.size() > settings.historyLength()) {
      history.removeLast();
    }
    order.answer(next.manifest());
    decisions.add(new Decision.Activate(next, changes));
    return true;
  }

  private void reportWaiting(
      Manifest manifest, List<BlobReference> lacking, List<Decision> decisions) {
    // Damaged blobs were reported already.
    List<BlobReference> missing = lacking.stream().filter(blob -> !chunks.isDamaged(blob)).toList();
    boolean tells = !missing.isEmpty() && reports.isFirst("incomplete " + manifest.sequence());
    boolean isFirst = reports.isFirst("waiting for " + manifest.sequence());
    if (tells) {
      BlobReference first = missing.get(0);
      decisions.add(
          new Decision.Refuse(
              ("sequence %d of set '%s' is incomplete after %d ms: %d of its blobs are missing; the"
                      + " first is %s, which lacks %d of %d chunks")
                  .formatted(
                      manifest.sequence(),
                      setName,
                      settings.chunkWaitMillis(),
                      missing.size(),
                      first.digest(),
                      chunks.missing(first),
                      SnapshotTopicFormat.chunkCount(first.bytes()))));
    }
    if (tells || isFirst) {
      selection.await(lacking);
      decisions.add(new Decision.Reread());
    }
  }

  /** Adds a refusal, unless the same sentence was reported before. */
  private void refuse(List<Decision> decisions, String reason) {
    if (reports.isFirst(reason)) {
      decisions.add(new Decision.Refuse(reason));
    }
  }
}
