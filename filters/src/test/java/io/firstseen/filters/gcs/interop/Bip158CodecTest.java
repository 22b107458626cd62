package io.firstseen.filters.gcs.interop;

import static io.firstseen.filters.gcs.interop.Vectors.hex;
import static io.firstseen.filters.gcs.interop.Vectors.values;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import io.firstseen.filters.key.KeyHash;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class Bip158CodecTest {
  private static final byte[] KEY = hex("000102030405060708090a0b0c0d0e0f");

  private final Bip158Codec codec = new Bip158Codec(KEY);

  static Stream<JsonNode> blocks() {
    return Vectors.elements(Vectors.read("bip158").get("vectors"));
  }

  private static List<byte[]> scripts(JsonNode block) {
    return Vectors.elements(block.get("elements")).map(node -> hex(node.textValue())).toList();
  }

  @ParameterizedTest
  @MethodSource("blocks")
  void writesTheFilterOfTheBlock(JsonNode block) {
    Bip158Codec ofBlock = new Bip158Codec(hex(block.get("sipHashKey").textValue()));
    List<byte[]> scripts = scripts(block);
    String filter = block.get("filter").textValue();
    assertThat(hex(ofBlock.encode(scripts))).isEqualTo(filter);
    List<byte[]> again = new ArrayList<>(scripts);
    again.addAll(scripts);
    again.add(new byte[0]);
    Collections.reverse(again);
    assertThat(hex(ofBlock.encode(again))).as("repeated, and the empty one").isEqualTo(filter);
  }

  @ParameterizedTest
  @MethodSource("blocks")
  void findsTheScriptsOfTheBlock(JsonNode block) throws Exception {
    CodedSet set =
        new Bip158Codec(hex(block.get("sipHashKey").textValue()))
            .decode(hex(block.get("filter").textValue()));
    List<byte[]> scripts = scripts(block);
    assertThat(set.header()).isEqualTo(Map.of("n", (long) scripts.size()));
    assertThat(set.count()).isEqualTo(scripts.size());
    assertThat(scripts).allMatch(set::mightContain);
    assertThat(blocks().filter(other -> !other.equals(block)).flatMap(b -> scripts(b).stream()))
        .filteredOn(script -> scripts.stream().noneMatch(own -> Arrays.equals(own, script)))
        .noneMatch(set::mightContain);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943",
    "926485, 000000000000015d6077a411a8f5cc95caf775ccf11c54e27df75ce58d187313"
  })
  void takesTheKeyFromTheHashOfTheBlock(int height, String hash) {
    JsonNode block =
        blocks().filter(b -> b.get("height").intValue() == height).findFirst().orElseThrow();
    assertThat(hex(Bip158Codec.ofBlock(hash).encode(scripts(block))))
        .isEqualTo(block.get("filter").textValue());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "00", "g00000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943"})
  void refusesWhatIsNoHashOfABlock(String hash) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Bip158Codec.ofBlock(hash))
        .withMessage("a block hash must be 64 hexadecimal digits, got '" + hash + "'");
  }

  @ParameterizedTest
  @CsvSource({"252, fc", "253, fdfd00", "65535, fdffff", "65536, fe00000100", "70000, fe70110100"})
  void writesNAsCompactSize(int n, String start) throws Exception {
    List<byte[]> elements = randomElements(n);
    byte[] bytes = codec.encode(elements);
    assertThat(hex(Arrays.copyOf(bytes, start.length() / 2))).isEqualTo(start);
    CodedSet set = codec.decode(bytes);
    assertThat(set.count()).isEqualTo(n);
    assertThat(elements.subList(0, 20)).allMatch(set::mightContain);
    assertThat(randomElements(n + 20).subList(n, n + 20)).noneMatch(set::mightContain);
  }

  @Test
  void reducesByTheUpperHalfOfTheProduct() throws Exception {
    int n = 1000;
    List<byte[]> elements = randomElements(n);
    KeyHash hash = KeyHash.sipHash24(KEY);
    long[] expected =
        elements.stream()
            .map(element -> new BigInteger(Long.toUnsignedString(hash.hash(element))))
            .map(hashed -> hashed.multiply(BigInteger.valueOf(784_931L * n)).shiftRight(64))
            .mapToLong(BigInteger::longValueExact)
            .sorted()
            .toArray();
    assertThat(values(codec.decode(codec.encode(elements)))).containsExactly(expected);
  }

  private static List<byte[]> randomElements(int n) {
    SplittableRandom random = new SplittableRandom(158);
    return Stream.generate(
            () -> {
              byte[] element = new byte[25];
              random.nextBytes(element);
              return element;
            })
        .limit(n)
        .toList();
  }

  /** Two elements with one value: a code of twenty zeros. */
  @Test
  void readsEqualValues() throws Exception {
    CodedSet set = codec.decode(hex("020000100000"));
    assertThat(values(set)).containsExactly(1, 1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | N; 1 bytes; got 0",
        "fd00 | N; 3 bytes; got 2",
        "fe000000 | N; 5 bytes; got 4",
        "fdfc00 | 3 bytes; 253; got 252",
        "feffff0000 | 5 bytes; 65536; got 65535",
        "ffffffffffffffffff | N; [0, 2^32 - 1]; 8 bytes",
        "feffffffff | N = 4294967295; are 0",
        "0000 | bit 8; past the end; bit 16",
        "009dfca8 | value; at most 0; bit 8",
        "029dfca8 | N = 2; are 1",
        "019dfc | bit 8; past the end; bit 24",
        "019dfca800 | bit 29; past the end; bit 40",
        "019dfca9 | bit 29; past the end; bit 32",
        "01ffffff00000000 | value; at most 784930; bit 8"
      })
  void refusesDamagedFilters(String digits, String facts) {
    assertThatThrownBy(() -> codec.decode(hex(digits)))
        .isInstanceOf(MalformedGolombCodedSetException.class)
        .hasMessageContainingAll(facts.split("; "));
  }
}
