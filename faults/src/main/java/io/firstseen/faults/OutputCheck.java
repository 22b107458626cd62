package io.firstseen.faults;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Compares the records of the topics of a dedup with the model, one by one. */
final class OutputCheck {
  private static final int MAX_EXAMPLES = 20;

  private final ExactModel model;
  private final BitSet seen = new BitSet();
  private final List<String> examples = new ArrayList<>();
  private int lowestUnseen;
  private long doubled;
  private long wrong;
  private long disordered;

  OutputCheck(ExactModel model) {
    this.model = model;
  }

  /** The topics. */
  enum Topic {
    ACCEPTED,
    DUPLICATES,
    DEAD_LETTERS
  }

  /**
   * Takes the next record of a topic.
   *
   * @param place of the record, for people
   * @param key its key; null if it has none
   * @param hasValue whether it has a value
   * @param number of the event, from its time
   */
  synchronized void accept(
      Topic topic, String place, @Nullable String key, boolean hasValue, long number) {
    if (topic == Topic.DEAD_LETTERS || number < 0 || number > Integer.MAX_VALUE) {
      wrong++;
      example("%s: an event of key %s at %d was rejected".formatted(place, key, number));
      return;
    }
    int event = (int) number;
    ExactModel.Event expected = model.event(event);
    Kind kind = expected.kind();
    boolean fits =
        (topic == Topic.ACCEPTED) == kind.isAccepted()
            && ExactModel.key(expected.key()).equals(key)
            && (topic == Topic.DUPLICATES || hasValue == (kind == Kind.ACCEPTED));
    if (!fits) {
      wrong++;
      example(
          "%s: key %s of event %d, %s, is %s of key %s in the model"
              .formatted(
                  place,
                  key,
                  event,
                  hasValue ? "with a value" : "without a value",
                  kind,
                  ExactModel.key(expected.key())));
      return;
    }
    if (seen.get(event)) {
      doubled++;
      example("%s: event %d of key %s for the second time".formatted(place, event, key));
      return;
    }
    seen.set(event);
    lowestUnseen = seen.nextClearBit(lowestUnseen);
    if (topic == Topic.ACCEPTED) {
      int before = model.acceptedBefore(event);
      if (before >= 0 && !seen.get(before)) {
        disordered++;
        example("%s: event %d of key %s before event %d".formatted(place, event, key, before));
      }
    }
  }

  /** The lowest number of an event that was not seen yet. */
  synchronized int lowestUnseen() {
    return lowestUnseen;
  }

  /** How many of the first events were not seen; tells some of them as examples. */
  synchronized int missing(int events) {
    int missing = events - seen.get(0, events).cardinality();
    for (int number = seen.nextClearBit(0); number < events && examples.size() < MAX_EXAMPLES; ) {
      ExactModel.Event event = model.event(number);
      example(
          "event %d, %s of key %s, is missing"
              .formatted(number, event.kind(), ExactModel.key(event.key())));
      number = seen.nextClearBit(number + 1);
    }
    return missing;
  }

  synchronized long doubled() {
    return doubled;
  }

  synchronized long wrong() {
    return wrong;
  }

  synchronized long disordered() {
    return disordered;
  }

  /** Sentences about the first differences. */
  synchronized List<String> examples() {
    return List.copyOf(examples);
  }

  private void example(String sentence) {
    if (examples.size() < MAX_EXAMPLES) {
      examples.add(sentence);
    }
  }
}
