package io.firstseen.cli.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.consumer.SnapshotClient;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotHeader;
import io.firstseen.filters.snapshot.SnapshotSet;
import java.util.Arrays;
import java.util.Collection;

/** The answers of a client if exactly these keys are live, including its false positives. */
public final class ExpectedSet {
  private static final int STRANGERS = 2_000;

  private ExpectedSet() {}

  /** Compares every shard and the answers for many keys. */
  public static void mustBeThatOf(SnapshotClient client, Collection<String> live) throws Exception {
    SnapshotSet published = client.status().snapshot().orElseThrow();
    Manifest manifest = published.manifest();
    SetParameters parameters = manifest.parameters();
    assertThat(manifest.count()).isEqualTo(live.size());
    long[] hashes = live.stream().mapToLong(ExpectedSet::hash).toArray();
    Snapshot[] expected = new Snapshot[parameters.shards().count()];
    for (int shard = 0; shard < expected.length; shard++) {
      expected[shard] = snapshot(published, shard, hashes);
    }
    for (String key : live) {
      assertThat(client.mightContain(key)).as(key).isTrue();
    }
    for (int i = 0; i < STRANGERS; i++) {
      long hash = hash("stranger-" + i);
      assertThat(client.mightContain("stranger-" + i))
          .isEqualTo(expected[parameters.shards().shardOf(hash)].mightContain(hash));
    }
  }

  private static long hash(String key) {
    return KeyHash.fixed().hash(key.getBytes(UTF_8));
  }

  /** Builds a shard at once, in the published range, which a chain keeps. */
  private static Snapshot snapshot(SnapshotSet published, int shard, long[] hashes) {
    SetParameters set = published.manifest().parameters();
    long[] own =
        Arrays.stream(hashes).filter(hash -> set.shards().shardOf(hash) == shard).toArray();
    SnapshotHeader header = published.snapshot(shard).header();
    assertThat(header.hashCount()).isEqualTo(own.length);
    assertThat(header.universe().keepsRate(own.length, set.falsePositiveRate())).isTrue();
    Snapshot snapshot = Snapshot.build(own, header.universe(), header.parameters());
    assertThat(header.setDigest())
        .as("shard %d of %d", shard, published.manifest().sequence())
        .isEqualTo(snapshot.header().setDigest());
    assertThat(published.snapshot(shard).toBytes()).isEqualTo(snapshot.toBytes());
    return snapshot;
  }
}
