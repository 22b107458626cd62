package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.BlobLoader;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.MissingBlobsException;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.SnapshotTopicFormat.ChunkKey;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The blobs of one set on a topic. Keeps blobs of the first pass over the topic, up to a limit, and
 * reads the topic again for others.
 */
public final class TopicBlobs {
  private final TopicReading topic;
  private final ChunkStore chunks = new ChunkStore(null);
  private final ChunkSelection selection;

  /**
   * Creates an object without blobs.
   *
   * @param maxBytes the maximum number of bytes of chunks that are kept
   */
  public TopicBlobs(TopicReading topic, String setName, long maxBytes) {
    this.topic = topic;
    this.selection = new ChunkSelection(setName, chunks, () -> maxBytes);
  }

  /** Uses blobs. */
  @FunctionalInterface
  public interface Use {
    /** Loads the required blobs; called again when missing blobs have been stored. */
    void load(BlobLoader blobs) throws IOException;
  }

  /** Stores blobs. */
  @FunctionalInterface
  public interface Store {
    /** Returns a complete blob with the right digest. */
    void accept(BlobReference blob, ByteBuffer bytes) throws SnapshotException;
  }

  /** Adds a record of the first pass. */
  public void accept(String key, byte @Nullable [] value) {
    SnapshotTopicFormat.parseChunkKey(key)
        .ifPresent(chunkKey -> selection.accept(0, chunkKey, value, Set::of));
  }

  /**
   * Uses the blobs. While some are missing, reads the topic again and stores them.
   *
   * @throws MissingBlobsException if the topic contains none of the missing blobs, or damaged blobs
   * @throws TimeoutException if the time limit is exceeded
   */
  public void load(Use use, Store store) throws IOException, TimeoutException {
    while (true) {
      try {
        use.load(this::take);
        return;
      } catch (MissingBlobsException e) {
        Map<String, BlobReference> wanted = new HashMap<>();
        e.blobs().forEach(blob -> wanted.put(blob.digest(), blob));
        int missing = wanted.size();
        topic.readAll((key, value) -> store(key, value, wanted, store));
        if (wanted.size() == missing) {
          throw e;
        }
      }
    }
  }

  private void store(
      String key, byte @Nullable [] value, Map<String, BlobReference> wanted, Store store)
      throws SnapshotException {
    ChunkKey chunkKey = SnapshotTopicFormat.parseChunkKey(key).orElse(null);
    BlobReference blob = chunkKey == null ? null : wanted.get(chunkKey.digest());
    if (blob == null || value == null) {
      return;
    }
    chunks.put(chunkKey, value, 0);
    if (chunks.isWhole(blob)) {
      ByteBuffer bytes;
      try {
        bytes = take(blob);
      } catch (MissingBlobsException e) {
        return;
      }
      store.accept(blob, bytes);
      wanted.remove(blob.digest());
    }
  }

  private ByteBuffer take(BlobReference blob) throws MissingBlobsException {
    if (chunks.isWhole(blob)) {
      try {
        ByteBuffer bytes = chunks.assemble(blob);
        chunks.remove(blob.digest());
        return bytes;
      } catch (SnapshotException e) {
        // Another copy of a chunk may resolve this.
      }
    }
    throw new MissingBlobsException(List.of(blob));
  }
}
