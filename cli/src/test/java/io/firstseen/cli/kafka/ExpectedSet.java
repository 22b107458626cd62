package io.firstseen.cli.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.consumer.SnapshotClient;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestShard;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotParameters;
import java.util.Arrays;
import java.util.Collection;

/** The answers of a client if exactly these keys are live, including its false positives. */
public final class ExpectedSet {
  private static final int MORE_BITS = 4;
  private static final int STRANGERS = 2_000;

  private ExpectedSet() {}

  /** Compares the digest of every shard and the answers for many keys. */
  public static void mustBeThatOf(SnapshotClient client, Collection<String> live) throws Exception {
    Manifest manifest = client.manifest().orElseThrow();
    SetParameters parameters = manifest.parameters();
    assertThat(manifest.count()).isEqualTo(live.size());
    long[] hashes = live.stream().mapToLong(ExpectedSet::hash).toArray();
    Snapshot[] expected = new Snapshot[parameters.shards().count()];
    for (ManifestShard shard : manifest.shards()) {
      expected[shard.shard()] = snapshot(manifest, shard, hashes);
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

  /** Finds the number of bits per value with which the digest equals that of the manifest. */
  private static Snapshot snapshot(Manifest manifest, ManifestShard shard, long[] hashes) {
    SetParameters set = manifest.parameters();
    long[] own =
        Arrays.stream(hashes).filter(hash -> set.shards().shardOf(hash) == shard.shard()).toArray();
    assertThat(shard.count()).isEqualTo(own.length);
    // A chain keeps its number of bits.
    int fewest = set.valueBitsFor(own.length);
    for (int valueBits = fewest; valueBits <= fewest + MORE_BITS; valueBits++) {
      Snapshot snapshot =
          Snapshot.build(
              own,
              valueBits,
              new SnapshotParameters(set, manifest.setName(), shard.shard(), 1, 0, 1));
      if (snapshot.header().setDigest().equals(shard.newest().setDigest())) {
        return snapshot;
      }
    }
    throw new AssertionError("shard " + shard.shard() + " of " + manifest.sequence() + " differs");
  }
}
