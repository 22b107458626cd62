package io.firstseen.cli.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.cli.consumer.SnapshotWriter.Window;
import io.firstseen.cli.consumer.SnapshotWriter.Written;
import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.consumer.SnapshotListener;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.fixtures.SetPublisher;
import io.firstseen.testing.SharedBroker;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Real clients on a real broker, started at any moment of a long random history of packs and bases,
 * some restarted from their cache. All end equal to the model, and none ever steps back.
 */
class SnapshotHistoryOnBrokerTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final int WINDOWS = Integer.getInteger("firstseen.scale", 1) > 1 ? 100 : 20;
  private static final SetParameters PARAMETERS =
      SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), 1e-9);

  @RegisterExtension private static final SharedBroker KAFKA = SharedBroker.tuned();

  private final String topic = SharedBroker.unused("history");
  private final Set<Long> live = new TreeSet<>();
  private final Set<Long> everLive = new HashSet<>();
  private final List<Follower> followers = new ArrayList<>();
  private final Queue<String> wentBack = new ConcurrentLinkedQueue<>();
  private Random random;
  private final SetPublisher publisher = new SetPublisher(SnapshotWriter.SET, PARAMETERS);

  /** A client, and where it keeps its cache; null for nowhere. */
  private static final class Follower {
    private final Path cache;
    private SnapshotClient client;

    Follower(Path cache) {
      this.cache = cache;
    }
  }

  private SnapshotClient start(Path cache) {
    SnapshotListener listener =
        new SnapshotListener() {
          private long last = -1;

          @Override
          public void onSnapshot(Manifest manifest) {
            if (manifest.sequence() <= last) {
              wentBack.add("from " + last + " to " + manifest.sequence());
            }
            last = manifest.sequence();
          }
        };
    SnapshotClientOptions.Builder options =
        SnapshotClientOptions.builder(KAFKA.servers(), SnapshotWriter.SET)
            .topic(topic)
            .chunkWait(Duration.ofMillis(100))
            .listener(listener);
    return SnapshotClient.start(
        cache == null ? options.build() : options.cacheDirectory(cache).build());
  }

  /** The records of the next window, reordered and damaged at random. */
  private List<Written> window(long sequence) throws SnapshotException {
    for (int i = random.nextInt(20); i > 0; i--) {
      live.add(random.nextLong());
    }
    live.removeIf(hash -> random.nextInt(12) == 0);
    everLive.addAll(live);
    long[] hashes = live.stream().mapToLong(Long::longValue).toArray();
    Window window = Window.of(publisher.publish(sequence, sequence, sequence + 1, hashes));
    List<Written> chunks = window.chunks();
    List<Written> records = new ArrayList<>(chunks);
    records.add(window.manifestRecord());
    switch (random.nextInt(4)) {
      case 0 -> Collections.reverse(records);
      case 1 -> {
        byte[] damaged = chunks.get(0).value().clone();
        damaged[damaged.length / 2] ^= 1;
        records.add(0, chunks.get(0).with(damaged));
        Collections.rotate(records.subList(1, records.size()), 1);
      }
      default -> {
        // No damage.
      }
    }
    return records;
  }

  @Test
  void everyClientEndsEqualToTheModel(@TempDir Path directory) throws Exception {
    assertEveryClientEndsEqualToTheModel(1, directory);
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(longs = {2, 3})
  void alsoInOtherHistories(long seed, @TempDir Path directory) throws Exception {
    assertEveryClientEndsEqualToTheModel(seed, directory);
  }

  private void assertEveryClientEndsEqualToTheModel(long seed, Path directory) throws Exception {
    random = new Random(seed);
    SnapshotWriter.createTopic(KAFKA.broker(), topic);
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic)) {
      for (long sequence = 1; sequence <= WINDOWS; sequence++) {
        for (Written record : window(sequence)) {
          // Each is a transaction of its own, so that clients see every state in between.
          writer.write(List.of(record));
        }
        if (random.nextInt(3) == 0) {
          startOne(directory);
        }
        if (!followers.isEmpty() && random.nextInt(4) == 0) {
          startAgain(followers.get(random.nextInt(followers.size())));
        }
      }
    }
    startOne(directory);
    assertThat(followers).hasSizeGreaterThan(5);
    for (Follower follower : followers) {
      follower.client.awaitSequence(WINDOWS, LONG);
      SnapshotSet set = follower.client.status().snapshot().orElseThrow();
      assertThat(everLive).allMatch(hash -> set.mightContain(hash) == live.contains(hash));
      follower.client.close();
    }
    assertThat(wentBack).isEmpty();
  }

  private void startOne(Path directory) {
    Follower follower =
        new Follower(random.nextBoolean() ? null : directory.resolve("cache-" + followers.size()));
    follower.client = start(follower.cache);
    followers.add(follower);
  }

  private void startAgain(Follower follower) {
    follower.client.close();
    follower.client = start(follower.cache);
  }
}
