package io.firstseen.filters.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.KeyHash.Algorithm;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The published vectors of both functions are in {@code conformance/cases/hash.json}. */
class KeyHashTest {
  private static final String HEX_KEY = "000102030405060708090a0b0c0d0e0f";

  static Stream<KeyHash> hashes() {
    return Stream.of(KeyHash.parse(HEX_KEY), KeyHash.fixed(), KeyHash.xxh3(0), KeyHash.xxh3(-7));
  }

  /** State and snapshots carry these; they must never change. */
  @Test
  void keyChecksArePinned() {
    assertThat(KeyHash.fixed().keyCheck()).isEqualTo(0xaf95951d42abdfd0L);
    assertThat(KeyHash.parse(HEX_KEY).keyCheck()).isEqualTo(0x445ce7001fe18326L);
    assertThat(KeyHash.xxh3(0).keyCheck()).isEqualTo(0xa8e9a36321086a13L);
  }

  @Test
  void theKeyCheckIsTheHashOfTheDocumentedMessage() {
    byte[] message = "firstseen key check".getBytes(StandardCharsets.US_ASCII);
    assertThat(hashes()).allSatisfy(h -> assertThat(h.keyCheck()).isEqualTo(h.hash(message)));
  }

  @ParameterizedTest
  @MethodSource("hashes")
  void aPartOfAnArrayHasTheHashOfItsCopy(KeyHash hash) {
    byte[] bytes = new byte[40];
    new SplittableRandom(1).nextBytes(bytes);
    for (int from = 0; from <= bytes.length; from++) {
      for (int to = from; to <= bytes.length; to++) {
        assertThat(hash.hash(bytes, from, to))
            .isEqualTo(hash.hash(Arrays.copyOfRange(bytes, from, to)));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("hashes")
  void partsHaveTheHashesThatTheyHaveOneByOne(KeyHash hash) {
    byte[] bytes = new byte[200];
    new SplittableRandom(2).nextBytes(bytes);
    PartHashes parts = hash.parts();
    for (int length = 0; length <= 40; length++) {
      for (int growth = 0; growth <= 1; growth++) {
        int[] from = new int[150];
        int[] to = new int[150];
        for (int i = 0; i < 150; i++) {
          from[i] = i;
          to[i] = i + length + growth * (i % 10);
        }
        long[] found = parts.hash(bytes, from, to, 150);
        for (int i = 0; i < 150; i++) {
          assertThat(found[i]).isEqualTo(hash.hash(bytes, from[i], to[i]));
        }
      }
    }
  }

  @Test
  void theFixedKeyIsTheDocumentedOne() {
    KeyHash spelled = KeyHash.sipHash24("firstseen-public".getBytes(StandardCharsets.US_ASCII));
    assertThat(spelled.keyCheck()).isEqualTo(KeyHash.fixed().keyCheck());
    assertThat(spelled.isFixedKey()).isTrue();
    assertThat(KeyHash.fixed().isFixedKey()).isTrue();
    assertThat(KeyHash.parse(HEX_KEY).isFixedKey()).isFalse();
    assertThat(KeyHash.xxh3(0).isFixedKey()).isFalse();
  }

  @Test
  void algorithmsAreFoundByIdAndByCode() {
    assertThat(Algorithm.of("siphash-2-4")).isSameAs(Algorithm.SIPHASH_2_4);
    assertThat(Algorithm.of("xxh3-64")).isSameAs(Algorithm.XXH3_64);
    assertThat(Algorithm.of(1)).isSameAs(Algorithm.SIPHASH_2_4);
    assertThat(Algorithm.of(2)).isSameAs(Algorithm.XXH3_64);
    assertThatThrownBy(() -> Algorithm.of("md5"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("hash", "siphash-2-4, xxh3-64", "'md5'");
    assertThatThrownBy(() -> Algorithm.of(3))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("hash code", "[1, 2]", "got 3");
  }

  @ParameterizedTest
  @MethodSource("hashes")
  void travelsInAClosureAndHashesAlike(KeyHash hash) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(hash);
    }
    KeyHash copy;
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      copy = (KeyHash) in.readObject();
    }
    assertThat(copy.algorithm()).isSameAs(hash.algorithm());
    assertThat(copy.isFixedKey()).isEqualTo(hash.isFixedKey());
    for (byte[] key : keys(50)) {
      assertThat(copy.hash(key)).isEqualTo(hash.hash(key));
    }
  }

  @ParameterizedTest
  @MethodSource("hashes")
  void manyThreadsShareOneHash(KeyHash hash) throws Exception {
    List<byte[]> keys = keys(5_000);
    long[] alone = keys.stream().mapToLong(hash::hash).toArray();
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Future<long[]>> together = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        together.add(threads.submit(() -> keys.stream().mapToLong(hash::hash).toArray()));
      }
      for (Future<long[]> one : together) {
        assertThat(one.get()).isEqualTo(alone);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @ParameterizedTest
  @MethodSource("hashes")
  void hashingAllocatesNothing(KeyHash hash) {
    byte[][] keys = keys(64).toArray(byte[][]::new);
    // Once before, so that classes are loaded; then a byte a call would show as 64,000.
    long unused = sum(hash, keys, 10);
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    unused += sum(hash, keys, 1_000);
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat(allocated).as("bytes for 64,000 hashes (sum %d)", unused).isLessThan(16_000);
  }

  private static long sum(KeyHash hash, byte[][] keys, int rounds) {
    long sum = 0;
    for (int round = 0; round < rounds; round++) {
      for (byte[] key : keys) {
        sum += hash.hash(key);
      }
    }
    return sum;
  }

  /** Keys of 0 to 399 bytes: every branch of both functions. */
  private static List<byte[]> keys(int count) {
    SplittableRandom random = new SplittableRandom(1);
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] key = new byte[random.nextInt(400)];
      random.nextBytes(key);
      keys.add(key);
    }
    return keys;
  }

  @Test
  void theKeyIsCopiedIn() {
    byte[] key = new byte[16];
    KeyHash hash = KeyHash.sipHash24(key);
    Arrays.fill(key, (byte) 1);
    assertThat(hash.keyCheck()).isEqualTo(KeyHash.sipHash24(new byte[16]).keyCheck());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 8, 15, 17, 32})
  void aSipHashKeyOfAnotherLengthIsRefused(int length) {
    assertThatThrownBy(() -> KeyHash.sipHash24(new byte[length]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("SipHash key", "16 bytes", "got " + length);
  }

  @Test
  void bothCasesOfHexadecimalDigitsAreRead() {
    assertThat(KeyHash.parse(HEX_KEY.toUpperCase(Locale.ROOT)).keyCheck())
        .isEqualTo(KeyHash.parse(HEX_KEY).keyCheck());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "0001",
        "000102030405060708090a0b0c0d0e0g",
        "000102030405060708090a0b0c0d0e0f00",
        "٠٠٠١٠٢٠٣٠٤٠٥٠٦٠٧٠٨٠٩0a0b0c0d0e0f"
      })
  void aWrongHexKeyIsRefusedWithoutRepeatingIt(String wrong) {
    String got =
        wrong.length() == 32
            ? "character " + (wrong.startsWith("0") ? 32 : 1)
            : wrong.length() + " characters";
    assertThatThrownBy(() -> KeyHash.parse(wrong))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("hash key", "32 hexadecimal digits", got);
  }

  @Test
  void readsTheKeyFromAFile(@TempDir Path dir) throws IOException {
    Path file = dir.resolve("hash.key");
    Files.writeString(file, HEX_KEY + "\n");
    assertThat(KeyHash.fromFile(file).keyCheck()).isEqualTo(KeyHash.parse(HEX_KEY).keyCheck());

    Files.write(file, new byte[] {(byte) 0xFF, (byte) 0xFE, 0});
    assertThatThrownBy(() -> KeyHash.fromFile(file))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("hash key", "32 hexadecimal digits");
    assertThatThrownBy(() -> KeyHash.fromFile(dir.resolve("missing")))
        .isInstanceOf(NoSuchFileException.class);
  }

  @ParameterizedTest
  @MethodSource("hashes")
  void printsTheCheckButNotTheKey(KeyHash hash) {
    assertThat(hash.toString())
        .startsWith(hash.algorithm().id())
        .contains(HexFormat.of().toHexDigits(hash.keyCheck()))
        .doesNotContain(HEX_KEY)
        .doesNotContain("firstseen-public");
  }
}
