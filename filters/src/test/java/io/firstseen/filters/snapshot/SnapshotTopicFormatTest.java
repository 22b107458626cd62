package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.snapshot.SnapshotTopicFormat.ChunkKey;
import java.io.ByteArrayOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SnapshotTopicFormatTest {
  private static final String DIGEST = Sha256.hex(new byte[0]);
  private static final int CHUNK = SnapshotTopicFormat.MAX_CHUNK_BYTES;

  @ParameterizedTest
  @ValueSource(ints = {1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 5})
  void chunksMakeTheBlob(int blobBytes) throws Exception {
    byte[] blob = new byte[blobBytes];
    for (int i = 0; i < blobBytes; i++) {
      blob[i] = (byte) (i * 31 / 7);
    }
    ByteArrayOutputStream joined = new ByteArrayOutputStream();
    int chunks = SnapshotTopicFormat.chunkCount(blobBytes);
    for (int i = 0; i < chunks; i++) {
      byte[] chunk = SnapshotTopicFormat.chunk(blob, i);
      assertThat(chunk).hasSizeBetween(1, CHUNK);
      assertThat(chunk).hasSize(SnapshotTopicFormat.chunkBytes(blobBytes, i));
      joined.write(chunk);
    }
    assertThat(joined.toByteArray()).isEqualTo(blob);
    assertThatThrownBy(() -> SnapshotTopicFormat.chunk(blob, chunks))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("index of a chunk", "[0, " + chunks + ")", "got " + chunks);
    assertThatThrownBy(() -> SnapshotTopicFormat.chunk(blob, -1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @CsvSource({
    "PACK, 1, 0",
    "PACK, 2, 0",
    "PACK, 8, 0",
    "BASE, 1, 0",
    "BASE, 2, 1",
    "BASE, 8, 7",
    "BASE_LIST, 1, 0",
    "BASE_LIST, 2, 1",
    "BASE_LIST, 8, 7",
  })
  void packsAreOnTheFirstPartitionAndBasesOnTheLast(
      BlobFrame.Kind kind, int partitions, int partition) {
    assertThat(SnapshotTopicFormat.partitionOf(kind, partitions)).isEqualTo(partition);
  }

  @Test
  void theLargestBlobHasChunks() {
    assertThat(SnapshotTopicFormat.chunkCount(Integer.MAX_VALUE)).isEqualTo(2331);
    assertThat(SnapshotTopicFormat.chunkBytes(Integer.MAX_VALUE, 2330))
        .isEqualTo((int) (Integer.MAX_VALUE - 2330L * CHUNK));
  }

  @Test
  void chunkKeysAreReadBack() {
    String key = SnapshotTopicFormat.chunkKey(DIGEST, 12);
    assertThat(key)
        .isEqualTo("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855/12");
    assertThat(SnapshotTopicFormat.parseChunkKey(key)).contains(new ChunkKey(DIGEST, 12));
    assertThatThrownBy(() -> SnapshotTopicFormat.chunkKey("E3", 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("digest", "64", "'E3'");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "/0", "x/0", "phishing", "phishing/0"})
  void otherKeysAreNoChunkKeys(String key) {
    assertThat(SnapshotTopicFormat.parseChunkKey(key)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "/", "/-1", "/01", "/1234567890", "/1 ", "/x", "0/0"})
  void almostChunkKeysAreNone(String tail) {
    assertThat(SnapshotTopicFormat.parseChunkKey(DIGEST + tail)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "phishing", "Phishing-2024.eu_west", "-", "."})
  void acceptsSetNames(String name) {
    assertThat(SnapshotTopicFormat.requireSetName(name)).isEqualTo(name);
    assertThat(SnapshotTopicFormat.parseChunkKey(name)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a/0", "a b", "ä", "a\n", "%s"})
  void refusesOtherSetNames(String name) {
    assertThatThrownBy(() -> SnapshotTopicFormat.requireSetName(name))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("1 to 100", "A-Z a-z 0-9 . _ -", "'" + name + "'");
  }

  @Test
  void boundsTheLengthOfASetName() {
    String longest = "a".repeat(100);
    assertThat(SnapshotTopicFormat.requireSetName(longest)).isEqualTo(longest);
    assertThatThrownBy(() -> SnapshotTopicFormat.requireSetName(longest + "a"))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
