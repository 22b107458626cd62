package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchIllegalArgumentException;

import io.firstseen.filters.gcs.Universe;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PackTest {
  private static final String DIGEST = "cd".repeat(32);
  private static final String OTHER = "ef".repeat(32);
  private static final BlobReference BEFORE = new BlobReference(DIGEST, 300);
  private static final BlobReference LIST = new BlobReference(OTHER, 100);
  private static final int SHARDS = 16;
  // A change without any values, in 5 bytes.
  private static final Section CHANGE = new SectionWriter(new Universe(1, 1000), 7).finish(9);
  private static final Section WHOLE =
      Section.whole(Snapshot.build(new long[] {1, 2, 3}, SnapshotTest.parameters(16, 0, 0.1)));

  private final Pack pack =
      new Pack(
          "phishing",
          7,
          BEFORE,
          1000,
          LIST,
          5000,
          600,
          new TreeMap<>(Map.of(0, CHANGE, 3, WHOLE, 15, CHANGE)));
  private final byte[] good = pack.toBytes();

  /** The fields of {@link #pack} up to the checksum, as the specification says. */
  private static Map<String, String> fields() {
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("magic", "89465342");
    fields.put("version", "01");
    fields.put("flags", "00");
    fields.put("kind", "01");
    fields.put("name", "08" + "7068697368696e67");
    fields.put("sequence", "07");
    fields.put("mark", "01");
    fields.put("before", DIGEST + "ac02");
    fields.put("keptFrom", "e807");
    fields.put("list", OTHER + "64");
    fields.put("basesBytes", "8827");
    fields.put("packsSince", "d804");
    fields.put("sections", "03");
    fields.put("index", "0005" + "02" + "%02x".formatted(WHOLE.length()) + "0b05");
    String change = "0102000000";
    fields.put("first", change);
    fields.put("second", HexFormat.of().formatHex(bytesOf(WHOLE)));
    fields.put("third", change);
    return fields;
  }

  @Test
  void hasTheDocumentedBytes() {
    assertThat(HexFormat.of().formatHex(good, 0, good.length - 4))
        .isEqualTo(String.join("", fields().values()));
    assertThat(good).isEqualTo(ForgedFile.mendEnd(good.clone()));
  }

  @Test
  void isReadBack() throws Exception {
    assertReadBack(pack);
    assertReadBack(
        new Pack(
            "s".repeat(100),
            Long.MAX_VALUE,
            null,
            1L << 53,
            new BlobReference(OTHER, Integer.MAX_VALUE),
            1L << 53,
            1L << 53,
            new TreeMap<>(Map.of(7, WHOLE))));
    TreeMap<Integer, Section> all = new TreeMap<>();
    for (int shard = 0; shard < SHARDS; shard++) {
      all.put(shard, shard % 2 == 0 ? CHANGE : WHOLE);
    }
    assertReadBack(new Pack("a", 0, null, 0, LIST, 100, 0, all));
  }

  private static void assertReadBack(Pack pack) throws Exception {
    byte[] bytes = pack.toBytes();
    Pack read = Pack.read(ByteBuffer.wrap(bytes), pack.setName(), SHARDS);
    assertThat(read).usingRecursiveComparison().ignoringFields("sections").isEqualTo(pack);
    assertThat(read.sections().keySet()).isEqualTo(pack.sections().keySet());
    read.sections()
        .forEach(
            (shard, section) ->
                assertThat(section.toByteBuffer())
                    .isEqualTo(pack.sections().get(shard).toByteBuffer()));
    assertThat(read.toBytes()).isEqualTo(bytes);
    assertThat(BlobFrame.peek(ByteBuffer.wrap(bytes)))
        .contains(new BlobFrame(BlobFrame.Kind.PACK, pack.setName()));
  }

  @Test
  void refusesContradictions() {
    assertThatThrownBy(() -> new Pack("a", 0, null, 0, LIST, 100, 0, new TreeMap<>()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("pack", "section");
    TreeMap<Integer, Section> one = new TreeMap<>(Map.of(0, CHANGE));
    assertThat(catchIllegalArgumentException(() -> new Pack("a", 0, null, -1, LIST, 100, 0, one)))
        .hasMessageContainingAll("keptFrom", "[0, 2^53]", "-1");
    assertThat(catchIllegalArgumentException(() -> new Pack("a", 0, null, 0, LIST, 99, 0, one)))
        .hasMessageContainingAll("basesBytes", "[100, 2^53]", "99");
    assertThat(catchIllegalArgumentException(() -> new Pack("a", 0, null, 0, LIST, 100, -1, one)))
        .hasMessageContainingAll("packsSince", "[0, 2^53]", "-1");
    assertThat(catchIllegalArgumentException(() -> new Pack("a", -1, null, 0, LIST, 100, 0, one)))
        .hasMessageContainingAll("sequence", "at least 0", "-1");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "version | 02 | format version 2; up to 1",
        "flags | 04 | features 0x04; none",
        "kind | 00 | kind of a blob; 1 to 3; got 0",
        "kind | 04 | kind of a blob; 1 to 3; got 4",
        "first | 0302000000 | kind of a section; 1 or 2; got 3",
      })
  void leavesNewerOnesToNewerReaders(String field, String hex, String facts) {
    assertThatThrownBy(() -> read(with(field, hex)))
        .isExactlyInstanceOf(UnsupportedSnapshotException.class)
        .hasMessageContainingAll(facts.split("; "));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "magic | 8946534d | this is not a blob: the magic number is missing",
        "version | 00 | the format version must be 1, got 0",
        "kind | 02 | this is a base; a pack is needed",
        "kind | 03 | this is a list of bases; a pack is needed",
        "name | 0168 | it must be of set 'phishing', got 'h'",
        "name | 00 | a set name must be 1 to 100 of the characters",
        "sequence | 8700 | the sequence must have no leading zeros",
        "mark | 02 | the mark of the previous pack must be 0 or 1, got 2",
        "before | DIGEST00 | the length of the previous pack must be in [1, 2147483647], got 0",
        "list | DIGEST00 | the length of the list of bases must be in [1, 2147483647], got 0",
        "basesBytes | 63 | basesBytes must be in [100, 9007199254740992], got 99",
        "packsSince | 80808080808080808001 | packsSince must be below 2^63",
        "keptFrom | 80808080808080808001 | keptFrom must be below 2^63",
        "sections | 00 | the number of sections must be in [1, 16], got 0",
        "sections | 11 | the number of sections must be in [1, 16], got 17",
        "sections | 02 | the kind of a section must",
        "index | 0005020a0c05 | the gap to the next shard must be in [0, 11], got 12",
        "index | 0f0500050005 | the gap to the next shard must be in [0, -1], got 0",
        "index | 100500050005 | the gap to the next shard must be in [0, 15], got 16",
        "index | 000002050b05 | the length of a section must be in [1, 2147483647], got 0",
        "index | 00ffffffff0702050b05 | a section needs 2147483647 bytes, only",
        "third | 01020000 | a section needs 5 bytes, only 4 are left",
        "third | 010200000000 | 1 bytes follow the last field",
      })
  void refusesForgedFields(String field, String hex, String sentence) {
    assertThatThrownBy(() -> read(with(field, hex.replace("DIGEST", DIGEST))))
        .isInstanceOfAny(MalformedSnapshotException.class, UnsupportedSnapshotException.class)
        .hasMessageContaining(sentence);
  }

  @Test
  void refusesEveryTruncationAndWhatFollows() {
    for (int length = 0; length <= good.length + 1; length++) {
      if (length != good.length) {
        byte[] cut = Arrays.copyOf(good, length);
        assertThatThrownBy(() -> read(cut))
            .as("%d bytes", length)
            .isExactlyInstanceOf(MalformedSnapshotException.class);
      }
    }
    byte[] longer = ForgedFile.mendEnd(Arrays.copyOf(good, good.length + 1));
    assertThatThrownBy(() -> read(longer)).isInstanceOf(MalformedSnapshotException.class);
  }

  @Test
  void refusesEveryFlippedBit() {
    ForgedFile.assertEveryFlippedBitIsRefused(good, this::read);
  }

  /** Even with a corrected checksum, no pack with a second encoding is accepted. */
  @Test
  void forgedBytesAreRefusedOrTheOneFormOfAPack() throws Exception {
    SplittableRandom random = new SplittableRandom(306);
    int refused = 0;
    int forgeries = 10_000;
    for (int i = 0; i < forgeries; i++) {
      byte[] forged = Arrays.copyOf(good, good.length + random.nextInt(5) - 2);
      for (int change = random.nextInt(3); change >= 0; change--) {
        forged[random.nextInt(forged.length)] = (byte) random.nextInt();
      }
      ForgedFile.mendEnd(forged);
      try {
        assertThat(read(forged).toBytes()).isEqualTo(forged);
      } catch (MalformedSnapshotException | UnsupportedSnapshotException e) {
        refused++;
      }
    }
    assertThat(refused).isBetween(forgeries / 2, forgeries - forgeries / 20);
  }

  private Pack read(byte[] bytes) throws SnapshotException {
    return Pack.read(ByteBuffer.wrap(bytes), "phishing", SHARDS);
  }

  /** The bytes of {@link #pack} with another field, and a checksum that fits. */
  private static byte[] with(String field, String hex) {
    Map<String, String> fields = fields();
    fields.put(field, hex);
    byte[] bytes = HexFormat.of().parseHex(String.join("", fields.values()));
    return ForgedFile.mendEnd(Arrays.copyOf(bytes, bytes.length + 4));
  }

  private static byte[] bytesOf(Section section) {
    byte[] bytes = new byte[section.length()];
    section.toByteBuffer().get(bytes);
    return bytes;
  }
}
