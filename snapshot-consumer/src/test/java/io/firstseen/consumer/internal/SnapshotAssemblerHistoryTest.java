package io.firstseen.consumer.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.consumer.TestPublisher;
import io.firstseen.consumer.TestPublisher.Entry;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestBlobs;
import io.firstseen.filters.snapshot.Pack;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotSet;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Followers start at any moment of long random histories, at any state of the log's compaction, and
 * read in pieces of any size. They must end with the last published set, and until then always
 * answer from a published set, never from an older one than before.
 */
class SnapshotAssemblerHistoryTest {
  private static final int SCALE = Integer.getInteger("firstseen.scale", 1);
  private static final int HISTORIES = SCALE == 1 ? 6 : 12 * SCALE;
  private static final int WINDOWS = 25;
  private static final int SHARDS = 4;

  /** The tested follower: the assembler, or a simpler one that must fail. */
  private interface Follower {
    void read(Entry entry);

    void settle();

    /** Null if nothing answers. */
    SnapshotSet answering();

    /** Reaches the end of the topic for good. */
    default void finish() {
      settle();
    }
  }

  // More would not fit into memory at a large scale.
  private static final int MAX_REMEMBERED = 12;
  private static final Map<Long, History> HISTORY_OF_SEED = new ConcurrentHashMap<>();

  /** A topic and what was published on it. */
  private static final class History {
    private final List<Entry> log = new ArrayList<>();
    private final List<Entry> late = new ArrayList<>();
    private final Map<String, byte[]> blobs = new HashMap<>();
    private final Set<String> keysOfBases = new HashSet<>();
    private final Map<Long, Set<Long>> hashesBySequence = new HashMap<>();

    /**
     * Two sets on one topic, one of which has held windows; some records are damaged and followed
     * by an intact copy, and blobs are deleted a few windows after the last manifest that needs
     * them.
     */
    static History random(long seed) {
      Random random = new Random(seed);
      History history = new History();
      TestPublisher publisher = TestPublisher.of(Following.SET, SHARDS);
      TestPublisher other = TestPublisher.of("other", SHARDS);
      // The larger the set, the more packs are between two lists of bases.
      Set<Long> live = new TreeSet<>();
      for (int i = random.nextInt(3_000); i > 0; i--) {
        live.add(random.nextLong());
      }
      List<TestPublisher.Publication> publications = new ArrayList<>();
      for (int window = 1; window <= WINDOWS; window++) {
        live = changed(live, random);
        publications.add(publisher.publish(window, array(live)));
        history.hashesBySequence.put((long) window, live);
        history.remember(publications.get(window - 1));
      }
      for (int window = 1; window <= WINDOWS; window++) {
        TestPublisher.Publication publication = publications.get(window - 1);
        publication.chunks().forEach(chunk -> history.add(chunk, random));
        if (random.nextInt(3) == 0) {
          history.log.addAll(other.publish(window, "x" + random.nextInt(1000)).entries());
        }
        boolean isHeld = window < WINDOWS && random.nextInt(4) == 0;
        if (!isHeld) {
          history.log.add(publication.manifestEntry());
        }
        if (random.nextBoolean()) {
          history.log.addAll(history.late);
          history.late.clear();
        }
        if (window > 3 && random.nextBoolean()) {
          history.deleteUnnamed(publications, window);
        }
      }
      history.log.addAll(history.late);
      return history;
    }

    private void remember(TestPublisher.Publication publication) {
      // Sets as small as these have one chunk a blob.
      publication.chunks().forEach(chunk -> blobs.put(chunk.digest(), chunk.value()));
      publication.bases().forEach(chunk -> keysOfBases.add(chunk.key()));
    }

    private void add(Entry chunk, Random random) {
      if (random.nextInt(10) == 0) {
        log.add(chunk.damaged());
        late.add(chunk);
      } else {
        log.add(chunk);
      }
    }

    /** Tombstones for blobs that no manifest since {@code window - 2} needs. */
    private void deleteUnnamed(List<TestPublisher.Publication> publications, int window) {
      Set<String> named = new HashSet<>();
      for (TestPublisher.Publication publication : publications.subList(window - 3, WINDOWS)) {
        named.addAll(named(publication.manifest()));
      }
      for (TestPublisher.Publication publication : publications.subList(0, window)) {
        for (Entry chunk : publication.chunks()) {
          if (!named.contains(chunk.digest())) {
            log.add(chunk.tombstone());
          }
        }
      }
    }

    private Set<String> named(Manifest manifest) {
      try {
        return new ManifestBlobs(manifest, blob -> ByteBuffer.wrap(blobs.get(blob.digest())))
            .named()
            .keySet();
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }

    private static Set<Long> changed(Set<Long> before, Random random) {
      Set<Long> after = new TreeSet<>(before);
      for (int i = random.nextInt(4); i > 0; i--) {
        after.add(random.nextLong());
      }
      after.removeIf(hash -> random.nextInt(100) == 0);
      return after;
    }

    /**
     * The first {@code length} records after compaction, which keeps only the last record of each
     * key.
     */
    List<Entry> compacted(int length) {
      Map<String, Integer> last = new HashMap<>();
      for (int i = 0; i < length; i++) {
        last.put(log.get(i).key(), i);
      }
      List<Entry> kept = new ArrayList<>();
      for (int i = 0; i < length; i++) {
        if (last.get(log.get(i).key()) == i) {
          kept.add(log.get(i));
        }
      }
      return kept;
    }
  }

  private static long[] array(Set<Long> hashes) {
    return hashes.stream().mapToLong(Long::longValue).toArray();
  }

  @Test
  void everyFollowerEndsWithWhatWasPublishedLast() {
    AtomicInteger rereads = new AtomicInteger();
    for (long seed = 0; seed < HISTORIES; seed++) {
      assertThat(complaint(seed, history -> new Assembling(history, rereads)))
          .as("seed %d", seed)
          .isNull();
    }
    assertThat(rereads.get())
        .as("followers that read the topic again")
        .isLessThanOrEqualTo(HISTORIES / 4);
  }

  /** A broken follower: drops its snapshot when the next one cannot be loaded. */
  @Test
  void aFollowerThatDropsTheLastGoodSnapshotIsCaught() {
    assertThat(complaints(history -> new Naive(true, false))).isPositive();
  }

  /** A broken follower: of the packs keeps only the one that the newest manifest names. */
  @Test
  void aFollowerThatDropsOlderPacksIsCaught() {
    assertThat(complaints(history -> new Naive(false, true))).isPositive();
  }

  @Test
  void everyFollowerThatStartsAgainFromItsCacheEndsWithWhatWasPublishedLast(
      @TempDir Path directory) {
    AtomicInteger restarts = new AtomicInteger();
    for (long seed = 0; seed < HISTORIES; seed++) {
      Path own = directory.resolve("seed-" + seed);
      Random random = new Random(3 * seed + 1);
      assertThat(complaint(seed, history -> new Restarting(history, own, random, restarts, true)))
          .as("seed %d", seed)
          .isNull();
    }
    assertThat(restarts).hasValueGreaterThan(HISTORIES);
  }

  /**
   * A broken follower: continues at its last offset, and misses the packs of held windows before.
   */
  @Test
  void aFollowerThatGoesOnWhereItWasIsCaught(@TempDir Path directory) {
    AtomicInteger seeds = new AtomicInteger();
    int complaints =
        complaints(
            history ->
                new Restarting(
                    history,
                    directory.resolve("seed-" + seeds.incrementAndGet()),
                    new Random(3L * seeds.get()),
                    new AtomicInteger(),
                    false));
    assertThat(complaints).isPositive();
  }

  private static int complaints(Function<History, Follower> followers) {
    int count = 0;
    for (long seed = 0; seed < HISTORIES; seed++) {
      count += complaint(seed, followers) == null ? 0 : 1;
    }
    return count;
  }

  /** The error of a follower on the history of a seed; null if there is none. */
  private static String complaint(long seed, Function<History, Follower> followers) {
    History history =
        seed < MAX_REMEMBERED
            ? HISTORY_OF_SEED.computeIfAbsent(seed, History::random)
            : History.random(seed);
    Random random = new Random(~seed);
    Follower follower = followers.apply(history);
    int start = random.nextInt(history.log.size());
    List<Entry> toRead =
        random.nextBoolean()
            ? new ArrayList<>(history.compacted(start))
            : new ArrayList<>(history.log.subList(0, start));
    toRead.forEach(follower::read);
    follower.settle();
    long newest = -1;
    for (Entry entry : history.log.subList(start, history.log.size())) {
      follower.read(entry);
      if (random.nextInt(3) > 0) {
        follower.settle();
        SnapshotSet answering = follower.answering();
        long sequence = answering == null ? -1 : answering.manifest().sequence();
        if (sequence < newest) {
          return "went back from " + newest + " to " + sequence;
        }
        newest = sequence;
        if (answering != null && !holds(answering, history.hashesBySequence.get(sequence))) {
          return "answers wrongly at " + sequence;
        }
      }
    }
    follower.finish();
    long last = follower.answering() == null ? -1 : follower.answering().manifest().sequence();
    return last == WINDOWS ? null : "ended at " + last;
  }

  private static boolean holds(SnapshotSet set, Set<Long> hashes) {
    return set.manifest().count() == hashes.size()
        && hashes.stream().allMatch(hash -> set.mightContain(hash));
  }

  /** A topic of one or two partitions, as far as a follower has seen it. */
  private static final class Topic {
    private final Set<String> keysOfBases;
    private final List<Entry> first = new ArrayList<>();
    private final List<Entry> last = new ArrayList<>();

    Topic(History history) {
      boolean isDivided = history.log.size() % 2 == 1;
      this.keysOfBases = isDivided ? history.keysOfBases : Set.of();
    }

    /** The next record. Like the client, gives it to the follower if that follows its partition. */
    void add(Entry entry, Following following) {
      if (keysOfBases.contains(entry.key())) {
        last.add(entry);
        if (following.assembler.needsBases()) {
          following.readBases(List.of(entry));
        }
      } else {
        first.add(entry);
        following.read(entry);
      }
    }

    /** Reads all of it again if the follower has asked for that. */
    boolean rereadIfAsked(Following following) {
      boolean isAsked = following.rewindIfAsked();
      if (isAsked) {
        following.read(first).readBases(last).settle();
      }
      return isAsked;
    }
  }

  private static final class Assembling implements Follower {
    private final Following following = new Following();
    private final Topic topic;
    private final AtomicInteger rereads;

    private Assembling(History history, AtomicInteger rereads) {
      this.topic = new Topic(history);
      this.rereads = rereads;
    }

    @Override
    public void read(Entry entry) {
      topic.add(entry, following);
    }

    @Override
    public void finish() {
      following.waitForChunks();
      if (topic.rereadIfAsked(following)) {
        rereads.incrementAndGet();
      }
    }

    @Override
    public void settle() {
      following.settle();
    }

    @Override
    public SnapshotSet answering() {
      return following.active == null ? null : following.active.set();
    }
  }

  /** Stops from time to time, and starts again from its cache. */
  private static final class Restarting implements Follower {
    private final Path directory;
    private final Random random;
    private final AtomicInteger restarts;
    private final boolean resumesWhereNeeded;
    private final Topic topic;
    private SnapshotCache cache;
    private Following following;

    private Restarting(
        History history,
        Path directory,
        Random random,
        AtomicInteger restarts,
        boolean resumesWhereNeeded) {
      this.topic = new Topic(history);
      this.directory = directory;
      this.random = random;
      this.restarts = restarts;
      this.resumesWhereNeeded = resumesWhereNeeded;
      start();
    }

    private void start() {
      cache = SnapshotCache.open(directory, Following.SET);
      following = new Following(cache);
    }

    @Override
    public void read(Entry entry) {
      topic.add(entry, following);
    }

    @Override
    public void settle() {
      int before = following.activations;
      following.settle();
      if (following.activations > before) {
        following.assembler.commit("topic", "id", following.offset);
      }
      // At any record, also between chunks and their manifest.
      if (random.nextInt(10) == 0) {
        cache.close();
        start();
        restore();
      }
    }

    @Override
    public void finish() {
      settle();
      following.waitForChunks();
      if (resumesWhereNeeded) {
        topic.rereadIfAsked(following);
      }
    }

    private void restore() {
      try {
        Optional<CachedState> state = cache.load();
        if (state.isPresent()) {
          restarts.incrementAndGet();
          following.restore(state.get());
          following.offset = resumesWhereNeeded ? state.get().resumeOffset() : topic.first.size();
        } else {
          following.readBases(topic.last);
        }
      } catch (SnapshotException e) {
        throw new AssertionError(e);
      }
      following.read(List.copyOf(topic.first.subList((int) following.offset, topic.first.size())));
      following.settle();
    }

    @Override
    public SnapshotSet answering() {
      return following.active == null ? null : following.active.set();
    }
  }

  /** The naive implementation. */
  private static final class Naive implements Follower {
    private final boolean dropsOnFailure;
    private final boolean dropsPacks;
    private final Map<String, byte[]> chunks = new HashMap<>();
    private Manifest newest;
    private SnapshotSet answering;

    private Naive(boolean dropsOnFailure, boolean dropsPacks) {
      this.dropsOnFailure = dropsOnFailure;
      this.dropsPacks = dropsPacks;
    }

    @Override
    public void read(Entry entry) {
      if (entry.value() == null) {
        chunks.remove(entry.key());
      } else if (!entry.key().equals(Following.SET)) {
        chunks.put(entry.key(), entry.value());
      } else {
        try {
          newest = Manifest.read(entry.value());
        } catch (SnapshotException e) {
          throw new AssertionError(e);
        }
        if (dropsPacks) {
          String named = newest.pack() == null ? "" : newest.pack().digest() + "/0";
          chunks
              .entrySet()
              .removeIf(
                  chunk ->
                      !chunk.getKey().equals(named)
                          && Pack.peekSequence(ByteBuffer.wrap(chunk.getValue())).isPresent());
        }
      }
    }

    @Override
    public void settle() {
      if (newest == null || (answering != null && answering.manifest().equals(newest))) {
        return;
      }
      try {
        answering = SnapshotSet.open(newest, blob -> load(blob));
      } catch (IOException e) {
        if (dropsOnFailure) {
          answering = null;
        }
      }
    }

    private ByteBuffer load(BlobReference blob) throws IOException {
      byte[] chunk = chunks.get(blob.digest() + "/0");
      if (chunk == null) {
        throw new IOException("missing");
      }
      return ByteBuffer.wrap(chunk);
    }

    @Override
    public SnapshotSet answering() {
      return answering;
    }
  }
}
