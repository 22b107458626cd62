package io.firstseen.filters.cuckoo;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Compares a filter with the multiset of the keys that it admitted, under random operations:
 * insertions of new, repeated and hot keys, deletions, look-ups; growing to a random number of
 * keys, shrinking to another or to none; copies of the filter, one of which is changed; writing and
 * reading back.
 *
 * <p>Throws {@link AssertionError} with the operation's number and the seed as soon as the two
 * disagree.
 */
final class FilterModel {
  private static final int RARELY = 20_000;

  private final int mostKeys;
  private final long seed;
  private final SplittableRandom random;
  private final long[] hotKeys;
  private final Map<Long, Integer> copies = new HashMap<>();
  private List<Long> admitted = new ArrayList<>();
  private GrowingFilter filter;
  private int target;
  private int operation;

  FilterModel(GrowingFilter empty, int mostKeys, long seed) {
    this.filter = empty;
    this.mostKeys = mostKeys;
    this.seed = seed;
    this.random = new SplittableRandom(seed);
    this.hotKeys = random.longs(4).toArray();
    this.target = mostKeys;
  }

  /** Runs this many operations, then empties the filter; returns it. */
  GrowingFilter run(int operations) {
    while (operation < operations) {
      step();
      if (random.nextInt(RARELY) == 0) {
        writeToOneOfTwoCopies();
      }
      if (random.nextInt(RARELY) == 0) {
        writeAndRead();
      }
    }
    everyLiveKeyIsFound();
    target = 0;
    while (!admitted.isEmpty()) {
      delete();
    }
    requireCount();
    require(filter.isAllZero(), "an emptied filter is all zero");
    return filter;
  }

  private void step() {
    operation++;
    boolean growing = admitted.size() < target;
    int choice = random.nextInt(100);
    if (choice < (growing ? 75 : 15)) {
      insert();
    } else if (admitted.isEmpty() || choice < 90) {
      if (!admitted.isEmpty()) {
        delete();
      }
    } else {
      require(filter.mightContain(anyAdmitted()), "a live key is found");
    }
    requireCount();
    if (growing != admitted.size() < target) {
      arrived();
    }
  }

  private void arrived() {
    everyLiveKeyIsFound();
    if (admitted.isEmpty()) {
      require(filter.isAllZero(), "an emptied filter is all zero");
    }
    target = random.nextInt(3) == 0 ? 0 : random.nextInt(mostKeys);
  }

  private void insert() {
    int kind = random.nextInt(20);
    long hash =
        kind == 0
            ? hotKeys[random.nextInt(hotKeys.length)]
            : kind == 1 && !admitted.isEmpty() ? anyAdmitted() : random.nextLong();
    boolean onlyIfAbsent = random.nextInt(4) == 0;
    InsertionResult insertion = onlyIfAbsent ? filter.insertIfAbsent(hash) : filter.insert(hash);
    switch (insertion) {
      case STORED -> {
        require(
            !onlyIfAbsent || !copies.containsKey(hash), "a live key is not inserted as if absent");
        admitted.add(hash);
        require(
            copies.merge(hash, 1, Integer::sum) <= CuckooPage.MAX_COPIES,
            "no ninth copy of a live key is admitted");
      }
      case PRESENT -> require(onlyIfAbsent, "an insertion does not stop at a present key");
      case SATURATED -> require(!onlyIfAbsent, "an insertion of an absent key is not saturated");
    }
    require(filter.mightContain(hash), "a key just inserted is found");
  }

  private void delete() {
    int at = random.nextInt(admitted.size());
    long hash = admitted.get(at);
    admitted.set(at, admitted.get(admitted.size() - 1));
    admitted.remove(admitted.size() - 1);
    copies.computeIfPresent(hash, (key, count) -> count == 1 ? null : count - 1);
    require(filter.delete(hash), "a delete of a live key is true");
  }

  private long anyAdmitted() {
    return admitted.get(random.nextInt(admitted.size()));
  }

  /** Goes on with the copy that was left alone or with the one that was written to. */
  private void writeToOneOfTwoCopies() {
    GrowingFilter alone = filter.copy();
    if (random.nextBoolean()) {
      GrowingFilter swap = alone;
      alone = filter;
      filter = swap;
    }
    byte[] before = alone.toBytes();
    require(Arrays.equals(filter.toBytes(), before), "a copy is equal");
    List<Long> admittedBefore = new ArrayList<>(admitted);
    Map<Long, Integer> copiesBefore = new HashMap<>(copies);
    int goal = target;
    for (int i = 0; i < 500; i++) {
      step();
    }
    require(Arrays.equals(alone.toBytes(), before), "writing to a copy leaves the other alone");
    if (random.nextBoolean()) {
      filter = alone;
      admitted = admittedBefore;
      copies.clear();
      copies.putAll(copiesBefore);
      target = goal;
    }
  }

  private void writeAndRead() {
    byte[] bytes = filter.toBytes();
    filter = filter.read(bytes);
    require(Arrays.equals(filter.toBytes(), bytes), "a filter read is the filter written");
    everyLiveKeyIsFound();
  }

  private void everyLiveKeyIsFound() {
    for (long hash : copies.keySet()) {
      require(filter.mightContain(hash), "a live key is found");
    }
  }

  private void requireCount() {
    require(filter.count() == admitted.size(), "the count is exact");
  }

  private void require(boolean held, String what) {
    if (!held) {
      throw new AssertionError(
          "broken at operation %d of seed %d: %s".formatted(operation, seed, what));
    }
  }
}
