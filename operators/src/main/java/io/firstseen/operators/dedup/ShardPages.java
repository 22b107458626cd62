package io.firstseen.operators.dedup;

import io.firstseen.filters.cuckoo.CuckooPage;
import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.cuckoo.PageDirectory;
import io.firstseen.filters.cuckoo.PageStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.ValueState;

/**
 * The pages of the shard whose key is the current one, in managed keyed state.
 *
 * <p>Directories are kept on the heap as well: they are immutable and small. Pages are not, because
 * the heap backend may be writing one to a checkpoint; it hands out a copy then.
 */
final class ShardPages implements PageStore {
  private final CuckooShape shape;
  private final MapState<Integer, CuckooPage> pages;
  private final ValueState<byte[]> directoryState;
  private final PageDirectory[] directories;
  private int shard;

  ShardPages(
      CuckooShape shape,
      int shardCount,
      MapState<Integer, CuckooPage> pages,
      ValueState<byte[]> directoryState) {
    this.shape = shape;
    this.pages = pages;
    this.directoryState = directoryState;
    this.directories = new PageDirectory[shardCount];
  }

  /** Turns to a shard; Flink's current key must be that shard's. */
  ShardPages of(int newShard) {
    shard = newShard;
    if (directories[shard] == null) {
      try {
        byte[] bytes = directoryState.value();
        directories[shard] =
            bytes == null ? PageDirectory.first(shape) : PageDirectory.of(shape, bytes);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return this;
  }

  @Override
  public CuckooPage get(long identity) {
    try {
      CuckooPage page = pages.get(directories[shard].idOf(identity));
      if (page != null) {
        return page;
      }
    } catch (Exception e) {
      throw unreachable(e);
    }
    if (directories[shard].ids().length > 1) {
      throw new IllegalStateException("state has no page " + directories[shard].idOf(identity));
    }
    return CuckooPage.first(shape);
  }

  @Override
  public void put(long identity, CuckooPage page) {
    try {
      pages.put(directories[shard].idOf(identity), page);
    } catch (Exception e) {
      throw unreachable(e);
    }
  }

  @Override
  public void split(long identity, CuckooPage low, CuckooPage high) {
    try {
      pages.remove(directories[shard].idOf(identity));
      pages.put(low.id(), low);
      pages.put(high.id(), high);
      directories[shard] = directories[shard].split(identity);
      directoryState.update(directories[shard].toBytes());
    } catch (Exception e) {
      throw unreachable(e);
    }
  }

  private static RuntimeException unreachable(Exception e) {
    return new IllegalStateException("the state backend failed: " + e.getMessage(), e);
  }
}
