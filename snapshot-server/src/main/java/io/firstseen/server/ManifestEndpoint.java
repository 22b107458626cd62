package io.firstseen.server;

import io.firstseen.consumer.ClientStatus;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestShard;
import io.firstseen.filters.snapshot.Sha256;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.server.http.Endpoint;
import io.firstseen.server.http.HttpFailure;
import io.firstseen.server.http.ImmutableContent;
import io.firstseen.server.http.QueryString;
import io.firstseen.server.http.Reply;
import io.firstseen.server.http.Request;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code GET /v1/manifest}: the current manifest, as it was published, or rewritten to name full
 * snapshots only.
 */
final class ManifestEndpoint implements Endpoint {
  private final ServedSets sets;

  ManifestEndpoint(ServedSets sets) {
    this.sets = sets;
  }

  @Override
  public Reply answer(Request request) throws HttpFailure {
    QueryString query = request.query("set", "bases");
    boolean bases = ContainsEndpoint.flag("bases", query.text("bases"));
    ClientStatus status = sets.named(query.text("set")).requireAnswering();
    ByteBuffer json =
        bases
            ? ByteBuffer.wrap(ofBases(status.snapshot().orElseThrow()).toJson())
            : status.manifestJson().orElseThrow();
    return new ImmutableContent("application/json", Sha256.hex(json), json, "no-cache")
        .answer(request);
  }

  /** A manifest of the same set that names only full snapshots. */
  private static Manifest ofBases(SnapshotSet set) {
    Manifest published = set.manifest();
    List<ManifestShard> shards = new ArrayList<>();
    for (ManifestShard shard : published.shards()) {
      Snapshot snapshot = set.snapshot(shard.shard());
      shards.add(
          snapshot == null
              ? ManifestShard.empty(shard.shard())
              : ManifestShard.of(shard.shard(), shard.count(), BlobReference.to(snapshot)));
    }
    return Manifest.of(
        published.setName(),
        published.sequence(),
        published.windowStartMillis(),
        published.windowEndMillis(),
        published.parameters(),
        shards);
  }
}
