package io.firstseen.faults;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;

/** The faults of a run, from a seed. */
final class Schedule {
  private static final int MAX_PAUSE_MILLIS = 3000;
  private static final int MAX_HOLD_MILLIS = 3000;

  private Schedule() {}

  /**
   * A fault of the schedule.
   *
   * @param fault what happens
   * @param pauseMillis how long after the one before it
   * @param holdMillis how long it lasts, beyond what it takes to be noticed
   * @param variant chooses among the ways in which it can happen; at least 0
   * @param overlaps whether it does not wait until the pipeline has recovered from the previous
   *     fault
   */
  record Step(Fault fault, int pauseMillis, int holdMillis, int variant, boolean overlaps) {}

  /**
   * So many kills, and a fault of another kind after every second one. All kinds come equally
   * often; one step in four overlaps.
   *
   * @param possible whether a fault can happen here
   */
  static List<Step> of(long seed, int kills, Predicate<Fault> possible) {
    Random random = new Random(seed);
    List<Fault> killDeck = new ArrayList<>();
    List<Fault> otherDeck = new ArrayList<>();
    List<Step> steps = new ArrayList<>();
    for (int kill = 0; kill < kills; kill++) {
      steps.add(step(draw(killDeck, possible.and(fault -> fault.isKill), random), random));
      if (kill % 2 == 1) {
        steps.add(step(draw(otherDeck, possible.and(fault -> !fault.isKill), random), random));
      }
    }
    return steps;
  }

  /** These faults, one after the other. */
  static List<Step> of(long seed, List<Fault> faults) {
    Random random = new Random(seed);
    return faults.stream().map(fault -> step(fault, random)).toList();
  }

  private static Fault draw(List<Fault> deck, Predicate<Fault> wanted, Random random) {
    if (deck.isEmpty()) {
      deck.addAll(Arrays.stream(Fault.values()).filter(wanted).toList());
      Collections.shuffle(deck, random);
    }
    return deck.remove(deck.size() - 1);
  }

  private static Step step(Fault fault, Random random) {
    return new Step(
        fault,
        random.nextInt(MAX_PAUSE_MILLIS),
        random.nextInt(MAX_HOLD_MILLIS),
        random.nextInt(1 << 16),
        random.nextInt(4) == 0 && !fault.needsJobs());
  }
}
