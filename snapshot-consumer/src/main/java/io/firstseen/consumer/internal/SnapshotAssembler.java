package io.firstseen.consumer.internal;

import io.firstseen.consumer.internal.Succession.Verdict;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.MalformedSnapshotException;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestShard;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotHeader;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.SnapshotTopicFormat.ChunkKey;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
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
 * <p><b>Memory.</b> A manifest of the set drops all chunks that neither it nor the other waiting
 * one names, except those of blobs of later windows, which a later manifest will name; a manifest
 * of another set drops those that it names itself. Blobs of snapshots in use are not kept twice.
 *
 * <p>Knows neither Kafka nor a clock. Not safe for use by several threads.
 */
public final class SnapshotAssembler {
  private static final int MAX_CANDIDATES = 2;
  private static final int MAX_FOREIGN_REMEMBERED = 10_000;
  private static final int MAX_CHUNKS = SnapshotTopicFormat.chunkCount(Integer.MAX_VALUE);

  // Where the window of a blob or of a manifest cannot be told, chunks are kept until so many
  // manifests have come after them.
  private static final int MANIFESTS_SURVIVED = 2;

  private final String setName;
  private final KeyHash keyHash;
  private final long chunkWaitMillis;

  private final SnapshotCache cacheOrNull;
  private final ChunkStore chunks;
  // Digests of blobs of other sets.
  private final Set<String> foreign = new LinkedHashSet<>();
  // Verified, by digest: the blobs of the active snapshot and of candidates.
  private final Map<String, Snapshot> loaded = new HashMap<>();
  // In the order of the log.
  private final List<Candidate> candidates = new ArrayList<>();
  private final Reports reports = new Reports();
  private final Succession succession = new Succession();
  // Those that answered before, the newest first.
  private final Deque<ActiveSnapshot> history = new ArrayDeque<>();
  private final int historyLength;
  // Digests of the blobs for which the topic is read again.
  private final Set<String> awaited = new HashSet<>();
  private ActiveSnapshot active;
  // What is wrong with the newest word of the publisher; null if nothing.
  private String problem;
  private long manifestsSeen;
  private boolean rereadWanted;
  // What is missing may stand where the topic was not read.
  private boolean startedLate;
  private long fetchedBytes;

  /** A manifest that may become active. */
  private static final class Candidate {
    private final Manifest manifest;
    private final byte[] json;
    private final long offset;
    private final long publishedMillis;
    private long waitsSinceMillis;
    private boolean waits;

    private Candidate(Manifest manifest, byte[] json, long offset, long publishedMillis) {
      this.manifest = manifest;
      this.json = json;
      this.offset = offset;
      this.publishedMillis = publishedMillis;
    }

    private long sequence() {
      return manifest.sequence();
    }
  }

  /**
   * Makes an assembler that has seen nothing.
   *
   * @param setName the set to follow; others are passed over
   * @param keyHash the hash that the set must be made with
   * @param chunkWaitMillis how long chunks may be missing before that is reported
   * @param historyLength how many snapshots that answered before stay at hand
   * @param cacheOrNull where snapshots and chunks lie; null for in memory
   */
  public SnapshotAssembler(
      String setName,
      KeyHash keyHash,
      long chunkWaitMillis,
      int historyLength,
      SnapshotCache cacheOrNull) {
    this.setName = setName;
    this.keyHash = keyHash;
    this.chunkWaitMillis = chunkWaitMillis;
    this.historyLength = historyLength;
    this.cacheOrNull = cacheOrNull;
    this.chunks = new ChunkStore(cacheOrNull);
  }

  /**
   * Begins with what a cache holds.
   *
   * @return what to do at once
   * @throws SnapshotException if it cannot be used
   */
  public List<Decision> restore(CachedState state, Predicate<ActiveSnapshot> show)
      throws SnapshotException {
    Manifest manifest = read(state.manifestJson());
    String refusal = refusal(manifest);
    if (refusal != null) {
      throw new SnapshotException(refusal);
    }
    if (state.digests().size() != manifest.shards().size()) {
      throw new MalformedSnapshotException("the cache must have a line for each shard");
    }
    for (ManifestShard shard : manifest.shards()) {
      if (shard.base() != null) {
        String digest = state.digests().get(shard.shard());
        loaded.put(shard.newest().digest(), cacheOrNull.open(digest));
      }
    }
    List<Decision> decisions = new ArrayList<>();
    SnapshotSet set = SnapshotSet.of(manifest, loaded);
    startedLate = true;
    activate(
        new ActiveSnapshot(set, state.publishedMillis(), state.manifestJson()), show, decisions);
    dropUnusedSnapshots();
    return decisions;
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
    return succession.highestSequence();
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
        activate(earlier, show, decisions);
        break;
      }
    }
    dropUnusedSnapshots();
    // What the topic held of the wanted sequence was not kept.
    rereadWanted = manifestsSeen > 0 && !succession.isSettled();
    return decisions;
  }

  /** Bytes of the blobs that became part of a snapshot so far. */
  public long fetchedBytes() {
    return fetchedBytes;
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
      acceptChunk(offset, chunkKey.get(), value);
    } else if (key.equals(setName)) {
      acceptManifest(offset, value, publishedMillis);
    } else if (value != null) {
      acceptOther(value);
    }
  }

  private void acceptChunk(long offset, ChunkKey key, byte[] value) {
    if (value == null) {
      chunks.remove(key);
    } else if (!isUseless(key, value)) {
      chunks.put(key, value, manifestsSeen, offset);
    }
  }

  /** Whether a chunk is of a blob that is here already, of another set's, or of none. */
  private boolean isUseless(ChunkKey key, byte[] value) {
    if (loaded.containsKey(key.digest()) || key.index() >= MAX_CHUNKS) {
      return true;
    }
    SnapshotHeader header = key.index() == 0 ? ChunkStore.header(value) : null;
    if (header != null && !header.parameters().setName().equals(setName)) {
      chunks.remove(key.digest());
      foreign.add(key.digest());
      if (foreign.size() > MAX_FOREIGN_REMEMBERED) {
        foreign.remove(foreign.iterator().next());
      }
    }
    // What our manifest names is judged with it.
    return foreign.contains(key.digest()) && !awaited.contains(key.digest());
  }

  private Manifest read(byte[] json) throws SnapshotException {
    Manifest manifest = Manifest.fromJson(json);
    if (!manifest.setName().equals(setName)) {
      throw new MalformedSnapshotException("it is of set '" + manifest.setName() + "'");
    }
    return manifest;
  }

  private void acceptManifest(long offset, byte[] value, long publishedMillis) {
    if (value == null) {
      problem = "the manifest of set '%s' was deleted from the topic".formatted(setName);
      candidates.clear();
      return;
    }
    manifestsSeen++;
    Manifest manifest;
    try {
      manifest = read(value);
    } catch (SnapshotException e) {
      problem = "a manifest of set '%s' cannot be read: %s".formatted(setName, e.getMessage());
      dropGarbage(blob -> isYoung(blob));
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
    dropGarbage(
        blob ->
            blob.header()
                .map(header -> isAhead(header.parameters(), manifest))
                .orElseGet(() -> isYoung(blob)));
  }

  /** Why a manifest can never become active, or null. */
  private String refusal(Manifest manifest) {
    try {
      manifest.parameters().requireReadableBy(keyHash);
    } catch (SnapshotException e) {
      return "sequence %d of set '%s' cannot be used: %s"
          .formatted(manifest.sequence(), setName, e.getMessage());
    }
    if (manifest.shards().stream().anyMatch(shard -> !shard.deltas().isEmpty())) {
      return "sequence %d of set '%s' cannot be used: it has deltas, this program reads bases alone"
          .formatted(manifest.sequence(), setName);
    }
    return null;
  }

  /** Blobs stand before their manifest: what another set's manifest names is of no use any more. */
  private void acceptOther(byte[] value) {
    try {
      Set<String> ours = candidateDigests();
      for (BlobReference blob : blobs(Manifest.fromJson(value))) {
        if (!ours.contains(blob.digest())) {
          chunks.remove(blob.digest());
        }
      }
    } catch (SnapshotException e) {
      // Not a manifest that this program knows, and none of this set: its followers will complain.
    }
  }

  /** Drops the chunks of blobs that nothing waits for, unless {@code mayBeNamed} holds. */
  private void dropGarbage(Predicate<ChunkStore.Chunks> mayBeNamed) {
    Set<String> named = candidateDigests();
    named.addAll(awaited);
    chunks.removeIf((digest, blob) -> !named.contains(digest) && !mayBeNamed.test(blob));
    dropUnusedSnapshots();
  }

  /** Whether a blob belongs to a window later than the manifest's: a later manifest names it. */
  private boolean isAhead(SnapshotParameters blob, Manifest manifest) {
    return blob.setName().equals(setName) && blob.windowEndMillis() > manifest.windowEndMillis();
  }

  private boolean isYoung(ChunkStore.Chunks blob) {
    return manifestsSeen - blob.age() < MANIFESTS_SURVIVED;
  }

  private void dropUnusedSnapshots() {
    Set<String> wanted = candidateDigests();
    if (active != null) {
      blobs(active.manifest()).forEach(blob -> wanted.add(blob.digest()));
    }
    for (ActiveSnapshot earlier : history) {
      blobs(earlier.manifest()).forEach(blob -> wanted.add(blob.digest()));
    }
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
    List<BlobReference> blobs = new ArrayList<>();
    for (ManifestShard shard : manifest.shards()) {
      if (shard.base() != null) {
        blobs.add(shard.base());
      }
    }
    return blobs;
  }

  /**
   * Forgets what was read but not used, because the topic is about to be read from its beginning.
   * The active snapshot stays.
   */
  public void rewind() {
    chunks.clear();
    foreign.clear();
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
    awaited.clear();
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
              .formatted(succession.pinned().getAsLong(), setName, whatAnswers()));
    }
    return decisions;
  }

  private String whatAnswers() {
    return active == null
        ? "nothing answers"
        : "sequence %d goes on answering".formatted(active.sequence());
  }

  private void judge(
      Candidate candidate,
      long nowMillis,
      Predicate<ActiveSnapshot> show,
      List<Decision> decisions) {
    switch (succession.judge(candidate.manifest)) {
      case NEXT -> advance(candidate, nowMillis, show, decisions);
      case SAME -> {
        supersede(candidate);
        succession.answer(candidate.manifest);
      }
      case NOT_PINNED -> drop(candidate);
      case BACK -> {
        drop(candidate);
        refuse(
            decisions,
            "set '%s' went back to sequence %d; %s"
                .formatted(setName, candidate.sequence(), whatAnswers()));
      }
      case FORKED -> {
        drop(candidate);
        refuse(
            decisions,
            "sequence %d of set '%s' was published again with other content; the first goes on answering"
                .formatted(candidate.sequence(), setName));
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
      List<BlobReference> lacking = load(candidate.manifest, decisions);
      if (lacking.isEmpty()) {
        SnapshotSet set = SnapshotSet.of(candidate.manifest, loaded);
        activate(
            new ActiveSnapshot(set, candidate.publishedMillis, candidate.json), show, decisions);
        supersede(candidate);
      } else if (startedLate) {
        startedLate = false;
        rereadWanted = true;
        lacking.forEach(blob -> awaited.add(blob.digest()));
      } else if (nowMillis - candidate.waitsSinceMillis >= chunkWaitMillis) {
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
   * Loads the blobs of a manifest whose chunks are here.
   *
   * @return those that are lacking
   * @throws SnapshotException if a blob is not what the manifest says, whatever may come yet
   */
  private List<BlobReference> load(Manifest manifest, List<Decision> decisions)
      throws SnapshotException {
    List<BlobReference> lacking = new ArrayList<>();
    for (BlobReference blob : blobs(manifest)) {
      if (loaded.containsKey(blob.digest())) {
        continue;
      }
      ByteBuffer bytes = null;
      if (chunks.missing(blob) == 0 && !chunks.isDamaged(blob)) {
        try {
          bytes = chunks.assemble(blob);
        } catch (SnapshotException e) {
          refuse(
              decisions,
              "blob %s of sequence %d of set '%s' is damaged: %s"
                  .formatted(blob.digest(), manifest.sequence(), setName, e.getMessage()));
        }
      }
      if (bytes == null) {
        lacking.add(blob);
      } else {
        Snapshot snapshot = verified(blob, bytes);
        if (cacheOrNull != null) {
          snapshot = cacheOrNull.keep(snapshot, blob.digest(), chunks.isInFile(blob));
        }
        loaded.put(blob.digest(), snapshot);
        fetchedBytes += blob.bytes();
        chunks.remove(blob.digest());
      }
    }
    return lacking;
  }

  private static Snapshot verified(BlobReference blob, ByteBuffer bytes) throws SnapshotException {
    try {
      Snapshot snapshot = Snapshot.read(bytes);
      snapshot.verify();
      return snapshot;
    } catch (SnapshotException e) {
      throw new SnapshotException("blob " + blob.digest() + ": " + e.getMessage(), e);
    }
  }

  private void activate(
      ActiveSnapshot next, Predicate<ActiveSnapshot> show, List<Decision> decisions) {
    if (!show.test(next)) {
      // Another sequence was pinned meanwhile; we are about to be told.
      return;
    }
    if (active != null) {
      history.addFirst(active);
    }
    active = next;
    history.removeIf(earlier -> earlier.sequence() == next.sequence());
    while (history.size() > historyLength) {
      history.removeLast();
    }
    succession.answer(next.manifest());
    decisions.add(new Decision.Activate(next));
  }

  private void reportWaiting(
      Manifest manifest, List<BlobReference> lacking, List<Decision> decisions) {
    if (!reports.isFirst("incomplete " + manifest.sequence())) {
      return;
    }
    BlobReference first = lacking.get(0);
    decisions.add(
        new Decision.Refuse(
            ("sequence %d of set '%s' is incomplete after %d ms: %d of its blobs are lacking, of the"
                    + " first, %s, %d of %d chunks")
                .formatted(
                    manifest.sequence(),
                    setName,
                    chunkWaitMillis,
                    lacking.size(),
                    first.digest(),
                    chunks.missing(first),
                    SnapshotTopicFormat.chunkCount(first.bytes()))));
    lacking.forEach(blob -> awaited.add(blob.digest()));
    decisions.add(new Decision.Reread());
  }

  /** Adds a refusal, unless the same sentence was reported before. */
  private void refuse(List<Decision> decisions, String reason) {
    if (reports.isFirst(reason)) {
      decisions.add(new Decision.Refuse(reason));
    }
  }
}
