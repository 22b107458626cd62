package io.firstseen.operators.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.types.TimeToLive;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KnownKeysTest {
  @TempDir private Path directory;

  private List<Long> live() throws IOException {
    List<Long> live = new ArrayList<>();
    for (int part = 0; part < KnownKeysPart.COUNT; part++) {
      KnownKeysPart known = KnownKeysPart.read(directory, part, null, 0, false);
      for (int i = 0; i < known.count(); i++) {
        live.add(known.hash(i));
      }
    }
    return live;
  }

  /** Hashes that differ in one byte each, at every place, and repeat often. */
  private static long hash(Random random) {
    long hash = 0x0123_4567_89AB_CDEFL;
    return hash ^ (long) random.nextInt(256) << (8 * random.nextInt(8));
  }

  @Test
  void whatWasAddedLastLives() throws IOException {
    Random random = new Random(5);
    TreeSet<Long> model = new TreeSet<>(Long::compareUnsigned);
    try (KnownKeys keys = new KnownKeys(directory, null)) {
      for (int i = 0; i < 100_000; i++) {
        long hash = hash(random);
        if (random.nextInt(3) > 0) {
          keys.add(hash, i);
          model.add(hash);
        } else {
          keys.remove(hash);
          model.remove(hash);
        }
      }
      keys.complete();
      assertThat(keys.operations()).isEqualTo(100_000);
    }
    assertThat(model).hasSizeGreaterThan(1_000).hasSizeLessThan(2_000);
    assertThat(live()).containsExactlyElementsOf(model);
  }

  /** The keys that live half a second before the latest of all, with their times. */
  private String times(TimeToLive.Since since, boolean renewed) throws IOException {
    TimeToLive ttl = TimeToLive.of(Duration.ofSeconds(1)).since(since);
    Path files = Files.createDirectory(directory.resolve(since.id() + renewed));
    long[][] adds = {
      {1, 1000}, {2, 1000}, {1, 1900}, {1, 2100}, {1, 2600}, {2, 3500}, {2, 3400}, {3, 2000}
    };
    long latest;
    try (KnownKeys keys = new KnownKeys(files, ttl)) {
      keys.add(4, 1000);
      for (long[] add : adds) {
        keys.add(add[0], add[1]);
      }
      keys.remove(5);
      keys.add(6, 2999);
      keys.remove(6);
      keys.add(6, 3000);
      if (renewed) {
        keys.renewAll(2_000);
        keys.renewAll(9_500);
      }
      keys.complete();
      assertThat(keys.isRenewed()).isEqualTo(renewed);
      latest = keys.latestMillis() - 500;
    }
    KnownKeysPart known = KnownKeysPart.read(files, 0, ttl, latest, renewed);
    StringBuilder times = new StringBuilder();
    for (int i = 0; i < known.count(); i++) {
      times.append(known.hash(i)).append('@').append(known.timeMillis(i)).append(' ');
    }
    return times.toString();
  }

  @Test
  void keysAreAsOldAsTheTtlSays() throws IOException {
    assertThat(times(TimeToLive.Since.FIRST_SEEN, false)).isEqualTo("1@2100 2@3500 6@3000 ");
    assertThat(times(TimeToLive.Since.LAST_SEEN, false)).isEqualTo("1@2600 2@3500 6@3000 ");
  }

  @Test
  void keysWhoseRepeatsAreUnknownAreAsYoungAsTheYoungest() throws IOException {
    assertThat(times(TimeToLive.Since.LAST_SEEN, true))
        .isEqualTo("1@9000 2@9000 3@9000 4@9000 6@9000 ");
  }

  @Test
  void filesThatAreLeftAreCounted() throws IOException {
    try (KnownKeys keys = new KnownKeys(directory, null)) {
      keys.add(0, 0);
      keys.add(1L << 56, 0);
      keys.add(-1, 0);
      keys.complete();
      assertThat(keys.partsLeft()).isEqualTo(3);
      Files.delete(KnownKeysPart.file(directory, 1));
      assertThat(keys.partsLeft()).isEqualTo(2);
    }
    assertThat(live()).containsExactly(0L, -1L);
  }
}
