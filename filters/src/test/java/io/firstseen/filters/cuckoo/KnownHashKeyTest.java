package io.firstseen.filters.cuckoo;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.Test;

/**
 * Shows what an attacker who knows the hash key can do by choosing keys, and that the same keys
 * behave like any other keys under a secret hash key. {@code docs/operations/security.md} has the
 * figures.
 */
class KnownHashKeyTest {
  private static final KeyHash KNOWN = KeyHash.fixed();
  private static final KeyHash SECRET = KeyHash.parse("8b1f0c6d5e2a49337766aa10c4d2e9f1");
  private static final Shards SHARDS = new Shards(128);

  /** 63 degrees of freedom are above this once in a million times. */
  private static final double CHI_SQUARE_63 = 129.0;

  private static byte[] key(long number) {
    return ("https://a.example/?n=" + number).getBytes(US_ASCII);
  }

  /** The numbers of the first keys whose hash under the known key has a property. */
  private static List<Long> chosen(int count, LongPredicate property) {
    List<Long> numbers = new ArrayList<>();
    for (long number = 0; numbers.size() < count; number++) {
      if (property.test(KNOWN.hash(key(number)))) {
        numbers.add(number);
      }
    }
    return numbers;
  }

  private static CuckooFilter filter(KeyHash hash, CuckooShape shape, List<Long> numbers) {
    CuckooFilter filter = new CuckooFilter(shape);
    for (long number : numbers) {
      filter.insertIfAbsent(hash.hash(key(number)));
    }
    return filter;
  }

  /** One of 2^P / 2 keys; here P is 20, the least. */
  @Test
  void aChosenKeyStandsForAnotherOne() {
    CuckooShape shape = new CuckooShape(20);
    byte[] victim = "https://victim.example/".getBytes(US_ASCII);
    CuckooFilter filter = new CuckooFilter(shape);
    filter.insert(KNOWN.hash(victim));
    long twin = chosen(1, filter::mightContain).get(0);
    assertThat(twin).isBetween(1L << 14, 1L << 22);
    // It is reported as a duplicate. If it came first, the other key would be.
    assertThat(filter.insertIfAbsent(KNOWN.hash(key(twin)))).isEqualTo(InsertionResult.PRESENT);
    // Its delete removes the other one.
    assertThat(filter.delete(KNOWN.hash(key(twin)))).isTrue();
    assertThat(filter.mightContain(KNOWN.hash(victim))).isFalse();

    CuckooFilter secret = new CuckooFilter(shape);
    secret.insert(SECRET.hash(victim));
    assertThat(secret.mightContain(SECRET.hash(key(twin)))).isFalse();
  }

  /** Pages split until the keys part, and the directory doubles with each step. */
  @Test
  void chosenKeysDeepenTheDirectory() {
    CuckooShape shape = new CuckooShape(31);
    int depth = 6;
    List<Long> numbers = chosen(20_000, hash -> hash >>> (Long.SIZE - depth) == 5);
    CuckooFilter attacked = filter(KNOWN, shape, numbers);
    CuckooFilter ordinary = filter(SECRET, shape, numbers);
    // Each key still takes few bytes; only the directory is longer.
    assertThat(bytesOfPages(attacked)).isLessThan(2 * bytesOfPages(ordinary));
    assertThat(deepest(ordinary)).isBetween(2, 5);
    assertThat(deepest(attacked)).isBetween(depth + 2, depth + 5);
    // A directory has no more than 2^tagBits entries, so the least capacity bounds it.
    assertThat(shape.tagBits()).isEqualTo(14);
    CuckooFilter extreme = new CuckooFilter(shape);
    for (long low = 0; low < 20_000; low++) {
      extreme.insert((low * 6) << 33);
    }
    assertThat(deepest(extreme)).isEqualTo(shape.tagBits());
    assertThat(extreme.count()).isGreaterThan(10_000);
  }

  /** One key of 128 falls into a shard, and the rate of a shard grows with its keys. */
  @Test
  void chosenKeysFillOneShard() {
    CuckooShape shape = CuckooShape.forCapacity(20_000, 0.01);
    List<Long> numbers = chosen(20_000, hash -> SHARDS.shardOf(hash) == 77);
    CuckooFilter attacked = new CuckooFilter(shape);
    for (long number : numbers) {
      attacked.insertIfAbsent(SHARDS.suffix(KNOWN.hash(key(number))));
    }
    assertThat(attacked.predictedFalsePositiveRate()).isBetween(0.005, 0.0101);
    long[] loads = new long[SHARDS.count()];
    for (long number : numbers) {
      loads[SHARDS.shardOf(SECRET.hash(key(number)))]++;
    }
    assertThat(loads[77]).isBetween(100L, 220L);
  }

  /** The same keys, under both hash keys, over the 64 pages of depth 6. */
  @Test
  void underASecretKeyChosenKeysSpreadOverThePages() {
    List<Long> numbers = new ArrayList<>(chosen(10_000, hash -> hash >>> 58 == 5));
    for (long number = 1 << 24; numbers.size() < 20_000; number++) {
      numbers.add(number);
    }
    assertThat(chiSquare(SECRET, numbers)).isLessThan(CHI_SQUARE_63);
    assertThat(chiSquare(KNOWN, numbers)).isGreaterThan(100 * CHI_SQUARE_63);
  }

  private static double chiSquare(KeyHash hash, List<Long> numbers) {
    CuckooShape shape = new CuckooShape(31);
    long[] loads = new long[64];
    for (long number : numbers) {
      loads[shape.prefix(shape.identity(hash.hash(key(number))), 6)]++;
    }
    double expected = numbers.size() / (double) loads.length;
    double sum = 0;
    for (long load : loads) {
      sum += (load - expected) * (load - expected) / expected;
    }
    return sum;
  }

  private static int deepest(CuckooFilter filter) {
    int[] deepest = new int[1];
    filter.forEachPage(page -> deepest[0] = Math.max(deepest[0], page.depth()));
    return deepest[0];
  }

  private static long bytesOfPages(CuckooFilter filter) {
    long[] bytes = new long[1];
    filter.forEachPage(page -> bytes[0] += page.bodyBytes());
    return bytes[0];
  }
}
