package io.firstseen.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import io.firstseen.faults.ExactModel.Kind;
import io.firstseen.filters.cuckoo.CuckooFilter;
import io.firstseen.filters.cuckoo.InsertionResult;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ExactModelTest {
  private static final int EVENTS = 60_000;

  static ExactModel model(long seed, double falsePositiveRate) {
    return new ExactModel(
        new StreamSettings(seed, 1_700_000_000_000L, 2, 5000, 10_000, falsePositiveRate),
        KeyHash.fixed());
  }

  @Test
  void outcomesAreThoseOfTheFilterItself() {
    ExactModel model = model(1, 0.05);
    Shards shards = new Shards(StreamSettings.SHARDS);
    List<CuckooFilter> filters = new ArrayList<>();
    for (int shard = 0; shard < shards.count(); shard++) {
      filters.add(new CuckooFilter(model.settings().shape()));
    }
    Set<Kind> kinds = EnumSet.noneOf(Kind.class);
    for (int number = 0; number < EVENTS; number++) {
      ExactModel.Event event = model.event(number);
      long hash =
          KeyHash.fixed().hash(ExactModel.key(event.key()).getBytes(StandardCharsets.US_ASCII));
      CuckooFilter filter = filters.get(shards.shardOf(hash));
      long suffix = shards.suffix(hash);
      boolean changes =
          event.kind().isDelete()
              ? filter.delete(suffix)
              : filter.insertIfAbsent(suffix) == InsertionResult.STORED;
      if (changes != event.kind().isAccepted()) {
        throw new AssertionError("event " + event + " changes the filter: " + changes);
      }
      kinds.add(event.kind());
    }
    assertThat(kinds).containsExactlyInAnyOrder(Kind.values());
    assertThat(model.drops()).isPositive();
    // As many as in a long run of the suite, at its rate.
    ExactModel large =
        new ExactModel(
            new StreamSettings(2, 1_700_000_000_000L, 2, 5000, 500_000, 0.01), KeyHash.fixed());
    large.event(1_300_000);
    assertThat(large.expectedDrops()).isGreaterThan(1_000);
    for (ExactModel each : List.of(model, large)) {
      assertThat((double) each.drops())
          .isCloseTo(each.expectedDrops(), offset(4 * Math.sqrt(each.expectedDrops())));
    }
  }

  @Test
  void liveKeysAreThoseOfTheChangelog() {
    ExactModel model = model(2, 0.05);
    Set<Integer> live = new HashSet<>();
    for (int number = 0; number < EVENTS; number++) {
      ExactModel.Event event = model.event(number);
      if (event.kind() == Kind.ACCEPTED) {
        live.add(event.key());
      } else if (event.kind() == Kind.REMOVED) {
        live.remove(event.key());
      }
      if ((number + 1) % 5000 == 0) {
        assertThat(model.liveAtEndOf((number + 1) / 5000)).isEqualTo(live.size());
      }
    }
    for (int key = 0; key < model.keys(); key++) {
      if (model.isLive(key, EVENTS) != live.contains(key)) {
        throw new AssertionError("key " + key);
      }
    }
  }

  @Test
  void eventsAreThoseOfTheSeed() {
    ExactModel one = model(3, 0.01);
    ExactModel other = model(3, 0.01);
    ExactModel another = model(4, 0.01);
    other.liveAtEndOf(2);
    int differ = 0;
    for (int number = 0; number < 10_000; number++) {
      assertThat(one.event(number)).isEqualTo(other.event(number));
      differ += one.event(number).equals(another.event(number)) ? 0 : 1;
    }
    assertThat(differ).isGreaterThan(1000);
  }
}
