package io.firstseen.benchmarks.cuckoo;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Simulates one page as a cuckoo table of overlapping windows: a key may be in any of the w slots
 * from its position on, or from its alternate position on (Lehman and Panigrahy, "3.5-way cuckoo
 * hashing for the price of 2-and-a-bit", ESA 2009). Slots store the position and the core.
 */
final class WindowedTable {
  private static final int CORES = 256;

  private final int positions;
  private final int window;
  private final int[] steps = new int[CORES];

  /** Position and core of the key of each slot, −1 if it is free. */
  private final int[] slots;

  private int used;
  private long visited;

  WindowedTable(int positions, int window) {
    this.positions = positions;
    this.window = window;
    this.slots = new int[positions + window - 1];
    Arrays.fill(slots, -1);
    SplittableRandom random = new SplittableRandom(1);
    for (int core = 0; core < CORES; core++) {
      steps[core] = random.nextInt(positions);
    }
  }

  /** The other position of a key; the same one for one key in as many as there are positions. */
  private int alternate(int position, int core) {
    return Math.floorMod(steps[core] - position, positions);
  }

  /** Breadth-first search for the shortest chain of moves, through the whole table if need be. */
  boolean insert(int position, int core) {
    int[] queue = new int[slots.length];
    int[] from = new int[slots.length];
    int[] movesTo = new int[slots.length];
    Arrays.fill(from, -2);
    int size = 0;
    int key = position * CORES + core;
    for (int named : new int[] {position, alternate(position, core)}) {
      for (int slot = named; slot < named + window; slot++) {
        if (from[slot] == -2) {
          from[slot] = -1;
          movesTo[slot] = named * CORES + core;
          queue[size++] = slot;
        }
      }
    }
    for (int at = 0; at < size; at++) {
      int slot = queue[at];
      visited++;
      if (slots[slot] < 0) {
        int to = slot;
        while (from[to] >= 0) {
          slots[to] = movesTo[to];
          to = from[to];
        }
        slots[to] = movesTo[to];
        used++;
        return true;
      }
      key = slots[slot];
      for (int named : new int[] {key / CORES, alternate(key / CORES, key % CORES)}) {
        for (int next = named; next < named + window; next++) {
          if (from[next] == -2) {
            from[next] = slot;
            movesTo[next] = named * CORES + key % CORES;
            queue[size++] = next;
          }
        }
      }
    }
    return false;
  }

  /** The mean and least load at the first refusal, and slots visited for a key up to there. */
  static double[] firstFailure(int positions, int window, int pages, long seed) {
    double sum = 0;
    double least = 1;
    double visits = 0;
    for (int page = 0; page < pages; page++) {
      WindowedTable table = new WindowedTable(positions, window);
      SplittableRandom random = new SplittableRandom(seed + page);
      while (table.insert(random.nextInt(positions), 1 + random.nextInt(CORES - 1))) {}
      double load = (double) table.used / table.slots.length;
      sum += load;
      least = Math.min(least, load);
      visits += (double) table.visited / table.used;
    }
    return new double[] {sum / pages, least, visits / pages};
  }
}
