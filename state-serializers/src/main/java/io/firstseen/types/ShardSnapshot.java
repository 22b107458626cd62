package io.firstseen.types;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.serializers.ShardSnapshotSerializer;
import java.util.Arrays;
import java.util.Objects;
import org.apache.flink.api.common.typeinfo.TypeInfo;

/**
 * What became of a snapshot shard in a window in which it had operations.
 *
 * @param shard number of the shard
 * @param windowEndMillis end of the window (event time, exclusive)
 * @param liveCount number of live keys at that end
 * @param base the snapshot that was cut; null if the window changed nothing
 * @param blob the bytes of that snapshot; null if there is none, or if they went on already. Not
 *     copied, not to be changed
 */
@TypeInfo(ShardSnapshotSerializer.InfoFactory.class)
// Equality by content is written out below.
@SuppressWarnings("ArrayRecordComponent")
public record ShardSnapshot(
    int shard, long windowEndMillis, long liveCount, BlobReference base, byte[] blob) {

  public ShardSnapshot {
    if (base == null && blob != null) {
      throw new IllegalArgumentException("a blob must come with its reference");
    }
  }

  /** A shard that is as it was before the window. */
  public static ShardSnapshot unchanged(int shard, long windowEndMillis, long liveCount) {
    return new ShardSnapshot(shard, windowEndMillis, liveCount, null, null);
  }

  /** A shard of which a snapshot was cut at the end of the snapshot's window. */
  public static ShardSnapshot changed(Snapshot snapshot) {
    return new ShardSnapshot(
        snapshot.header().parameters().shard(),
        snapshot.header().parameters().windowEndMillis(),
        snapshot.header().hashCount(),
        BlobReference.to(snapshot),
        snapshot.toBytes());
  }

  /** The same without the blob's bytes. */
  public ShardSnapshot withoutBlob() {
    return new ShardSnapshot(shard, windowEndMillis, liveCount, base, null);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ShardSnapshot that
        && shard == that.shard
        && windowEndMillis == that.windowEndMillis
        && liveCount == that.liveCount
        && Objects.equals(base, that.base)
        && Arrays.equals(blob, that.blob);
  }

  @Override
  public int hashCode() {
    return Objects.hash(shard, windowEndMillis, liveCount, base, Arrays.hashCode(blob));
  }

  @Override
  public String toString() {
    return "shard %d in the window until %d: %d live, %s"
        .formatted(shard, windowEndMillis, liveCount, base == null ? "unchanged" : base);
  }
}
