package io.firstseen.benchmarks.gcs;

import io.firstseen.benchmarks.shared.Keys;
import io.firstseen.benchmarks.shared.Turns;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.LongPredicate;
import java.util.function.LongUnaryOperator;

/**
 * Nanoseconds per query of several sets that hold the first keys of one sequence. The sets take
 * turns in one run, so that changes of the machine's speed affect all of them. The median of all
 * turns counts.
 */
final class QueryTimes {
  private static final int WARM_UP_TURNS = 3;
  private static final int TURNS = 9;
  private static final int QUERIES = 600_000;
  private static final int BATCH = 240;

  private final int keys;

  /** How many of the keys from a first one on each subject finds. */
  private final Map<String, LongUnaryOperator> subjects = new LinkedHashMap<>();

  private long found;

  QueryTimes(int keys) {
    this.keys = keys;
  }

  void add(String name, LongPredicate subject) {
    subjects.put(name, firstKey -> oneByOne(subject, firstKey));
  }

  /** Adds a subject that is queried for many keys at once; it may change the array of keys. */
  void addBatch(String name, BiConsumer<long[], boolean[]> subject) {
    subjects.put(name, firstKey -> inBatches(subject, firstKey));
  }

  /** Measures, for each subject, the nanoseconds of a hit and of a miss. */
  Map<String, double[]> measure() throws Exception {
    Map<String, List<double[]>> turns =
        Turns.measure(
            subjects.keySet(),
            WARM_UP_TURNS,
            TURNS,
            (name, turn) ->
                new double[] {
                  nanosPerQuery(subjects.get(name), 0), nanosPerQuery(subjects.get(name), keys)
                });
    if (found == 0) {
      throw new IllegalStateException("no key was found");
    }
    Map<String, double[]> medians = new LinkedHashMap<>();
    turns.forEach(
        (name, times) ->
            medians.put(
                name,
                new double[] {
                  Turns.median(times, each -> each[0]), Turns.median(times, each -> each[1])
                }));
    return medians;
  }

  private double nanosPerQuery(LongUnaryOperator subject, long firstKey) {
    long start = System.nanoTime();
    found += subject.applyAsLong(firstKey);
    return (double) (System.nanoTime() - start) / QUERIES;
  }

  private long oneByOne(LongPredicate subject, long firstKey) {
    long answers = 0;
    int next = 0;
    for (int i = 0; i < QUERIES; i++) {
      next = Keys.next(next, keys);
      answers += subject.test(Keys.key(firstKey + next)) ? 1 : 0;
    }
    return answers;
  }

  private long inBatches(BiConsumer<long[], boolean[]> subject, long firstKey) {
    long[] asked = new long[BATCH];
    boolean[] answered = new boolean[BATCH];
    long answers = 0;
    int next = 0;
    for (int i = 0; i < QUERIES; i += BATCH) {
      for (int j = 0; j < BATCH; j++) {
        next = Keys.next(next, keys);
        asked[j] = Keys.key(firstKey + next);
      }
      subject.accept(asked, answered);
      for (boolean answer : answered) {
        answers += answer ? 1 : 0;
      }
    }
    return answers;
  }
}
