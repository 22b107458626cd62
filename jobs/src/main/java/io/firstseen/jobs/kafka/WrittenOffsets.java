package io.firstseen.jobs.kafka;

import io.firstseen.serializers.Place;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;

/**
 * How far outcomes are written: for each partition of the input and each shard of the dedup, the
 * offset of the last event whose outcome is written. The events of a partition keep their order, so
 * the outcomes of all earlier events of that shard are written, too.
 *
 * <p>As text, each line is a range of shards and the place of that event: {@code 0-63
 * firstseen.events-0@1234}.
 */
final class WrittenOffsets {
  private static final long NONE = -1;

  private final int shards;
  private final Map<TopicPartition, long[]> byPartition =
      new TreeMap<>(Comparator.comparing(TopicPartition::toString));

  WrittenOffsets(int shards) {
    this.shards = shards;
  }

  /**
   * Records the place of an event for a range of shards; a lower offset than is known changes
   * nothing.
   *
   * @param first the first shard
   * @param last the last shard, inclusive
   */
  void advance(Place place, int first, int last) {
    long[] offsets =
        byPartition.computeIfAbsent(
            new TopicPartition(place.source(), place.partition()),
            partition -> {
              long[] none = new long[shards];
              Arrays.fill(none, NONE);
              return none;
            });
    for (int shard = first; shard <= last; shard++) {
      offsets[shard] = Math.max(offsets[shard], place.offset());
    }
  }

  /**
   * Adds the offsets of lines.
   *
   * @throws IllegalArgumentException if one is malformed or names a shard that there is not
   */
  void addLines(Iterable<String> lines) {
    addLines(lines, false);
  }

  /**
   * Adds the offsets of lines, perhaps of a dedup with more shards: what is beyond the shards here
   * is that of the last one.
   *
   * @throws IllegalArgumentException if one is malformed
   */
  void addLinesOfAnyShards(Iterable<String> lines) {
    addLines(lines, true);
  }

  private void addLines(Iterable<String> lines, boolean isOfAnyShards) {
    for (String line : lines) {
      int space = line.indexOf(' ');
      int dash = line.indexOf('-');
      Place place = Place.of(line.substring(space + 1));
      if (dash < 1 || space < dash || !place.isOfKafka()) {
        throw new IllegalArgumentException("not a range of shards and a place: " + line);
      }
      int first = Integer.parseInt(line.substring(0, dash));
      int last = Integer.parseInt(line.substring(dash + 1, space));
      if (isOfAnyShards) {
        first = Math.min(first, shards - 1);
        last = Math.min(last, shards - 1);
      }
      if (first > last || last >= shards) {
        throw new IllegalArgumentException(
            "shards must be in [0, %d), got %s".formatted(shards, line));
      }
      advance(place, first, last);
    }
  }

  /** The lines for a range of shards, both ends inclusive. */
  List<String> lines(int first, int last) {
    List<String> lines = new ArrayList<>();
    byPartition.forEach(
        (partition, offsets) -> {
          int from = first;
          for (int shard = first; shard <= last; shard++) {
            if (shard == last || offsets[shard + 1] != offsets[from]) {
              if (offsets[from] != NONE) {
                lines.add("%d-%d %s@%d".formatted(from, shard, partition, offsets[from]));
              }
              from = shard + 1;
            }
          }
        });
    return lines;
  }

  /** Whether there are none. */
  boolean isEmpty() {
    return byPartition.isEmpty();
  }

  /** The last place of each partition, for messages. */
  String places() {
    List<String> places = new ArrayList<>();
    byPartition.forEach(
        (partition, offsets) ->
            places.add(partition + "@" + Arrays.stream(offsets).max().orElse(NONE)));
    return String.join(", ", places);
  }

  /** A place that is written here and not in the other; empty if there is none. */
  Optional<String> beyond(WrittenOffsets other) {
    for (TopicPartition partition : byPartition.keySet()) {
      long[] ahead = beyond(other, partition, 0, shards - 1);
      if (ahead != null) {
        return Optional.of(partition + "@" + Arrays.stream(ahead).max().orElse(NONE));
      }
    }
    return Optional.empty();
  }

  /**
   * For each shard the offset up to which outcomes of a partition are written here, if that is
   * farther than in the other; -1 for other shards. Null if there is no such shard in the range.
   */
  long[] beyond(WrittenOffsets other, TopicPartition partition, int first, int last) {
    long[] offsets = byPartition.get(partition);
    if (offsets == null) {
      return null;
    }
    long[] others = other.byPartition.get(partition);
    long[] ahead = new long[shards];
    Arrays.fill(ahead, NONE);
    boolean any = false;
    for (int shard = first; shard <= last; shard++) {
      if (offsets[shard] > (others == null ? NONE : others[shard])) {
        ahead[shard] = offsets[shard];
        any = true;
      }
    }
    return any ? ahead : null;
  }
}
