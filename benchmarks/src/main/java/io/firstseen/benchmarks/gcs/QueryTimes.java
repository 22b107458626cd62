package io.firstseen.benchmarks.gcs;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongPredicate;

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
  private final Map<String, Subject> subjects = new LinkedHashMap<>();
  private long found;

  QueryTimes(int keys) {
    this.keys = keys;
  }

  void add(String name, LongPredicate subject) {
    subjects.put(name, firstKey -> oneByOne(subject, firstKey));
  }

  /** Adds a subject that is queried for many keys at once. */
  void addBatch(String name, BatchPredicate subject) {
    subjects.put(name, firstKey -> inBatches(subject, firstKey));
  }

  /** Measures, for each subject, the nanoseconds of a hit and of a miss. */
  Map<String, double[]> measure() {
    Map<String, double[][]> turns = new LinkedHashMap<>();
    subjects.keySet().forEach(name -> turns.put(name, new double[2][TURNS]));
    for (int turn = -WARM_UP_TURNS; turn < TURNS; turn++) {
      for (Map.Entry<String, Subject> subject : subjects.entrySet()) {
        for (int miss = 0; miss < 2; miss++) {
          double nanos = nanosPerQuery(subject.getValue(), miss * (long) keys);
          if (turn >= 0) {
            turns.get(subject.getKey())[miss][turn] = nanos;
          }
        }
      }
    }
    if (found == 0) {
      throw new IllegalStateException("no key was found");
    }
    Map<String, double[]> medians = new LinkedHashMap<>();
    turns.forEach(
        (name, times) -> medians.put(name, new double[] {median(times[0]), median(times[1])}));
    return medians;
  }

  private double nanosPerQuery(Subject subject, long firstKey) {
    long start = System.nanoTime();
    found += subject.ask(firstKey);
    return (double) (System.nanoTime() - start) / QUERIES;
  }

  private long oneByOne(LongPredicate subject, long firstKey) {
    long answers = 0;
    int next = 0;
    for (int i = 0; i < QUERIES; i++) {
      next += Keys.STRIDE % keys;
      next -= next < keys ? 0 : keys;
      answers += subject.test(Keys.key(firstKey + next)) ? 1 : 0;
    }
    return answers;
  }

  private long inBatches(BatchPredicate subject, long firstKey) {
    long[] asked = new long[BATCH];
    boolean[] answered = new boolean[BATCH];
    long answers = 0;
    int next = 0;
    for (int i = 0; i < QUERIES; i += BATCH) {
      for (int j = 0; j < BATCH; j++) {
        next += Keys.STRIDE % keys;
        next -= next < keys ? 0 : keys;
        asked[j] = Keys.key(firstKey + next);
      }
      subject.test(asked, answered);
      for (boolean answer : answered) {
        answers += answer ? 1 : 0;
      }
    }
    return answers;
  }

  /** Queries a set for many keys at once. */
  interface BatchPredicate {
    /**
     * Queries all keys; may change the array of keys.
     *
     * @param answers receives the answers
     */
    void test(long[] keys, boolean[] answers);
  }

  private interface Subject {
    /** Queries all keys and returns how many were found. */
    long ask(long firstKey);
  }

  static double median(double... values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
