package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.SplittableRandom;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FieldReaderTest {
  private static final String DIGEST = "0123456789abcdef".repeat(4);

  @ParameterizedTest
  @CsvSource({
    "0, 00",
    "1, 01",
    "127, 7f",
    "128, 8001",
    "300, ac02",
    "16383, ff7f",
    "16384, 808001",
    "2147483647, ffffffff07",
    "4611686018427387904, 808080808080808040",
    "9223372036854775807, ffffffffffffffff7f",
  })
  void numbersHaveTheirShortestForm(long number, String hex) throws Exception {
    assertThat(HexFormat.of().formatHex(new FieldWriter().leb(number).toBytes())).isEqualTo(hex);
    FieldReader in = reader(hex);
    assertThat(in.leb("x")).isEqualTo(number);
    in.requireEnd();
  }

  @Test
  void numbersAreReadBack() throws Exception {
    SplittableRandom random = new SplittableRandom(301);
    for (int i = 0; i < 10_000; i++) {
      long number = random.nextLong() >>> (1 + random.nextInt(63));
      byte[] bytes = new FieldWriter().leb(number).u8(0xAA).toBytes();
      FieldReader in = new FieldReader(ByteBuffer.wrap(bytes));
      assertThat(in.leb("x")).isEqualTo(number);
      assertThat(in.remaining()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // Longer than needed.
        "8000 | x; leading zeros",
        "ff00 | x; leading zeros",
        "80808000 | x; leading zeros",
        "808080808080808000 | x; leading zeros",
        // 2^63 and more.
        "80808080808080808001 | x; below 2^63",
        "80808080808080808000 | x; below 2^63",
        "ffffffffffffffffff01 | x; below 2^63",
        "ffffffffffffffffffffffff | x; below 2^63",
        // Without an end.
        "- | x; 1 bytes; only 0",
        "80 | x; 1 bytes; only 0",
        "ffffffffffffffffff | x; 1 bytes; only 0",
      })
  void refusesOtherFormsOfNumbers(String hex, String facts) {
    assertRefused(facts, () -> reader(hex.replace("-", "")).leb("x"));
  }

  @Test
  void refusesNumbersOutOfRange() throws Exception {
    for (long number : new long[] {5, 6, 7}) {
      byte[] bytes = new FieldWriter().leb(number).toBytes();
      assertThat(new FieldReader(ByteBuffer.wrap(bytes)).leb("x", 5, 7)).isEqualTo(number);
    }
    assertRefused("x; [5, 7]; got 4", () -> reader("04").leb("x", 5, 7));
    assertRefused("x; [5, 7]; got 8", () -> reader("08").leb("x", 5, 7));
  }

  /** A number of items that is too large is rejected before memory is allocated for them. */
  @Test
  void refusesMoreItemsThanBytesAreLeft() throws Exception {
    assertThat(reader("02aabbccdd").count("x", 1, 9, 2)).isEqualTo(2);
    assertRefused("x; at most 2; got 3", () -> reader("03aabbccddee").count("x", 1, 9, 2));
    assertRefused(
        "x; at most 0; got 2147483647",
        () -> reader("ffffffff07").count("x", 0, Integer.MAX_VALUE, 1));
  }

  @Test
  void fixedNumbersAreLittleEndian() throws Exception {
    byte[] bytes = new FieldWriter().u8(0x1FE).i32(0x81020304).i64(0x8102030405060708L).toBytes();
    assertThat(HexFormat.of().formatHex(bytes)).isEqualTo("fe040302810807060504030281");
    FieldReader in = new FieldReader(ByteBuffer.wrap(bytes));
    assertThat(in.u8("x")).isEqualTo(0xFE);
    assertThat(in.i32("x")).isEqualTo(0x81020304);
    assertThat(in.i64("x")).isEqualTo(0x8102030405060708L);
    in.requireEnd();
  }

  @Test
  void refusesWhatIsCutOffOrTooLong() {
    assertRefused("x; 4 bytes; only 3", () -> reader("010203").i32("x"));
    assertRefused("x; 8 bytes; only 7", () -> reader("01020304050607").i64("x"));
    assertRefused("x; 3 bytes; only 2", () -> reader("0102").bytes(3, "x"));
    assertRefused("x; 3 bytes; only 2", () -> reader("0102").slice(3, "x"));
    assertRefused("x; 32 bytes; only 31", () -> reader(DIGEST.substring(2)).digest("x"));
    assertRefused("2 bytes; last field", () -> reader("0102").requireEnd());
  }

  @Test
  void referencesAreReadBack() throws Exception {
    for (long bytes : new long[] {1, 128, Integer.MAX_VALUE}) {
      BlobReference reference = new BlobReference(DIGEST, bytes);
      byte[] written = new FieldWriter().reference(reference).toBytes();
      FieldReader in = new FieldReader(ByteBuffer.wrap(written));
      assertThat(in.reference("x")).isEqualTo(reference);
      in.requireEnd();
    }
    assertRefused(
        "length of x; [1, 2147483647]; got 0", () -> reader(DIGEST + "00").reference("x"));
    assertRefused(
        "length of x; [1, 2147483647]; got 2147483648",
        () -> reader(DIGEST + "8080808008").reference("x"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"00", "01" + "2f", "01" + "e4", "02" + "c3a4", "65" /* 101 letters */})
  void refusesOtherNames(String hex) {
    byte[] letters = new byte[101];
    Arrays.fill(letters, (byte) 'a');
    String whole = hex.equals("65") ? hex + HexFormat.of().formatHex(letters) : hex;
    assertThatThrownBy(() -> reader(whole).name())
        .isExactlyInstanceOf(MalformedSnapshotException.class)
        .hasMessageStartingWith("a set name must be 1 to 100 of the characters");
  }

  @Test
  void leavesTheBufferWhereItIs() throws Exception {
    ByteBuffer buffer = ByteBuffer.wrap(new byte[] {9, 1, 2, 9}).position(1).limit(3);
    FieldReader in = new FieldReader(buffer);
    assertThat(in.u8("x")).isEqualTo(1);
    assertThat(in.position()).isEqualTo(1);
    assertThat(in.u8("x")).isEqualTo(2);
    in.requireEnd();
    assertThat(buffer.position()).isEqualTo(1);
    assertThat(new FieldWriter().bytes(buffer).toBytes()).containsExactly(1, 2);
    assertThat(buffer.position()).isEqualTo(1);
  }

  private static FieldReader reader(String hex) {
    return new FieldReader(ByteBuffer.wrap(HexFormat.of().parseHex(hex)));
  }

  private static void assertRefused(String facts, ThrowingCallable reading) {
    assertThatThrownBy(reading)
        .isExactlyInstanceOf(MalformedSnapshotException.class)
        .hasMessageContainingAll(facts.split("; "));
  }
}
