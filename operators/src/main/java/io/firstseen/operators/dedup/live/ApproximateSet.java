package io.firstseen.operators.dedup.live;

import io.firstseen.filters.cuckoo.InsertionResult;
import io.firstseen.filters.cuckoo.PagedFilter;
import io.firstseen.filters.key.Shards;
import io.firstseen.operators.dedup.pages.ShardPages;
import io.firstseen.serializers.Change;

/** The live set of the approximate mode: only the filter decides. */
public final class ApproximateSet implements LiveSet {
  private final PagedFilter filter;
  private final Shards shards;

  public ApproximateSet(PagedFilter filter, Shards shards) {
    this.filter = filter;
    this.shards = shards;
  }

  @Override
  public Addition add(ShardPages shard, Change<?> change) {
    boolean stored =
        filter.insertIfAbsent(shard, shards.suffix(change.hash())) == InsertionResult.STORED;
    return stored ? Addition.NEW : Addition.KNOWN;
  }

  @Override
  public boolean remove(ShardPages shard, Change<?> change) {
    return filter.delete(shard, shards.suffix(change.hash()));
  }

  @Override
  public void learn(ShardPages shard, Change<?> change) {
    filter.insert(shard, shards.suffix(change.hash()));
  }
}
