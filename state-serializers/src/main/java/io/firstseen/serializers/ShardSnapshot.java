package io.firstseen.serializers;

import io.firstseen.filters.snapshot.Base;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Section;
import java.util.Arrays;
import java.util.Objects;
import org.apache.flink.api.common.typeinfo.TypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * The report of a snapshot shard for a window in which it had operations or forgot keys.
 *
 * @param shard number of the shard
 * @param windowEndMillis end of the window (event time, exclusive)
 * @param liveCount number of live keys at that end
 * @param change the change of the set in the window; null if the set did not change
 */
@TypeInfo(ShardSnapshotSerializer.InfoFactory.class)
public record ShardSnapshot(
    int shard, long windowEndMillis, long liveCount, @Nullable SetChange change) {

  /**
   * The change of a set in a window.
   *
   * @param setDigest the digest of the set after the change
   * @param section the bytes of a {@link Section}. Not copied; must not be changed
   * @param base the base of the set after the change; null if only the section is published
   */
  // Equality by content is written out below.
  @SuppressWarnings("ArrayRecordComponent")
  public record SetChange(String setDigest, byte[] section, @Nullable BaseBlob base) {
    public SetChange {
      Objects.requireNonNull(setDigest, "setDigest");
      Objects.requireNonNull(section, "section");
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof SetChange that
          && setDigest.equals(that.setDigest)
          && Arrays.equals(section, that.section)
          && Objects.equals(base, that.base);
    }

    @Override
    public int hashCode() {
      return Objects.hash(setDigest, Arrays.hashCode(section), base);
    }
  }

  /**
   * A {@link Base}.
   *
   * @param reference the reference to the base
   * @param bytes the blob; null if it was already forwarded. Not copied; must not be changed
   */
  // Equality by content is written out below.
  @SuppressWarnings("ArrayRecordComponent")
  public record BaseBlob(BlobReference reference, byte @Nullable [] bytes) {
    public BaseBlob {
      Objects.requireNonNull(reference, "reference");
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof BaseBlob that
          && reference.equals(that.reference)
          && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
      return Objects.hash(reference, Arrays.hashCode(bytes));
    }
  }

  /** Creates the report of a shard whose live set did not change. */
  public static ShardSnapshot unchanged(int shard, long windowEndMillis, long liveCount) {
    return new ShardSnapshot(shard, windowEndMillis, liveCount, null);
  }

  /**
   * Creates the report of a shard whose live set changed.
   *
   * @param base the bytes of the base; null if only the section is published
   */
  public static ShardSnapshot changed(
      int shard,
      long windowEndMillis,
      long liveCount,
      String setDigest,
      Section section,
      byte @Nullable [] base) {
    byte[] bytes = new byte[section.length()];
    section.toByteBuffer().get(bytes);
    return new ShardSnapshot(
        shard,
        windowEndMillis,
        liveCount,
        new SetChange(
            setDigest, bytes, base == null ? null : new BaseBlob(BlobReference.to(base), base)));
  }

  /** Returns the base; null if there is none. */
  public @Nullable BaseBlob base() {
    return change == null ? null : change.base;
  }

  /** Returns a copy without the bytes of the base. */
  public ShardSnapshot withoutBaseBytes() {
    if (base() == null) {
      return this;
    }
    BaseBlob named = new BaseBlob(base().reference, null);
    return new ShardSnapshot(
        shard, windowEndMillis, liveCount, new SetChange(change.setDigest, change.section, named));
  }

  @Override
  public String toString() {
    return "shard %d in the window until %d: %d live, %s"
        .formatted(
            shard,
            windowEndMillis,
            liveCount,
            change == null
                ? "unchanged"
                : "a section of %d bytes, base %s"
                    .formatted(change.section.length, base() == null ? "none" : base().reference));
  }
}
