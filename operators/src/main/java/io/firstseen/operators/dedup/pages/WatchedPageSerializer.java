package io.firstseen.operators.dedup.pages;

import io.firstseen.filters.cuckoo.CuckooPage;
import io.firstseen.serializers.CuckooPageSerializer;
import java.io.IOException;
import java.util.Objects;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes pages for the heap backend as {@link CuckooPageSerializer} does, and reports which pages
 * it has written. Flink writes each checkpoint with a duplicate of the serializer that it makes
 * when the checkpoint begins; duplicates made later write nothing.
 *
 * <p>A copy is the page itself: {@link HeapShardPages} does not change a page that a checkpoint may
 * still have to write.
 */
public final class WatchedPageSerializer extends CuckooPageSerializer {
  private static final long serialVersionUID = 1;

  private final transient RunningCheckpoints checkpoints;
  private final transient CheckpointProgress progress;

  public WatchedPageSerializer(RunningCheckpoints checkpoints) {
    this.checkpoints = checkpoints;
    this.progress = checkpoints.last();
  }

  @Override
  public WatchedPageSerializer duplicate() {
    return new WatchedPageSerializer(checkpoints);
  }

  @Override
  public CuckooPage copy(CuckooPage from) {
    return from;
  }

  @Override
  public CuckooPage copy(CuckooPage from, CuckooPage reuse) {
    return from;
  }

  @Override
  public void serialize(CuckooPage page, DataOutputView out) throws IOException {
    super.serialize(page, out);
    if (progress != null && page.tag() != 0) {
      progress.wrote(ShardPages.shardOf(page));
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof WatchedPageSerializer watched && checkpoints == watched.checkpoints;
  }

  @Override
  public int hashCode() {
    return Objects.hashCode(checkpoints);
  }
}
