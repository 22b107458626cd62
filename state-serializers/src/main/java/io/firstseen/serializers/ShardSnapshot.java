package io.firstseen.serializers;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDelta;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeinfo.TypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * The report of a snapshot shard for a window in which it had operations or forgot keys.
 *
 * @param shard number of the shard
 * @param windowEndMillis end of the window (event time, exclusive)
 * @param liveCount number of live keys at that end
 * @param base the new snapshot; null if the window changed nothing or is published only as a delta
 * @param delta the delta from the set published before; null if the window changed nothing, or if
 *     the base begins a new chain
 */
@TypeInfo(ShardSnapshotSerializer.InfoFactory.class)
public record ShardSnapshot(
    int shard, long windowEndMillis, long liveCount, @Nullable Blob base, @Nullable Blob delta) {

  /**
   * A snapshot or a delta.
   *
   * @param reference the reference by which manifests name it
   * @param bytes the blob; null if it was already sent on. Not copied; must not be changed
   */
  // Equality by content is written out below.
  @SuppressWarnings("ArrayRecordComponent")
  public record Blob(BlobReference reference, byte @Nullable [] bytes) {
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

  /** The report of a shard whose live set did not change. */
  public static ShardSnapshot unchanged(int shard, long windowEndMillis, long liveCount) {
    return new ShardSnapshot(shard, windowEndMillis, liveCount, null, null);
  }

  /** The report of a shard that publishes a snapshot, a delta or both. */
  public static ShardSnapshot changed(
      int shard, long windowEndMillis, long liveCount, Snapshot base, SnapshotDelta delta) {
    return new ShardSnapshot(
        shard,
        windowEndMillis,
        liveCount,
        base == null ? null : new Blob(BlobReference.to(base), base.toBytes()),
        delta == null ? null : new Blob(BlobReference.to(delta), delta.toBytes()));
  }

  /** Whether the window changed the shard's live set. */
  public boolean isChanged() {
    return base != null || delta != null;
  }

  /** The delta, if there is one, and the base, if there is one. */
  public List<Blob> blobs() {
    return Stream.of(delta, base).filter(Objects::nonNull).toList();
  }

  /** A copy without the bytes of the blobs. */
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
