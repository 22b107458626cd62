package io.firstseen.benchmarks.dedup;

import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.Url;
import io.firstseen.filters.cuckoo.CuckooFilter;
import io.firstseen.filters.key.Shards;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.stream.LongStream;

/** The process that makes a savepoint with filters of a given size. */
final class PrefillRun {
  private static final Shards SHARDS = new Shards(Pipelines.SHARDS);

  private PrefillRun() {}

  /**
   * @param filterBytes total size of all filters' pages
   */
  record Spec(long filterBytes, String directory) {}

  /**
   * @param savepoint its URI
   * @param filterBytes total size of all filters' pages
   * @param keys that are in the filters
   * @param capacity that Firstseen was told of, not below the keys
   */
  record Result(String savepoint, long filterBytes, long keys, long capacity) {}

  public static void main(String[] arguments) throws Exception {
    ChildJvm.answer(run(ChildJvm.specification(arguments, Spec.class)));
  }

  static Result run(Spec spec) throws Exception {
    long bytesOfShard = spec.filterBytes() / SHARDS.count();
    long capacityOfShard = bytesOfShard / 2;
    CuckooFilter filter = filled(bytesOfShard, capacityOfShard);
    while (filter.count() > capacityOfShard) {
      capacityOfShard = filter.count();
      filter = filled(bytesOfShard, capacityOfShard);
    }
    long keysOfShard = filter.count();
    long keys = keysOfShard * SHARDS.count();
    long capacity = capacityOfShard * SHARDS.count();
    LongStream hashes =
        LongStream.range(0, keys)
            .map(
                i ->
                    (i / keysOfShard) << (Long.SIZE - SHARDS.bits())
                        | Url.scramble(i) >>> SHARDS.bits());
    String savepoint = KnownKeysRun.write(hashes, capacity, Path.of(spec.directory()));
    return new Result(savepoint, filter.sizeBytes() * SHARDS.count(), keys, capacity);
  }

  private static CuckooFilter filled(long bytes, long capacity) {
    CuckooFilter filter = CuckooFilter.forCapacity(capacity, Pipelines.FALSE_POSITIVE_RATE);
    SplittableRandom hashes = new SplittableRandom(bytes);
    while (filter.sizeBytes() < bytes) {
      for (long i = 0; i <= capacity / 1000; i++) {
        filter.insertIfAbsent(hashes.nextLong());
      }
    }
    return filter;
  }
}
