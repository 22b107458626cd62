package io.firstseen.consumer.internal;

import io.firstseen.consumer.internal.Succession.Verdict;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.MalformedSnapshotException;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestShard;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.SnapshotTopicFormat.ChunkKey;
import io.firstseen.filters.snapshot.TrustedKey;
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
import java.util.function.Predicate;

/**
 * Turns the records of a snapshots topic into verified snapshots of one set. Records go in by
 * {@link #accept}, which only keeps them; decisions come out of {@link #settle}, which is called
 * whenever the end of the topic has been reached. So history is never judged: of the manifests read
 * since the last call only the newest two count.
 *
 * <p>The last good snapshot is never given up. A manifest replaces it when its sequence is higher
 * and every one of its blobs is here and verified. Until then it waits, quietly at first; the
 * second newest is kept beside it, because it may become complete where the newest does not.
 *
 * <p><b>Memory.</b> Which chunks are kept is for {@link ChunkSelection} to say. Blobs of snapshots
 * in use are not kept twice.
 *
 * <p>Knows neither Kafka nor a clock. Not safe for use by several threads.
 */
public final class SnapshotAssembler {
  private static final int MAX_CANDIDATES = 2;

  private final AssemblerSettings settings;
  private final String setName;

  private final SnapshotCache cacheOrNull;
  private final ChunkStore chunks;
  private final ChunkSelection selection;
  // Verified, by the digest of the blob that led to them.
  private final Map<String, Snapshot> loaded = new HashMap<>();
  private final ShardLoader loader;
  // In the order of the log.
  private final List<Candidate> candidates = new ArrayList<>();
  private final Reports reports = new Reports();
  private final Succession succession = new Succession();
  // Those that answered before, the newest first.
  private final Deque<ActiveSnapshot> history = new ArrayDeque<>();
  private ActiveSnapshot active;
  // What is wrong with the newest word of the publisher; null if nothing.
  private String problem;
  private boolean rereadWanted;
  // What is missing may stand where the topic was not read.
  private boolean startedLate;

  /** Makes an assembler that has seen nothing. */
  public SnapshotAssembler(AssemblerSettings settings) {
    this.settings = settings;
    this.setName = settings.setName();
    this.cacheOrNull = settings.cacheOrNull();
    this.chunks = new ChunkStore(cacheOrNull);
    this.selection = new ChunkSelection(setName, chunks);
    this.loader = new ShardLoader(settings, chunks, loaded);
  }

  /**
   * Begins with what a cache holds.
   *
   * @return what to do at once
   * @throws SnapshotException if it cannot be used
   */
  public List<Decision> restore(CachedState state, Predicate<ActiveSnapshot> show)
      throws SnapshotException {
    // Side by side, as somebody waits: a cold JVM takes as long for the one as for the other.
    CompletableFuture<Manifest> reading =
        CompletableFuture.supplyAsync(() -> readUnchecked(state.manifestJson()));
    List<Snapshot> snapshots = new ArrayList<>();
    for (String digest : state.digests()) {
      snapshots.add(digest.isEmpty() ? null : cacheOrNull.open(digest));
    }
    Manifest manifest = join(reading);
    String refusal = refusal(manifest);
    if (refusal != null) {
      throw new SnapshotException(refusal);
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
    succession.restore(state.highest());
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
   * Keeps what answers in the cache, if all of it can be written.
   *
   * @param nextOffset where the topic is to be read next
   */
  public void commit(String topic, String topicId, long nextOffset) {
    List<String> digests = new ArrayList<>();
    for (ManifestShard shard : active.manifest().shards()) {
      Snapshot snapshot = active.set().snapshot(shard.shard());
      String digest = snapshot == null ? "" : cacheOrNull.digest(snapshot);
      if (digest == null) {
        return;
      }
      digests.add(digest);
    }
    List<Snapshot> inUse = new ArrayList<>(loaded.values());
    cacheOrNull.commit(
        new CachedState(
            topic,
            topicId == null ? "" : topicId,
            resumeOffset(nextOffset),
            active.publishedMillis(),
            succession.highest(),
            digests,
            active.manifestJson()),
        inUse);
  }

  /** The topic was created anew: its manifests may begin with any sequence. */
  public void beginAnew() {
    succession.beginAnew();
  }

  /** The highest sequence that answered since the topic was created; empty if none did. */
  public OptionalLong highestSequence() {
    return succession.highest() == null
        ? OptionalLong.empty()
        : OptionalLong.of(succession.highest().sequence());
  }

  /**
   * From now on only the snapshot of one sequence may answer, or if empty, any later one again. The
   * one that answers goes on until the other is here.
   *
   * @param show whether a snapshot may be shown, and shows it
   * @return what to do at once, without reading the topic
   */
  public List<Decision> pin(OptionalLong sequence, Predicate<ActiveSnapshot> show) {
    succession.pin(sequence);
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
    // What the topic held of the wanted sequence was not kept.
    rereadWanted = selection.hasSeenManifests() && !succession.isSettled();
    return decisions;
  }

  /** Bytes of the blobs that became part of a snapshot so far. */
  public long fetchedBytes() {
    return loader.fetchedBytes();
  }

  /**
   * Takes the next record of the topic.
   *
   * @param offset its place in the topic
   * @param key the record's key
   * @param value its value; null for a tombstone; not copied, not to be changed any more
   * @param publishedMillis when it was written to the topic, in milliseconds since the epoch
   */
  public void accept(long offset, String key, byte[] value, long publishedMillis) {
    Optional<ChunkKey> chunkKey = SnapshotTopicFormat.parseChunkKey(key);
    if (chunkKey.isPresent()) {
      selection.accept(offset, chunkKey.get(), value, loaded::containsKey, this::candidateDigests);
    } else if (key.equals(setName)) {
      acceptManifest(offset, value, publishedMillis);
    } else if (value != null) {
      selection.dropNamedByOther(value, candidateDigests());
    }
  }

  private Manifest read(byte[] json) throws SnapshotException {
    return TrustedKey.readManifest(json, setName, settings.trustedKeys());
  }

  private void acceptManifest(long offset, byte[] value, long publishedMillis) {
    if (value == null) {
      problem = "the manifest of set '%s' was deleted from the topic".formatted(setName);
      candidates.clear();
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
    problem = refusal(manifest);
    if (problem == null && succession.judge(manifest) != Verdict.NOT_PINNED) {
      candidates.removeIf(candidate -> candidate.sequence() == manifest.sequence());
      candidates.add(new Candidate(manifest, value, offset, publishedMillis));
      if (candidates.size() > MAX_CANDIDATES) {
        candidates.remove(0);
      }
    }
    dropGarbage(manifest);
  }

  /** Why a manifest can never become active, or null. */
  private String refusal(Manifest manifest) {
    try {
      if (settings.keyHashOrNull() != null) {
        manifest.parameters().requireReadableBy(settings.keyHashOrNull());
      }
    } catch (SnapshotException e) {
      return "sequence %d of set '%s' cannot be used: %s"
          .formatted(manifest.sequence(), setName, e.getMessage());
    }
    return null;
  }

  private void dropGarbage(Manifest newestOrNull) {
    selection.dropGarbage(candidateDigests(), newestOrNull);
    dropUnusedSnapshots();
  }

  private void dropUnusedSnapshots() {
    Set<String> wanted = new HashSet<>();
    // Also what a delta of a candidate leads to on its way: its chunks are not here any more.
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

  /** The digests under which the snapshots of a manifest are loaded. */
  private static List<String> newest(Manifest manifest) {
    return manifest.shards().stream()
        .filter(shard -> shard.base() != null)
        .map(shard -> shard.newest().digest())
        .toList();
  }

  /**
   * Forgets what was read but not used, because the topic is about to be read from its beginning.
   * The active snapshot stays.
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
   * Where to begin to read the topic if all is forgotten but what answers.
   *
   * @param nextOffset where to go on if nothing is forgotten
   */
  public long resumeOffset(long nextOffset) {
    long first = Math.min(nextOffset, chunks.firstOffset());
    for (Candidate candidate : candidates) {
      first = Math.min(first, candidate.offset);
    }
    return first;
  }

  /** How many bytes of chunks are kept. */
  public long bufferedBytes() {
    return chunks.totalBytes();
  }

  /**
   * Decides, at the end of the topic, what the records read so far mean. To be called again from
   * time to time, since waiting ends by itself.
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
    List<Candidate> newestFirst = new ArrayList<>(candidates);
    newestFirst.sort(Comparator.comparingLong(Candidate::sequence).reversed());
    for (Candidate candidate : newestFirst) {
      // A newer one that was taken has superseded those before it in the log.
      if (candidates.contains(candidate)) {
        judge(candidate, nowMillis, show, decisions);
      }
    }
    if (rereadWanted) {
      rereadWanted = false;
      decisions.add(new Decision.Reread());
    } else if (succession.pinned().isPresent() && !succession.isSettled() && candidates.isEmpty()) {
      refuse(
          decisions,
          "sequence %d of set '%s' is pinned and is not on the topic; %s"
              .formatted(succession.pinned().getAsLong(), setName, succession.whatAnswers()));
    }
    return decisions;
  }

  private void judge(
      Candidate candidate,
      long nowMillis,
      Predicate<ActiveSnapshot> show,
      List<Decision> decisions) {
    Verdict verdict = succession.judge(candidate.manifest);
    switch (verdict) {
      case NEXT -> advance(candidate, nowMillis, show, decisions);
      case SAME -> {
        supersede(candidate);
        succession.answer(candidate.manifest);
      }
      case NOT_PINNED -> drop(candidate);
      case BACK, FORKED -> {
        drop(candidate);
        refuse(decisions, succession.refusal(candidate.manifest, verdict));
      }
    }
  }

  private void drop(Candidate candidate) {
    candidates.remove(candidate);
    dropUnusedSnapshots();
  }

  /** Drops a candidate that answers, and what came before it in the log and is older. */
  private void supersede(Candidate answering) {
    int at = candidates.indexOf(answering);
    candidates.remove(at);
    // What came after it in the log went back; that is to be told.
    candidates.subList(0, at).removeIf(other -> other.sequence() < answering.sequence());
    blobs(answering.manifest).forEach(blob -> chunks.remove(blob.digest()));
    dropUnusedSnapshots();
  }

  /** Takes a candidate as far as it goes: loads what has come, activates it or lets it wait. */
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
        ActiveSnapshot next = new ActiveSnapshot(set, candidate.publishedMillis, candidate.json);
        if (activate(
            next,
            candidate.changesSince(active == null ? null : active.manifest()),
            show,
            decisions)) {
          supersede(candidate);
        }
      } else if (settings.blobs().isNeededFor(candidate.manifest)) {
        // What is lacking was reported and is tried again.
        return;
      } else if (startedLate) {
        startedLate = false;
        rereadWanted = true;
        selection.await(lacking);
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
   * Loads the shards of a manifest whose blobs can be had.
   *
   * @return the blobs that are lacking
   * @throws SnapshotException if one is not what the manifest says, whatever may come yet
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

  /** The snapshots of a shard that are at hand: what answers, and what other candidates loaded. */
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
   * Lets a snapshot answer, and returns whether it does: another sequence may have been pinned
   * meanwhile, of which we are about to be told.
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
    history.removeIf(earlier -> earlier.sequence() == next.sequence());
    while (history.size() > settings.historyLength()) {
      history.removeLast();
    }
    succession.answer(next.manifest());
    decisions.add(new Decision.Activate(next, changes));
    return true;
  }

  private void reportWaiting(
      Manifest manifest, List<BlobReference> lacking, List<Decision> decisions) {
    // What is damaged was told already.
    List<BlobReference> missing = lacking.stream().filter(blob -> !chunks.isDamaged(blob)).toList();
    boolean tells = !missing.isEmpty() && reports.isFirst("incomplete " + manifest.sequence());
    boolean isFirst = reports.isFirst("waiting for " + manifest.sequence());
    if (tells) {
      BlobReference first = missing.get(0);
      decisions.add(
          new Decision.Refuse(
              ("sequence %d of set '%s' is incomplete after %d ms: %d of its blobs are lacking, of"
                      + " the first, %s, %d of %d chunks")
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
