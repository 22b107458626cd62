package io.firstseen.serializers;

import java.util.Objects;

/**
 * The place of a record in its source.
 *
 * @param source the topic of a Kafka record; for other sources the whole place, such as {@code
 *     events.tsv:17}
 * @param partition the partition of a Kafka record; -1 for other sources
 * @param offset the offset of a Kafka record; -1 for other sources
 */
public record Place(String source, int partition, long offset) {
  private static final int NONE = -1;

  public Place {
    Objects.requireNonNull(source, "source");
  }

  /** Returns the place that a text names. A Kafka record is {@code topic-partition@offset}. */
  public static Place of(String text) {
    int at = text.lastIndexOf('@');
    int dash = text.lastIndexOf('-', at);
    if (dash >= 0) {
      try {
        Place place =
            new Place(
                text.substring(0, dash),
                Integer.parseInt(text.substring(dash + 1, at)),
                Long.parseLong(text.substring(at + 1)));
        if (place.offset >= 0 && place.toString().equals(text)) {
          return place;
        }
      } catch (NumberFormatException e) {
        // A place of another source.
      }
    }
    return new Place(text, NONE, NONE);
  }

  /** Returns whether this is the place of a Kafka record. */
  public boolean isOfKafka() {
    return partition >= 0;
  }

  @Override
  public String toString() {
    return isOfKafka() ? source + "-" + partition + "@" + offset : source;
  }
}
