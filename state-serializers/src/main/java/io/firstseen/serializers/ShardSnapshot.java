package io.firstseen.serializers;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDelta;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeinfo.TypeInfo;

/**
 * What became of a snapshot shard in a window in which it had operations, or forgot keys.
 *
 * @param shard number of the shard
 * @param windowEndMillis end of the window (event time, exclusive)
 * @param liveCount number of live keys at that end
 * @param base the snapshot that was cut; null if the window changed nothing or goes out as a delta
 * @param delta what leads to those keys from what was published before; null if the window changed
 *     nothing, or if the base begins anew
 */
@TypeInfo(ShardSnapshotSerializer.InfoFactory.class)
public record ShardSnapshot(
    int shard, long windowEndMillis, long liveCount, Blob base, Blob delta) {

  /**
   * A snapshot or a delta.
   *
   * @param reference how manifests name it
   * @param bytes the blob; null if it went on already. Not copied, not to be changed
   */
  // Equality by content is written out below.
  @SuppressWarnings("ArrayRecordComponent")
  public record Blob(BlobReference reference, byte[] bytes) {
    public Blob {
      Objects.requireNonNull(reference, "reference");
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Blob that
          && reference.equals(that.reference)
          && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
      return Objects.hash(reference, Arrays.hashCode(bytes));
    }
  }

  public ShardSnapshot {
    if ((base != null && base.reference.isDelta())
        || (delta != null && !delta.reference.isDelta())) {
      throw new IllegalArgumentException("the base must be a snapshot, and the delta a delta");
    }
  }

  /** A shard that is as it was before the window. */
  public static ShardSnapshot unchanged(int shard, long windowEndMillis, long liveCount) {
    return new ShardSnapshot(shard, windowEndMillis, liveCount, null, null);
  }

  /** A shard that publishes a snapshot, a delta or both. */
  public static ShardSnapshot changed(
      int shard, long windowEndMillis, long liveCount, Snapshot base, SnapshotDelta delta) {
    return new ShardSnapshot(
        shard,
        windowEndMillis,
        liveCount,
        base == null ? null : new Blob(BlobReference.to(base), base.toBytes()),
        delta == null ? null : new Blob(BlobReference.to(delta), delta.toBytes()));
  }

  /** Whether the window changed the shard. */
  public boolean isChanged() {
    return base != null || delta != null;
  }

  /** The delta, if there is one, and the base, if there is one. */
  public List<Blob> blobs() {
    return Stream.of(delta, base).filter(Objects::nonNull).toList();
  }

  /** The same without the bytes of the blobs. */
  public ShardSnapshot withoutBytes() {
    return new ShardSnapshot(
        shard, windowEndMillis, liveCount, withoutBytes(base), withoutBytes(delta));
  }

  private static Blob withoutBytes(Blob blob) {
    return blob == null ? null : new Blob(blob.reference, null);
  }

  @Override
  public String toString() {
    return "shard %d in the window until %d: %d live, %s"
        .formatted(
            shard,
            windowEndMillis,
            liveCount,
            isChanged() ? blobs().stream().map(Blob::reference).toList() : "unchanged");
  }
}
