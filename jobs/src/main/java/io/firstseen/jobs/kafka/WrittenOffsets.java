package io.firstseen.jobs.kafka;

import io.firstseen.serializers.Place;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;

/**
 * The progress of the output: for each partition of the input and each shard of the dedup, the
 * offset of the last event whose outcome is written. The events of a partition keep their order, so
 * the outcomes of all earlier events of that shard are also written.
 *
 * <p>In the text format, each line contains a range of shards and the place of the event: {@code
 * 0-63 firstseen.events-0@1234}.
 */
final class WrittenOffsets {
  private static final long NONE = -1;

  private final int shards;
  private final Map<TopicPartition, long[]> byPartition =
      new TreeMap<>(Comparator.comparing(TopicPartition::toString));

  WrittenOffsets(int shards) {
    this.shards = shards;
  }

  /** No progress in the same shards. */
  WrittenOffsets none() {
    return new WrittenOffsets(shards);
  }

  /** Records the place of an event for shards, both ends inclusive, unless it is earlier. */
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

  void addLines(Iterable<String> lines) {
    addLines(lines, false);
  }

  /**
   * Adds the offsets of lines.
   *
   * @param isOfAnyShards whether the lines may be of a dedup with more shards: offsets of
   *     additional shards count for the last shard
   * @throws IllegalArgumentException if a line is malformed or contains an unknown shard
   */
  void addLines(Iterable<String> lines, boolean isOfAnyShards) {
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

  boolean isEmpty() {
    return byPartition.isEmpty();
  }

  /** The last place per partition, for messages. */
  String places() {
    return byPartition.entrySet().stream()
        .map(each -> each.getKey() + "@" + Arrays.stream(each.getValue()).max().orElse(NONE))
        .collect(Collectors.joining(", "));
  }

  /** A place that is written here but not in {@code other}; empty if there is no such place. */
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
   * For each shard, the offset up to which outcomes of a partition are written here, if it is
   * higher than in {@code other}; -1 for all other shards. Null if the range has no such shard.
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
