package io.firstseen.consumer.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.consumer.TestPublisher;
import io.firstseen.consumer.TestPublisher.Entry;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChunkStoreTest {

  /** As on a disk that is full after the first chunk. */
  @Test
  void aBlobMayBePartlyInItsFileAndPartlyInMemory(@TempDir Path directory) throws Exception {
    byte[] blob = new byte[5 * SnapshotTopicFormat.MAX_CHUNK_BYTES / 2];
    new Random(1).nextBytes(blob);
    List<Entry> entries = TestPublisher.chunks(blob);
    assertThat(entries).hasSize(3);
    for (int inFile = 0; inFile <= 3; inFile++) {
      SnapshotCache cache = SnapshotCache.open(directory, "spam" + inFile);
      ChunkStore chunks = new ChunkStore(cache);
      for (int index = 0; index < 3; index++) {
        if (index == inFile) {
          // It writes nothing more.
          cache.close();
        }
        Entry entry = entries.get(index);
        chunks.put(
            SnapshotTopicFormat.parseChunkKey(entry.key()).orElseThrow(), entry.value(), index);
      }
      assertThat(chunks.assemble(BlobReference.to(blob)))
          .as("%d chunks in the file", inFile)
          .isEqualTo(ByteBuffer.wrap(blob));
      cache.close();
    }
  }
}
