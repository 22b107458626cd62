package io.firstseen.benchmarks.snapshot;

import io.firstseen.benchmarks.StreamFile;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.serializers.HashedOperation;
import io.firstseen.types.Operation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/** The operations that change a set, window by window. Each of them has an effect. */
final class KeyChanges {
  private KeyChanges() {}

  /** Begins with this many random keys; then replaces some by as many new ones in each window. */
  static Supplier<Iterable<HashedOperation>> random(int keys, int replaced, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    long[] live = random.longs(keys).toArray();
    boolean[] begun = {false};
    return () -> {
      if (!begun[0]) {
        begun[0] = true;
        return () ->
            Arrays.stream(live).mapToObj(key -> new HashedOperation(key, Operation.ADD)).iterator();
      }
      List<HashedOperation> operations = new ArrayList<>(2 * replaced);
      for (int i = 0; i < replaced; i++) {
        int place = random.nextInt(keys);
        operations.add(new HashedOperation(live[place], Operation.DELETE));
        live[place] = random.nextLong();
        operations.add(new HashedOperation(live[place], Operation.ADD));
      }
      return operations;
    };
  }

  /** The days of the stream that the demo sends, from its first day to its last. */
  static List<List<HashedOperation>> shippedDays(KeyHash hash, Canonicaliser canonicaliser)
      throws IOException {
    Set<Long> live = new HashSet<>();
    List<List<HashedOperation>> days = new ArrayList<>();
    long[] firstDay = {-1};
    StreamFile.read(
        StreamFile.openShipped(),
        event -> {
          long day = event.epochSeconds() / 86_400;
          firstDay[0] = firstDay[0] < 0 ? day : firstDay[0];
          while (days.size() <= day - firstDay[0]) {
            days.add(new ArrayList<>());
          }
          long key;
          try {
            byte[] bytes = event.key().getBytes(StandardCharsets.UTF_8);
            key = hash.hash(canonicaliser.canonicalise(bytes));
          } catch (InvalidKeyException e) {
            return;
          }
          if (event.adds() ? live.add(key) : live.remove(key)) {
            Operation operation = event.adds() ? Operation.ADD : Operation.DELETE;
            days.get((int) (day - firstDay[0])).add(new HashedOperation(key, operation));
          }
        });
    return days;
  }
}
