package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.gcs.Universe;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BaseListTest {
  private static final String DIGEST = "cd".repeat(32);
  private static final String OTHER = "ef".repeat(32);
  private static final Snapshot SNAPSHOT =
      Snapshot.build(new long[] {1, 2, 3}, SnapshotTest.parameters(16, 0, 0.1));
  private static final Section WHOLE = Section.whole(SNAPSHOT);
  // A change without any values, in 5 bytes.
  private static final Section CHANGE = new SectionWriter(new Universe(1, 1000), 7).finish(9);
  private static final String FRAME = "89465342" + "01" + "00" + "03" + "08" + "7068697368696e67";

  private final BaseList list =
      new BaseList(
          "phishing",
          300,
          List.of(
              new BaseList.Shard(new BlobReference(DIGEST, 200), List.of(CHANGE, CHANGE)),
              BaseList.Shard.NONE,
              new BaseList.Shard(new BlobReference(OTHER, 100), List.of()),
              new BaseList.Shard(new BlobReference(DIGEST, 1), List.of(WHOLE))));
  private final byte[] good = list.toBytes();

  @Test
  void hasTheDocumentedBytes() {
    String change = "0102000000";
    assertThat(HexFormat.of().formatHex(good, 0, good.length - 4))
        .isEqualTo(
            FRAME
                + "ac02"
                + "04"
                + ("c801" + DIGEST + "02" + "05" + "05")
                + "00"
                + ("64" + OTHER + "00")
                + ("01" + DIGEST + "01" + "%02x".formatted(WHOLE.length()))
                + (change + change + HexFormat.of().formatHex(bytesOf(WHOLE))));
    assertThat(good).isEqualTo(ForgedFile.mendEnd(good.clone()));
  }

  @Test
  void isReadBack() throws Exception {
    BaseList read = read(good);
    assertThat(read.sequence()).isEqualTo(300);
    assertThat(read.bases()).isEqualTo(list.bases()).hasSize(3);
    for (int shard = 0; shard < 4; shard++) {
      assertThat(read.shards().get(shard).base()).isEqualTo(list.shards().get(shard).base());
      assertThat(read.shards().get(shard).sections().stream().map(Section::toByteBuffer))
          .isEqualTo(
              list.shards().get(shard).sections().stream().map(Section::toByteBuffer).toList());
    }
    assertThat(read.toBytes()).isEqualTo(good);
    assertThat(BlobFrame.peek(ByteBuffer.wrap(good, 0, 20)))
        .contains(new BlobFrame(BlobFrame.Kind.BASE_LIST, "phishing"));
    List<BaseList.Shard> none = Collections.nCopies(65_536, BaseList.Shard.NONE);
    byte[] empty = new BaseList("a", Long.MAX_VALUE, none).toBytes();
    assertThat(BaseList.read(ByteBuffer.wrap(empty), "a", 65_536).shards()).isEqualTo(none);
  }

  @Test
  void refusesSectionsWithoutABase() {
    assertThatThrownBy(() -> new BaseList.Shard(null, List.of(CHANGE)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("sections", "base");
    assertThatThrownBy(() -> new BaseList("a", -1, List.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("sequence", "at least 0", "-1");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // The body behind the frame.
        "8000 04 00 00 00 00 | the sequence must have no leading zeros",
        "07 03 00 00 00 | the number of shards must be in [4, 4], got 3",
        "07 08 00 00 00 00 00 00 00 00 | the number of shards must be in [4, 4], got 8",
        "07 04 00 00 00 | the length of the base needs 1 bytes, only 0 are left",
        "07 04 00 00 00 00 00 | 1 bytes follow the last field",
        "07 04 8080808008 DIGEST 00 | the length of the base must be in [0, 2147483647]",
        "07 04 05 cdcd | the digest of the base needs 32 bytes, only 2 are left",
        "07 04 05 DIGEST 04 05 00 00 | the number of sections must be at most 3, as bytes are left",
        "07 04 05 DIGEST 8120 00 | the number of sections must be in [0, 4096], got 4097",
        "07 04 05 DIGEST 01 00 00 00 00 | the length of a section must be in [1, 2147483647], got 0",
        "07 04 05 DIGEST 01 05 00 00 00 0102 | a section needs 5 bytes, only 2 are left",
        "07 04 05 DIGEST 01 05 00 00 00 010200000000 | 1 bytes follow the last field",
        "07 04 05 DIGEST 01 04 00 00 00 01020000 | the number of bits of the added values needs 1",
        "07 04 05 DIGEST 01 01 00 00 00 09 | the kind of a section must be 1 or 2, got 9",
      })
  void refusesForgedFields(String body, String sentence) {
    byte[] bytes = HexFormat.of().parseHex(FRAME + body.replace(" ", "").replace("DIGEST", DIGEST));
    byte[] forged = ForgedFile.mendEnd(Arrays.copyOf(bytes, bytes.length + 4));
    assertThatThrownBy(() -> read(forged))
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
  }

  @Test
  void refusesEveryFlippedBit() throws Exception {
    ForgedFile.assertEveryFlippedBitIsRefused(good, BaseListTest::read);
    byte[] base = Base.write("phishing", 3, WHOLE);
    ForgedFile.assertEveryFlippedBitIsRefused(
        base, bytes -> Base.read(ByteBuffer.wrap(bytes), "phishing", 3));
  }

  /** Even with a corrected checksum, no list with a second encoding is accepted. */
  @Test
  void forgedBytesAreRefusedOrTheOneFormOfAList() throws Exception {
    SplittableRandom random = new SplittableRandom(307);
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

  @Test
  void aBaseHoldsTheWholeSetOfOneShard() throws Exception {
    byte[] base = Base.write("phishing", 300, WHOLE);
    assertThat(HexFormat.of().formatHex(base, 0, base.length - 4))
        .isEqualTo(
            FRAME.replace("0003", "0002") + "ac02" + HexFormat.of().formatHex(bytesOf(WHOLE)));
    Section read = Base.read(ByteBuffer.wrap(base), "phishing", 300);
    assertThat(read.applyTo(null, SNAPSHOT.header().parameters()).toBytes())
        .isEqualTo(SNAPSHOT.toBytes());
    assertRefused("shard 299; got 300", () -> Base.read(ByteBuffer.wrap(base), "phishing", 299));
    assertRefused("'spam'; got 'phishing'", () -> Base.read(ByteBuffer.wrap(base), "spam", 300));
    assertRefused(
        "is a base; list of bases", () -> BaseList.read(ByteBuffer.wrap(base), "phishing", 4));
    byte[] change = HexFormat.of().parseHex(FRAME.replace("0003", "0002") + "05" + "0102000000");
    byte[] forged = ForgedFile.mendEnd(Arrays.copyOf(change, change.length + 4));
    assertRefused("base; whole set", () -> Base.read(ByteBuffer.wrap(forged), "phishing", 5));
    assertThatThrownBy(() -> Base.write("phishing", 5, CHANGE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("base", "whole set");
  }

  @Test
  void theFrameAloneIsSeenInTheFirstBytes() {
    for (int length = 0; length < 16; length++) {
      assertThat(BlobFrame.peek(ByteBuffer.wrap(good, 0, length))).isEmpty();
    }
    assertThat(BlobFrame.peek(ByteBuffer.wrap(good, 0, 16)))
        .contains(new BlobFrame(BlobFrame.Kind.BASE_LIST, "phishing"));
    assertThat(BlobFrame.peek(ByteBuffer.wrap(SNAPSHOT.toBytes()))).isEmpty();
  }

  private static void assertRefused(String facts, ThrowingCallable reading) {
    assertThatThrownBy(reading)
        .isExactlyInstanceOf(MalformedSnapshotException.class)
        .hasMessageContainingAll(facts.split("; "));
  }

  private static BaseList read(byte[] bytes) throws SnapshotException {
    return BaseList.read(ByteBuffer.wrap(bytes), "phishing", 4);
  }

  private static byte[] bytesOf(Section section) {
    byte[] bytes = new byte[section.length()];
    section.toByteBuffer().get(bytes);
    return bytes;
  }
}
