package io.firstseen.cli.snapshot;

import static io.firstseen.cli.shared.SnapshotSummary.number;

import io.firstseen.cli.shared.Fields;
import io.firstseen.filters.snapshot.Base;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.SnapshotException;
import java.nio.ByteBuffer;

/** The content of a base. */
record BaseSummary(String setName, int shard, Section whole, BlobReference reference)
    implements FileSummary {

  static BaseSummary of(byte[] blob, String setName) throws SnapshotException {
    int shard = Base.shardOf(ByteBuffer.wrap(blob), setName);
    return new BaseSummary(
        setName, shard, Base.read(ByteBuffer.wrap(blob), setName, shard), BlobReference.to(blob));
  }

  private long keys() {
    return whole.addedCount() + whole.hiddenCount();
  }

  @Override
  public Fields fields() {
    return new Fields()
        .put("kind", "kind", "base")
        .put("set", "set", setName)
        .put("shard", "shard", shard, shard)
        .json("digest", reference.digest())
        .json("bytes", reference.bytes())
        .put("keys", "keys", keys())
        .put("values", "values", whole.addedCount())
        .row("base", PackSummary.text(reference));
  }

  @Override
  public String sentence() {
    return "a base of shard %d with %s keys".formatted(shard, number(keys()));
  }

  @Override
  public void verify() throws SnapshotException {
    whole.verify();
  }
}
