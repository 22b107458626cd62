package io.firstseen.operators.restores;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;

/** Events in their order, and what an exact set of keys makes of each. */
final class EventScript {
  /** The outcome of an event. */
  enum Outcome {
    ACCEPTED(0),
    REMOVED(1),
    DUPLICATE(2),
    UNKNOWN_DELETE(3);

    /** Two bits that stand for it. */
    final int code;

    Outcome(int code) {
      this.code = code;
    }

    static Outcome of(int code) {
      for (Outcome outcome : values()) {
        if (outcome.code == code) {
          return outcome;
        }
      }
      throw new IllegalArgumentException("no outcome has code " + code);
    }
  }

  private record Step(boolean delete, String key, Outcome exact, long timeMillis) {}

  private final List<Step> steps = new ArrayList<>();
  private final Set<String> live = new HashSet<>();
  private long timeMillis;

  /**
   * Keys that fall into given shards under the fixed hash key.
   *
   * @param start what the keys begin with
   * @param counts number of keys of each shard; shards past the end begin with the first again
   */
  static List<String> keysOfShards(String start, int shardCount, int... counts) {
    Shards shards = new Shards(shardCount);
    int[] missing = new int[shardCount];
    int allMissing = 0;
    for (int shard = 0; shard < shardCount; shard++) {
      missing[shard] = counts[shard % counts.length];
      allMissing += missing[shard];
    }
    KeyHash hash = KeyHash.fixed();
    List<String> keys = new ArrayList<>();
    for (int i = 0; allMissing > 0; i++) {
      String key = start + "-" + Integer.toString(10_000_000 + i).substring(1);
      if (missing[shards.shardOf(hash.hash(key.getBytes(UTF_8)))]-- > 0) {
        keys.add(key);
        allMissing--;
      }
    }
    return keys;
  }

  EventScript add(String key) {
    Outcome exact = live.add(key) ? Outcome.ACCEPTED : Outcome.DUPLICATE;
    steps.add(new Step(false, key, exact, timeMillis));
    return this;
  }

  /** Adds a text that resembles a live text. */
  EventScript addNear(String text) {
    steps.add(new Step(false, text, Outcome.DUPLICATE, timeMillis));
    return this;
  }

  EventScript delete(String key) {
    Outcome exact = live.remove(key) ? Outcome.REMOVED : Outcome.UNKNOWN_DELETE;
    steps.add(new Step(true, key, exact, timeMillis));
    return this;
  }

  /** The time of the events from here on; 0 before. */
  EventScript at(long newTimeMillis) {
    timeMillis = newTimeMillis;
    return this;
  }

  /** By now these keys have expired. */
  EventScript forget(Collection<String> keys) {
    live.removeAll(keys);
    return this;
  }

  /** Adds each key once, in a different order. */
  EventScript addAll(Collection<String> keys, long seed) {
    List<String> shuffled = new ArrayList<>(keys);
    Collections.shuffle(shuffled, new Random(seed));
    shuffled.forEach(this::add);
    return this;
  }

  /** Adds and deletes keys at random, half and half. */
  EventScript mix(List<String> keys, int events, long seed) {
    Random random = new Random(seed);
    for (int i = 0; i < events; i++) {
      String key = keys.get(random.nextInt(keys.size()));
      if (random.nextBoolean()) {
        add(key);
      } else {
        delete(key);
      }
    }
    return this;
  }

  /**
   * Checks the whole contents: adds every key, so that live keys must be duplicates and deleted
   * ones must be accepted, and then a number of keys that were never seen.
   */
  EventScript probe(List<String> keys, int absentKeys) {
    keys.forEach(this::add);
    for (int i = 0; i < absentKeys; i++) {
      add("stranger-%07d".formatted(i));
    }
    return this;
  }

  int size() {
    return steps.size();
  }

  Outcome exact(int position) {
    return steps.get(position).exact();
  }

  long timeMillis(long position) {
    return steps.get(Math.toIntExact(position)).timeMillis();
  }

  byte[] key(int position) {
    return steps.get(position).key().getBytes(UTF_8);
  }

  /** How many of the events between two positions have an outcome. */
  long count(int from, int to, Outcome outcome) {
    return steps.subList(from, to).stream().filter(step -> step.exact() == outcome).count();
  }

  /** How many keys live after a number of events. */
  long live(int events) {
    return count(0, events, Outcome.ACCEPTED) - count(0, events, Outcome.REMOVED);
  }

  /**
   * Asserts that the outcomes are the outcomes of the exact set: for the first events, each once.
   */
  void assertExactly(Outcomes outcomes, int events) {
    assertExactly(outcomes, 0, events);
  }

  /** As above, for the events from a first one on. */
  void assertExactly(Outcomes outcomes, int from, int to) {
    Outcome[] observed = outcomes.byPosition(to);
    for (int position = from; position < to; position++) {
      if (observed[position] != exact(position)) {
        assertThat(observed[position])
            .as("event %d, key %s", position, steps.get(position).key())
            .isEqualTo(exact(position));
      }
    }
  }

  /** Makes events of positions: always the same object and, where it fits, the same key array. */
  static final class ToEvent extends RichMapFunction<Long, KeyEvent> {
    private static final long serialVersionUID = 1;

    private final InTest<EventScript> script;
    private transient KeyEvent event;

    ToEvent(InTest<EventScript> script) {
      this.script = script;
    }

    @Override
    public void open(OpenContext context) {
      event = new KeyEvent();
      event.key = new byte[0];
    }

    @Override
    public KeyEvent map(Long position) {
      Step step = script.get().steps.get(Math.toIntExact(position));
      event.position = position;
      event.delete = step.delete();
      byte[] key = step.key().getBytes(UTF_8);
      if (event.key.length != key.length) {
        event.key = new byte[key.length];
      }
      System.arraycopy(key, 0, event.key, 0, key.length);
      return event;
    }
  }
}
