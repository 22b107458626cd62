package io.firstseen.cli.demo;

import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.serializers.Outcome;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/** Compares the pipeline's results with an exact model. */
final class Checks {
  /** The number of queries of the snapshot for keys that were never in the stream. */
  static final int ABSENT_KEYS = 100_000;

  private static final int WARM_UP = 50_000;

  /** By chance, a small expected count may be exceeded by this factor, plus a constant. */
  private static final int FACTOR = 3;

  private static final int CONSTANT = 3;
  private static final long SEED = 4711;

  private final ExactModel model;
  private final ObservedOutcomes observed;
  private final Membership snapshot;
  private final double falsePositiveRate;
  private final Set<String> dropped = new HashSet<>();
  private long drops;
  private double nanosPerQuery;

  interface Membership {
    boolean mightContain(String key) throws InvalidKeyException;
  }

  /**
   * Prepares the checks.
   *
   * @param snapshot the snapshot of the keys that are live at the end
   * @param falsePositiveRate the promised rate of the filter and of the snapshot
   */
  Checks(
      ExactModel model, ObservedOutcomes observed, Membership snapshot, double falsePositiveRate) {
    this.model = model;
    this.observed = observed;
    this.snapshot = snapshot;
    this.falsePositiveRate = falsePositiveRate;
    BitSet missing = (BitSet) model.firstSeen.clone();
    missing.andNot(observed.accepted);
    drops = missing.cardinality();
    missing.stream().forEach(number -> dropped.add(model.events.get(number).url()));
  }

  List<Check> all() throws InvalidKeyException {
    return List.of(
        Check.never(
            "events without exactly one outcome",
            Math.abs(model.events.size() - observed.outcomes()),
            model.events.size()),
        Check.never(
            "malformed events not in dead letters",
            Math.abs(
                model.count(Outcome.Kind.DEAD_LETTER) - observed.count(Outcome.Kind.DEAD_LETTER)),
            model.count(Outcome.Kind.DEAD_LETTER)),
        repeatsAccepted(),
        new Check(
            "new keys dropped",
            drops,
            model.firstSeen.cardinality(),
            byChance(model.expectedDrops),
            falsePositiveRate),
        deletesNotHonoured(),
        liveKeysMissed(),
        removedKeysHeld(),
        absentKeysHeld());
  }

  /** The time per query of the snapshot, as measured by {@link #all}. */
  double nanosPerQuery() {
    return nanosPerQuery;
  }

  private static long byChance(double expected) {
    return Math.round(FACTOR * expected) + CONSTANT;
  }

  /** A key whose first add was dropped as a false duplicate is correctly accepted later. */
  private Check repeatsAccepted() {
    BitSet wrong = (BitSet) observed.accepted.clone();
    wrong.andNot(model.firstSeen);
    model.events.stream()
        .filter(event -> dropped.contains(event.url()))
        .forEach(event -> wrong.clear(event.number()));
    wrong.or(observed.acceptedTwice);
    return new Check(
        "duplicates of live keys accepted",
        wrong.cardinality(),
        model.count(Outcome.Kind.DUPLICATE),
        // The promise holds while only admitted keys are deleted.
        observed.strayRemovals,
        0);
  }

  private Check deletesNotHonoured() {
    long found = model.removed.stream().filter(observed.live::contains).count();
    return new Check(
        "deleted keys still accepted", found, model.removed.size(), observed.strayRemovals, 0);
  }

  private Check liveKeysMissed() throws InvalidKeyException {
    Set<String> live = new HashSet<>(model.live);
    live.removeIf(url -> dropped.contains(url));
    live.addAll(observed.live);
    long found = 0;
    for (String url : live) {
      found += observed.live.contains(url) && snapshot.mightContain(url) ? 0 : 1;
    }
    return Check.never("live keys absent from the snapshot", found, live.size());
  }

  private Check removedKeysHeld() throws InvalidKeyException {
    long found = 0;
    for (String url : model.removed) {
      found += snapshot.mightContain(url) ? 1 : 0;
    }
    return new Check(
        "deleted keys present in the snapshot",
        found,
        model.removed.size(),
        byChance(falsePositiveRate * model.removed.size()),
        falsePositiveRate);
  }

  private Check absentKeysHeld() throws InvalidKeyException {
    SplittableRandom random = new SplittableRandom(SEED);
    long found = 0;
    long startNanos = 0;
    // CPU time, which other processes do not inflate.
    ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    for (int i = 0; i < ABSENT_KEYS; i++) {
      if (i == WARM_UP) {
        startNanos = clock.getCurrentThreadCpuTime();
      }
      String absentKey = SampleStream.url(Long.toHexString(random.nextLong()) + ".example");
      found += snapshot.mightContain(absentKey) ? 1 : 0;
    }
    nanosPerQuery =
        (double) (clock.getCurrentThreadCpuTime() - startNanos) / (ABSENT_KEYS - WARM_UP);
    return new Check(
        "absent keys reported as present",
        found,
        ABSENT_KEYS,
        Math.round(2 * falsePositiveRate * ABSENT_KEYS),
        falsePositiveRate);
  }
}
