package io.firstseen.consumer.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.consumer.TestPublisher;
import io.firstseen.consumer.TestPublisher.Entry;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Followers start at any moment of long random histories, at any state of the log's compaction, and
 * read in pieces of any size. They must end with the last published set, and until then always
 * answer from a published set, never from an older one than before.
 */
class SnapshotAssemblerHistoryTest {
  private static final int HISTORIES = 12 * Integer.getInteger("firstseen.scale", 1);
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

  /** A topic and what was published on it. */
  private static final class History {
    private final List<Entry> log = new ArrayList<>();
    private final List<Entry> late = new ArrayList<>();
    private final Map<Long, Set<Long>> hashesBySequence = new HashMap<>();

    /**
     * A set whose shards run up to three windows ahead of its manifests, beside another set; some
     * records are damaged and followed by a good one, and unnamed blobs are deleted after a while.
     */
    static History random(long seed) {
      Random random = new Random(seed);
      History history = new History();
      TestPublisher publisher = TestPublisher.of(Following.SET, SHARDS);
      if (seed % 2 == 1) {
        publisher.withDeltas(seed);
      }
      TestPublisher other = TestPublisher.of("other", SHARDS);
      List<Set<Long>> live = new ArrayList<>(List.of(Set.of()));
      for (int window = 1; window <= WINDOWS; window++) {
        live.add(changed(live.get(window - 1), random));
      }
      List<TestPublisher.Publication> publications = new ArrayList<>();
      for (int window = 1; window <= WINDOWS; window++) {
        publications.add(publisher.publish(window, array(live.get(window))));
        history.hashesBySequence.put((long) window, live.get(window));
      }
      int[] nextWindowOfShard = new int[SHARDS];
      for (int window = 1; window <= WINDOWS; window++) {
        for (int shard = 0; shard < SHARDS; shard++) {
          int until = Math.max(nextWindowOfShard[shard], window + random.nextInt(4));
          for (int ahead = nextWindowOfShard[shard] + 1; ahead <= until; ahead++) {
            if (ahead <= WINDOWS) {
              history.addBlob(publications.get(ahead - 1), shard, random);
            }
          }
          nextWindowOfShard[shard] = until;
          if (random.nextInt(3) == 0) {
            history.log.addAll(other.publish(window, "x" + random.nextInt(1000)).entries());
          }
        }
        history.log.add(publications.get(window - 1).manifestEntry());
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

    private void addBlob(TestPublisher.Publication publication, int shard, Random random) {
      Set<String> own = new HashSet<>();
      publication.manifest().shards().get(shard).blobs().forEach(blob -> own.add(firstChunk(blob)));
      for (Entry chunk : publication.chunks()) {
        if (own.contains(chunk.key())) {
          if (random.nextInt(10) == 0) {
            log.add(chunk.damaged());
            late.add(chunk);
          } else {
            log.add(chunk);
          }
        }
      }
    }

    /** Tombstones for blobs that no manifest since {@code window - 2} names. */
    private void deleteUnnamed(List<TestPublisher.Publication> publications, int window) {
      Set<String> named = new HashSet<>();
      for (TestPublisher.Publication publication : publications.subList(window - 3, WINDOWS)) {
        publication.manifest().shards().stream()
            .flatMap(shard -> shard.blobs().stream())
            .forEach(blob -> named.add(firstChunk(blob)));
      }
      for (TestPublisher.Publication publication : publications.subList(0, window)) {
        for (Entry chunk : publication.chunks()) {
          if (!named.contains(chunk.key())) {
            log.add(chunk.tombstone());
          }
        }
      }
    }

    private static String firstChunk(BlobReference blob) {
      return SnapshotTopicFormat.chunkKey(blob.digest(), 0);
    }

    private static Set<Long> changed(Set<Long> before, Random random) {
      Set<Long> after = new TreeSet<>(before);
      for (int i = random.nextInt(4); i > 0; i--) {
        after.add(random.nextLong());
      }
      after.removeIf(hash -> random.nextInt(10) == 0);
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
      assertThat(complaint(seed, () -> new Assembling(rereads))).as("seed %d", seed).isNull();
    }
    assertThat(rereads.get())
        .as("followers that read the topic again")
        .isLessThanOrEqualTo(HISTORIES / 20);
  }

  /** A broken follower: drops its snapshot when the next one cannot be loaded. */
  @Test
  void aFollowerThatDropsTheLastGoodSnapshotIsCaught() {
    assertThat(complaints(() -> new Naive(true, false))).isPositive();
  }

  /** A broken follower: keeps only the blobs that the newest manifest names. */
  @Test
  void aFollowerThatDropsBlobsAheadOfTheirManifestIsCaught() {
    assertThat(complaints(() -> new Naive(false, true))).isPositive();
  }

  @Test
  void everyFollowerThatStartsAgainFromItsCacheEndsWithWhatWasPublishedLast(
      @TempDir Path directory) {
    AtomicInteger restarts = new AtomicInteger();
    for (long seed = 0; seed < HISTORIES; seed++) {
      Path own = directory.resolve("seed-" + seed);
      Random random = new Random(3 * seed + 1);
      assertThat(complaint(seed, () -> new Restarting(own, random, restarts, true)))
          .as("seed %d", seed)
          .isNull();
    }
    assertThat(restarts).hasValueGreaterThan(HISTORIES);
  }

  /**
   * A broken follower: continues at its last offset, and misses earlier chunks of blobs that no
   * manifest has named yet.
   */
  @Test
  void aFollowerThatGoesOnWhereItWasIsCaught(@TempDir Path directory) {
    AtomicInteger seeds = new AtomicInteger();
    int complaints =
        complaints(
            () ->
                new Restarting(
                    directory.resolve("seed-" + seeds.incrementAndGet()),
                    new Random(3L * seeds.get()),
                    new AtomicInteger(),
                    false));
    assertThat(complaints).isPositive();
  }

  private static int complaints(Supplier<Follower> followers) {
    int count = 0;
    for (long seed = 0; seed < HISTORIES; seed++) {
      count += complaint(seed, followers) == null ? 0 : 1;
    }
    return count;
  }

  /** The error of a follower on the history of a seed; null if there is none. */
  private static String complaint(long seed, Supplier<Follower> followers) {
    History history = History.random(seed);
    Random random = new Random(~seed);
    Follower follower = followers.get();
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

  private static final class Assembling implements Follower {
    private final Following following = new Following();
    private final List<Entry> topic = new ArrayList<>();
    private final AtomicInteger rereads;

    private Assembling(AtomicInteger rereads) {
      this.rereads = rereads;
    }

    @Override
    public void read(Entry entry) {
      topic.add(entry);
      following.read(entry);
    }

    /** Like the client, reads the topic again if blobs do not come. */
    @Override
    public void finish() {
      following.settle();
      if (following.sequence() < WINDOWS) {
        following.waitForChunks();
        if (following.rereads > 0) {
          rereads.incrementAndGet();
          following.assembler.rewind();
          following.offset = 0;
          following.read(topic).settle();
        }
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
    private final List<Entry> topic = new ArrayList<>();
    private SnapshotCache cache;
    private Following following;

    private Restarting(
        Path directory, Random random, AtomicInteger restarts, boolean resumesWhereNeeded) {
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
      topic.add(entry);
      following.read(entry);
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

    private void restore() {
      try {
        Optional<CachedState> state = cache.load();
        if (state.isPresent()) {
          restarts.incrementAndGet();
          following.restore(state.get());
          following.offset = resumesWhereNeeded ? state.get().resumeOffset() : topic.size();
        }
      } catch (SnapshotException e) {
        throw new AssertionError(e);
      }
      List<Entry> left = List.copyOf(topic.subList((int) following.offset, topic.size()));
      following.read(left).settle();
      if (resumesWhereNeeded && following.rereads > 0) {
        following.rereads = 0;
        following.assembler.rewind();
        following.offset = 0;
        following.read(topic).settle();
      }
    }

    @Override
    public SnapshotSet answering() {
      return following.active == null ? null : following.active.set();
    }
  }

  /** The naive implementation. */
  private static final class Naive implements Follower {
    private final boolean dropsOnFailure;
    private final boolean dropsUnnamed;
    private final Map<String, byte[]> chunks = new HashMap<>();
    private Manifest newest;
    private SnapshotSet answering;

    private Naive(boolean dropsOnFailure, boolean dropsUnnamed) {
      this.dropsOnFailure = dropsOnFailure;
      this.dropsUnnamed = dropsUnnamed;
    }

    @Override
    public void read(Entry entry) {
      if (entry.value() == null) {
        chunks.remove(entry.key());
      } else if (!entry.key().equals(Following.SET)) {
        chunks.put(entry.key(), entry.value());
      } else {
        try {
          newest = Manifest.fromJson(entry.value());
        } catch (SnapshotException e) {
          throw new AssertionError(e);
        }
        if (dropsUnnamed) {
          Set<String> named = new HashSet<>();
          newest.shards().stream()
              .flatMap(shard -> shard.blobs().stream())
              .forEach(blob -> named.add(blob.digest() + "/0"));
          chunks.keySet().retainAll(named);
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
