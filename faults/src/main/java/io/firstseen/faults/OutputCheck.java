package io.firstseen.faults;

import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Compares the records of the topics of a dedup with the model, one by one. */
final class OutputCheck {
  private static final int MAX_EXAMPLES = 20;

  final AtomicLong doubled = new AtomicLong();
  final AtomicLong wrong = new AtomicLong();
  final AtomicLong disordered = new AtomicLong();

  /** Sentences about the first differences. */
  final List<String> examples = new CopyOnWriteArrayList<>();

  private final ExactModel model;
  private final BitSet seen = new BitSet();
  private int lowestUnseen;

  OutputCheck(ExactModel model) {
    this.model = model;
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
      String topic, String place, @Nullable String key, boolean hasValue, long number) {
    if (topic.equals(Pipeline.DEAD_LETTERS) || number < 0 || number > Integer.MAX_VALUE) {
      count(wrong, "%s: an event of key %s at %d was rejected".formatted(place, key, number));
      return;
    }
    int event = (int) number;
    ExactModel.Event expected = model.event(event);
    ExactModel.Kind kind = expected.kind();
    String expectedKey = ExactModel.key(expected.key());
    boolean inAccepted = topic.equals(Pipeline.ACCEPTED);
    if (inAccepted != kind.isAccepted()
        || !expectedKey.equals(key)
        || (inAccepted && hasValue == kind.isDelete())) {
      String value = hasValue ? "with a value" : "without a value";
      count(
          wrong,
          "%s: key %s of event %d, %s, is %s of key %s in the model"
              .formatted(place, key, event, value, kind, expectedKey));
    } else if (seen.get(event)) {
      count(doubled, "%s: event %d of key %s for the second time".formatted(place, event, key));
    } else {
      seen.set(event);
      lowestUnseen = seen.nextClearBit(lowestUnseen);
      int before = expected.before();
      if (inAccepted && before >= 0 && !seen.get(before)) {
        count(
            disordered,
            "%s: event %d of key %s before event %d".formatted(place, event, key, before));
      }
    }
  }

  /** The lowest number of an event that was not seen yet. */
  synchronized int lowestUnseen() {
    return lowestUnseen;
  }

  /** How many of the first events were not seen; tells some of them as examples. */
  synchronized long missing(int events) {
    AtomicLong missing = new AtomicLong();
    for (int number = lowestUnseen; number < events; number = seen.nextClearBit(number + 1)) {
      ExactModel.Event event = model.event(number);
      String key = ExactModel.key(event.key());
      count(missing, "event %d, %s of key %s, is missing".formatted(number, event.kind(), key));
    }
    return missing.get();
  }

  private void count(AtomicLong counter, String example) {
    counter.incrementAndGet();
    if (examples.size() < MAX_EXAMPLES) {
      examples.add(example);
    }
  }
}
