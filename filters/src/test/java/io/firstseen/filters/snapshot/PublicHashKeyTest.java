package io.firstseen.filters.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What {@code docs/operations/publishing.md} says of sets under the public hash key. */
class PublicHashKeyTest {
  private static final KeyHash SECRET = KeyHash.parse("9f03c7716ee24ab85d1c90f2a63b47de");
  private static final int KEYS = 1_000;
  private static final double RATE = 0.001;

  private static SetParameters parameters(KeyHash keyHash) {
    return SetParameters.of(keyHash, Canonicaliser.NONE, new Shards(1), RATE);
  }

  private static long hash(KeyHash keyHash, String key) {
    return keyHash.hash(key.getBytes(UTF_8));
  }

  /** A set of other keys and this one. */
  private static Snapshot with(KeyHash keyHash, String key) {
    long[] hashes =
        LongStream.concat(
                LongStream.range(1, KEYS).map(i -> hash(keyHash, "listed-" + i)),
                LongStream.of(hash(keyHash, key)))
            .toArray();
    return Snapshot.build(hashes, new SnapshotParameters(parameters(keyHash), "spam", 0, 0, 0, 0));
  }

  @Test
  void anEntryThatListsAnInnocentKeyCostsAsManyHashesAsTheSetHasValues() {
    Universe universe = parameters(KeyHash.fixed()).universeFor(KEYS);
    assertThat(universe.range().doubleValue()).isBetween(KEYS / RATE, 1.01 * KEYS / RATE);
    String innocent = "innocent.example";
    long wanted = universe.valueOf(hash(KeyHash.fixed(), innocent));
    long tries = 1;
    while (universe.valueOf(hash(KeyHash.fixed(), "crafted-" + tries)) != wanted) {
      tries++;
    }
    // Geometric: each bound is missed with a probability of 1 %.
    assertThat(tries * RATE / KEYS).isBetween(0.01, 4.6);
    String crafted = "crafted-" + tries;
    assertThat(with(KeyHash.fixed(), crafted).mightContain(hash(KeyHash.fixed(), innocent)))
        .isTrue();
    // The control: it is the crafted entry that does it, and only under the key it was made for.
    assertThat(with(KeyHash.fixed(), "another").mightContain(hash(KeyHash.fixed(), innocent)))
        .isFalse();
    assertThat(with(SECRET, crafted).mightContain(hash(SECRET, innocent))).isFalse();
  }

  @Test
  void aKeyThatIsTakenForListedCostsOneHashInTheRate() {
    Snapshot set = with(KeyHash.fixed(), "last");
    int tries = 1;
    while (!set.mightContain(hash(KeyHash.fixed(), "own-" + tries))) {
      tries++;
    }
    assertThat(tries * RATE).isBetween(0.01, 4.6);
  }
}
