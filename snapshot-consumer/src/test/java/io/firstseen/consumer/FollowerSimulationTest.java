package io.firstseen.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.consumer.TestPublisher.Entry;
import io.firstseen.consumer.TestPublisher.Publication;
import io.firstseen.consumer.internal.SimulatedTopic;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Whole clients on a simulated topic: with any fault the client keeps serving the last good
 * snapshot, reports the reason once, and continues when the fault is cured. Random histories are
 * repeated by their seed.
 */
class FollowerSimulationTest {
  private static final String SET = "spam";
  private static final int LAST_PARTITION = 1;
  private static final int SECOND_OF_PACK = 1;
  private static final int WINDOWS = 20;
  private static final int SEEDS = 10 * Integer.getInteger("firstseen.scale", 1);
  private static final SigningKey TRUSTED = SigningKey.generate();

  private static Publication first;
  private static Publication good;

  private final SimulatedTopic topic = new SimulatedTopic(LAST_PARTITION + 1, 5);
  private final List<String> refusals = new ArrayList<>();
  private final Map<String, Integer> partitionOfDigest = new HashMap<>();

  private SnapshotClient client(UnaryOperator<SnapshotClientOptions.Builder> change) {
    SnapshotListener listener =
        new SnapshotListener() {
          @Override
          public void onRefused(String reason) {
            refusals.add(reason);
          }
        };
    SnapshotClientOptions.Builder options =
        SnapshotClientOptions.builder("localhost:9092", SET)
            .listener(listener)
            .chunkWait(Duration.ofMillis(100));
    return new SnapshotClient(change.apply(options).build(), topic::millis, topic, Runnable::run);
  }

  /** Appends a record to the partition where a job would write it. */
  private void append(Entry entry) {
    int partition = 0;
    if (SnapshotTopicFormat.parseChunkKey(entry.key()).isPresent()) {
      if (entry.value() != null && entry.key().endsWith("/0")) {
        BlobFrame.peek(ByteBuffer.wrap(entry.value()))
            .ifPresent(
                frame ->
                    partitionOfDigest.put(
                        entry.digest(),
                        SnapshotTopicFormat.partitionOf(frame.kind(), LAST_PARTITION + 1)));
      }
      partition = partitionOfDigest.getOrDefault(entry.digest(), 0);
    }
    topic.append(partition, entry.key(), entry.value());
  }

  private static Entry signed(Publication publication, SigningKey key) {
    return TestPublisher.entry(key.sign(publication.manifest()));
  }

  private static List<Entry> signed(Publication publication) {
    return and(publication.chunks(), signed(publication, TRUSTED));
  }

  private static List<Entry> and(List<Entry> entries, Entry last) {
    List<Entry> all = new ArrayList<>(entries);
    all.add(last);
    return all;
  }

  @BeforeAll
  static void makeWindows() {
    TestPublisher publisher = TestPublisher.of(SET, 1);
    first = publisher.publish(1, "first");
    // A base and a pack of two chunks each, at 31.5 bits per key.
    long[] many = new Random(1).longs(300_000).toArray();
    many[0] = TestPublisher.hash("second");
    good = publisher.publish(2, many);
    assertThat(good.pack()).hasSize(2);
  }

  /** A fault of the second window, and its cure. */
  private enum Fault {
    CORRUPTED_CHUNK("blob \\w+ of sequence 2 of set 'spam' is damaged: its bytes have .*") {
      @Override
      List<Entry> wrong(Publication good) {
        List<Entry> entries = new ArrayList<>(good.bases());
        entries.add(good.pack().get(0));
        entries.add(good.pack().get(SECOND_OF_PACK).damaged());
        return and(entries, signed(good, TRUSTED));
      }

      @Override
      List<Entry> cure(Publication good) {
        return List.of(good.pack().get(SECOND_OF_PACK));
      }
    },
    MISSING_CHUNK(
        "sequence 2 of set 'spam' is incomplete after 100 ms: .*, which lacks 1 of 2 chunks") {
      @Override
      List<Entry> wrong(Publication good) {
        return List.of(good.pack().get(0), signed(good, TRUSTED));
      }

      @Override
      List<Entry> cure(Publication good) {
        return List.of(good.pack().get(SECOND_OF_PACK));
      }
    },
    MANIFEST_BEFORE_ITS_BLOBS(
        "sequence 2 of set 'spam' is incomplete after 100 ms: .*, which lacks 2 of 2 chunks") {
      @Override
      List<Entry> wrong(Publication good) {
        return List.of(signed(good, TRUSTED));
      }

      @Override
      List<Entry> cure(Publication good) {
        List<Entry> reordered = new ArrayList<>(good.chunks());
        Collections.reverse(reordered);
        return reordered;
      }
    },
    NO_SIGNATURE("a manifest of set 'spam' cannot be read: the manifest has no signature") {
      @Override
      List<Entry> wrong(Publication good) {
        return good.entries();
      }
    },
    WRONG_SIGNATURE("a manifest of set 'spam' cannot be read: .* which is not trusted") {
      @Override
      List<Entry> wrong(Publication good) {
        return and(good.chunks(), signed(good, SigningKey.generate()));
      }
    },
    WRONG_HASH_KEY("sequence 2 of set 'spam' cannot be used: the set is hashed by .*") {
      @Override
      List<Entry> wrong(Publication good) {
        KeyHash other = KeyHash.sipHash24(new byte[16]);
        return signed(new TestPublisher(SET, other, Canonicaliser.NONE, 1).publish(2, "a"));
      }
    },
    OF_ANOTHER_SET("a manifest of set 'spam' cannot be read: it belongs to set 'ham'") {
      @Override
      List<Entry> wrong(Publication good) {
        Manifest other = TestPublisher.of("ham", 1).publish(2, "a").manifest();
        return and(good.chunks(), new Entry(SET, TRUSTED.sign(other).toBytes()));
      }
    },
    DELETED("the manifest of set 'spam' was deleted from the topic") {
      @Override
      List<Entry> wrong(Publication good) {
        return List.of(good.manifestEntry().tombstone());
      }
    },
    ROLLED_BACK("set 'spam' went back to sequence 0; sequence 1 stays active") {
      @Override
      List<Entry> wrong(Publication good) {
        return signed(TestPublisher.of(SET, 1).publish(0, "old"));
      }
    },
    FORKED("sequence 1 of set 'spam' was published again with different content; .*") {
      @Override
      List<Entry> wrong(Publication good) {
        return signed(TestPublisher.of(SET, 1).publish(1, "fork"));
      }
    };

    private final String reason;

    Fault(String reason) {
      this.reason = reason;
    }

    abstract List<Entry> wrong(Publication good);

    List<Entry> cure(Publication good) {
      return signed(good);
    }
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void keepsServingSaysWhyAndRecovers(Fault fault) throws Exception {
    try (SnapshotClient client =
        client(options -> options.trustedKeys(Set.of(TRUSTED.publicKey())))) {
      signed(first).forEach(this::append);
      topic.atMillis(5_000, () -> assertThat(client.status().trouble()).isEmpty());
      topic.atMillis(5_000, () -> fault.wrong(good).forEach(this::append));
      topic.atMillis(
          20_000,
          () -> {
            assertThat(refusals).singleElement().asString().matches(fault.reason);
            assertThat(client.state()).isEqualTo(ClientState.READY);
            assertThat(client.manifest().map(Manifest::sequence)).hasValue(1L);
            assertThat(contains(client, "first")).isTrue();
            fault.cure(good).forEach(this::append);
          });
      topic.follow(client.reader(), 60_000);
      assertThat(client.manifest().map(Manifest::sequence)).hasValue(2L);
      assertThat(contains(client, "second")).isTrue();
      assertThat(contains(client, "first")).isFalse();
      assertThat(refusals).hasSize(1);
    }
  }

  /** The control: without a fault, no manifest of the same windows is rejected. */
  @Test
  void refusesNothingWhereNothingIsWrong() {
    try (SnapshotClient client =
        client(options -> options.trustedKeys(Set.of(TRUSTED.publicKey())))) {
      signed(first).forEach(this::append);
      topic.atMillis(5_000, () -> signed(good).forEach(this::append));
      topic.follow(client.reader(), 60_000);
      assertThat(client.manifest().map(Manifest::sequence)).hasValue(2L);
      assertThat(refusals).isEmpty();
    }
  }

  /** Anyone with write access to the topic can hide what is new, but cannot take a client back. */
  @Test
  void anAttackerOnTheTopicTakesNobodyBack(@TempDir Path cache) throws Exception {
    UnaryOperator<SnapshotClientOptions.Builder> change =
        options -> options.trustedKeys(Set.of(TRUSTED.publicKey())).cacheDirectory(cache);
    TestPublisher publisher = TestPublisher.of(SET, 1);
    Publication oldest = publisher.publish(1, "first");
    Publication second = publisher.publish(2, "second");
    Publication third = publisher.publish(3, "third");
    Publication forged = TestPublisher.of(SET, 1).publish(99, "forged");
    signed(oldest).forEach(this::append);
    signed(second).forEach(this::append);
    try (SnapshotClient client = client(change)) {
      topic.atMillis(
          5_000,
          () -> {
            // Freeze: what answers is removed, and the last record of the set is an old one.
            second.chunks().forEach(chunk -> append(chunk.tombstone()));
            append(second.manifestEntry().tombstone());
            forged.entries().forEach(this::append);
            append(signed(forged, SigningKey.generate()));
            signed(oldest).forEach(this::append);
          });
      topic.follow(client.reader(), 20_000);
      assertThat(client.status().trouble().orElseThrow()).contains("went back to sequence 1");
      assertThat(client.manifest().map(Manifest::sequence)).hasValue(2L);
      assertThat(contains(client, "second")).isTrue();
      assertThat(contains(client, "forged")).isFalse();
    }
    try (SnapshotClient restarted = client(change)) {
      topic.atMillis(
          topic.millis() + 5_000,
          () -> {
            assertThat(contains(restarted, "second")).isTrue();
            second.chunks().forEach(this::append);
            signed(third).forEach(this::append);
          });
      topic.follow(restarted.reader(), 60_000);
      assertThat(restarted.manifest().map(Manifest::sequence)).hasValue(3L);
      assertThat(contains(restarted, "third")).isTrue();
    }
  }

  private static boolean contains(SnapshotClient client, String key) {
    return client.status().snapshot().orElseThrow().mightContain(TestPublisher.hash(key));
  }

  /** The published manifests, and whether clients use them. */
  private static final class Model {
    // By sequence, the sets of all topics of this name.
    private final Map<Long, List<Set<Long>>> published = new HashMap<>();
    private final Set<Long> everLive = new HashSet<>();
    private final List<String> wrong = new ArrayList<>();
    private long newest;
    // The last sequence of the last client, and whether it may go back because the topic is new.
    private long shown = -1;
    private boolean mayStepBack;

    void publish(long sequence, Set<Long> live) {
      newest = sequence;
      everLive.addAll(live);
      published.computeIfAbsent(sequence, each -> new ArrayList<>()).add(Set.copyOf(live));
    }

    void show(SnapshotClient client, long sequence) {
      if (sequence < shown && !mayStepBack) {
        wrong.add("from " + shown + " back to " + sequence);
      }
      mayStepBack &= sequence >= shown;
      shown = sequence;
      SnapshotSet set = client.status().snapshot().orElseThrow();
      if (published.get(sequence).stream().noneMatch(live -> isEqual(set, live))) {
        wrong.add("the set of sequence " + sequence);
      }
    }

    boolean isEqual(SnapshotSet set, Set<Long> live) {
      return everLive.stream().allMatch(hash -> set.mightContain(hash) == live.contains(hash));
    }
  }

  @Test
  void everyClientEndsEqualToTheModelAndNoneStepsBack(@TempDir Path directory) {
    for (long seed = 1; seed <= SEEDS; seed++) {
      try {
        new FollowerSimulationTest().follow(new Random(seed), directory.resolve("cache-" + seed));
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  /** Clients start at random moments of a history, one after another; the last one stays. */
  private void follow(Random random, Path cache) {
    Model model = new Model();
    int endMillis = publish(random, model);
    boolean isCached = random.nextBoolean();
    topic.pass(Duration.ofMillis(random.nextInt(endMillis)));
    while (topic.millis() < endMillis) {
      follow(model, isCached ? cache : null, 1 + random.nextInt(endMillis / 2));
    }
    follow(model, isCached ? cache : null, 120_000);
    assertThat(model.wrong).isEmpty();
    assertThat(model.shown).isEqualTo(model.newest);
  }

  private void follow(Model model, @Nullable Path cache, long millis) {
    // Without a cache it may begin with an old manifest that was replayed, if compaction left it.
    model.shown = cache == null ? -1 : model.shown;
    SnapshotClient[] follower = new SnapshotClient[1];
    SnapshotListener listener =
        new SnapshotListener() {
          @Override
          public void onSnapshot(Manifest manifest) {
            model.show(follower[0], manifest.sequence());
          }
        };
    follower[0] =
        client(
            options ->
                (cache == null ? options : options.cacheDirectory(cache)).listener(listener));
    topic.follow(follower[0].reader(), millis);
    follower[0].close();
  }

  /** Schedules a history, and returns when it ends. */
  private int publish(Random random, Model model) {
    TestPublisher publisher = TestPublisher.of(SET, 1);
    int anewAt = random.nextInt(2 * WINDOWS);
    List<Publication> earlier = new ArrayList<>();
    Set<Long> live = new TreeSet<>();
    long sequence = 0;
    int millis = 0;
    for (int window = 0; window < WINDOWS; window++) {
      millis += 1_000 + random.nextInt(random.nextBoolean() ? 2_000 : 60_000);
      if (window == anewAt) {
        topic.atMillis(
            millis,
            () -> {
              topic.createAnew();
              model.mayStepBack = true;
            });
        publisher = TestPublisher.of(SET, 1);
        sequence = 0;
        earlier.clear();
      } else if (random.nextInt(8) == 0) {
        // No older chain of packs leads to this set, as after a loss of the job's state.
        publisher = TestPublisher.of(SET, 1);
      } else if (!earlier.isEmpty() && random.nextInt(4) == 0) {
        Publication replayed = earlier.get(random.nextInt(earlier.size()));
        topic.atMillis(millis, () -> replayed.entries().forEach(this::append));
        millis += random.nextInt(20_000);
      }
      random.longs(random.nextInt(20)).forEach(live::add);
      live.removeIf(hash -> random.nextInt(12) == 0);
      sequence++;
      model.publish(sequence, live);
      long[] hashes = live.stream().mapToLong(Long::longValue).toArray();
      Publication published = publisher.publish(sequence, hashes);
      earlier.add(published);
      for (Entry entry : damaged(published, random)) {
        // Clients see every state between.
        millis += random.nextInt(300);
        topic.atMillis(millis, () -> append(entry));
      }
      switch (random.nextInt(6)) {
        case 0 -> topic.atMillis(millis, topic::compact);
        case 1 -> {
          topic.atMillis(millis - random.nextInt(500), () -> topic.setUp(false));
          topic.atMillis(millis + random.nextInt(90_000), () -> topic.setUp(true));
        }
        default -> {
          // The broker is well.
        }
      }
    }
    topic.atMillis(millis + 90_000, () -> topic.setUp(true));
    return millis + 90_000;
  }

  /** The records of a window, some reordered, or after a damaged copy. */
  private static List<Entry> damaged(Publication window, Random random) {
    List<Entry> entries = new ArrayList<>(window.entries());
    switch (random.nextInt(4)) {
      case 0 -> Collections.reverse(entries);
      case 1 -> {
        entries.add(0, entries.get(0).damaged());
        Collections.rotate(entries.subList(1, entries.size()), 1);
      }
      default -> {
        // No damage.
      }
    }
    return entries;
  }
}
