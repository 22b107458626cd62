package io.firstseen.cli.snapshot;

import static io.firstseen.cli.shared.SnapshotSummary.number;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.Rows;
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
  public String table() {
    return new Rows()
        .put("kind", "base")
        .put("set", setName)
        .put("shard", Integer.toString(shard))
        .put("keys", keys())
        .put("values", whole.addedCount())
        .put("base", PackSummary.text(reference))
        .toString();
  }

  @Override
  public ObjectNode json() {
    return Json.object()
        .put("kind", "base")
        .put("set", setName)
        .put("shard", shard)
        .put("digest", reference.digest())
        .put("bytes", reference.bytes())
        .put("keys", keys())
        .put("values", whole.addedCount());
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
