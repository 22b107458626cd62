package io.firstseen.operators.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestShard;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDelta;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.serializers.SnapshotRecord;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.PrimitiveIterator;
import java.util.Set;
import java.util.TreeSet;

/** Reads published records like a consumer, and checks what must hold of any of them. */
final class PublishedSets {

  /**
   * A manifest as its reader sees it.
   *
   * @param shards for every shard the values of its snapshot; null if it never had one
   */
  record Published(Manifest manifest, List<Snapshot> shards) {

    long sequence() {
      return manifest.sequence();
    }

    long windowEndMillis() {
      return manifest.windowEndMillis();
    }
  }

  private final Map<String, byte[]> blobs = new HashMap<>();
  private final Set<String> sent = new HashSet<>();
  private final List<Published> manifests = new ArrayList<>();

  PublishedSets add(List<SnapshotRecord> records) throws Exception {
    for (SnapshotRecord record : records) {
      if (record.kind() == SnapshotRecord.Kind.BLOB) {
        assertThat(record.key()).isEqualTo(sha256(record.value()));
        assertThat(sent.add(record.key())).as("published once").isTrue();
        blobs.put(record.key(), record.value());
      } else if (record.kind() == SnapshotRecord.Kind.REMOVAL) {
        assertThat(named(1)).as("removed while in use").doesNotContain(record.key());
        assertThat(blobs.remove(record.key())).hasSize((int) record.removedBytes());
      } else {
        Manifest manifest = Manifest.fromJson(record.value());
        assertThat(record.key()).isEqualTo(manifest.setName());
        List<Snapshot> shards = new ArrayList<>();
        for (ManifestShard shard : manifest.shards()) {
          assertThat(shard.blobs())
              .allSatisfy(blob -> assertThat(blobs).containsKey(blob.digest()));
          shards.add(shard.base() == null ? null : newest(shard));
        }
        manifests.add(new Published(manifest, shards));
      }
    }
    return this;
  }

  /** Follows the chain from its base, by the sequences of what it holds. */
  private Snapshot newest(ManifestShard shard) throws Exception {
    Snapshot snapshot = Snapshot.read(blob(shard.base()));
    snapshot.verify();
    for (BlobReference delta : shard.deltas()) {
      if (delta.sequence() > shard.base().sequence()) {
        snapshot = SnapshotDelta.read(blob(delta)).applyTo(snapshot);
      }
    }
    return snapshot;
  }

  private byte[] blob(BlobReference reference) {
    byte[] bytes = blobs.get(reference.digest());
    assertThat(bytes).hasSize((int) reference.bytes());
    return bytes;
  }

  List<Published> manifests() {
    return manifests;
  }

  /** The sequence of the newest manifest, 0 if there is none. */
  long lastSequence() {
    return manifests.isEmpty() ? 0 : manifests.get(manifests.size() - 1).sequence();
  }

  int blobCount() {
    return sent.size();
  }

  /** The digests of what has been published and not removed. */
  Set<String> kept() {
    return blobs.keySet();
  }

  /** The digests of what went out and stands in no manifest. */
  Set<String> neverNamed() {
    Set<String> never = new TreeSet<>(sent);
    never.removeAll(named(manifests.size()));
    return never;
  }

  /** The digests that the newest manifests name. */
  Set<String> named(int newest) {
    Set<String> named = new TreeSet<>();
    for (int i = Math.max(0, manifests.size() - newest); i < manifests.size(); i++) {
      for (ManifestShard shard : manifests.get(i).manifest().shards()) {
        if (shard.base() != null) {
          named.add(shard.base().digest());
        }
        shard.deltas().forEach(delta -> named.add(delta.digest()));
      }
    }
    return named;
  }

  int deltasOfTheLast() {
    return manifests.isEmpty()
        ? 0
        : manifests.get(manifests.size() - 1).manifest().shards().stream()
            .mapToInt(shard -> shard.deltas().size())
            .sum();
  }

  List<Long> windowEnds() {
    return manifests.stream().map(Published::windowEndMillis).toList();
  }

  /** Which of these hashes the newest manifest answers by 'present'. */
  Set<Long> present(Iterable<Long> hashes) {
    Published newest = manifests.get(manifests.size() - 1);
    Set<Long> present = new TreeSet<>();
    for (long hash : hashes) {
      Snapshot shard = newest.shards().get(newest.manifest().parameters().shards().shardOf(hash));
      if (shard != null && shard.mightContain(hash)) {
        present.add(hash);
      }
    }
    return present;
  }

  /** Compares manifests, blobs and every value with a model. */
  void mustBeThoseOf(SnapshotModel model, SnapshotSpec spec) {
    assertThat(windowEnds())
        .isEqualTo(
            model.manifests().stream().map(SnapshotModel.Expected::windowEndMillis).toList());
    assertThat(blobCount()).isGreaterThanOrEqualTo(model.cuts());
    for (int i = 0; i < model.manifests().size(); i++) {
      SnapshotModel.Expected expected = model.manifests().get(i);
      Published found = manifests.get(i);
      assertThat(found.sequence()).isEqualTo(expected.sequence());
      assertThat(found.manifest().windowStartMillis())
          .isEqualTo(expected.windowEndMillis() - spec.windowMillis());
      for (int shard = 0; shard < expected.shards().size(); shard++) {
        compareShard(spec, found, shard, expected.shards().get(shard));
      }
    }
  }

  private static void compareShard(
      SnapshotSpec spec, Published found, int shard, SnapshotModel.Cut expected) {
    Snapshot snapshot = found.shards().get(shard);
    if (expected == null) {
      assertThat(snapshot).isNull();
      return;
    }
    assertThat(snapshot.header().parameters().sequence()).isEqualTo(expected.number());
    assertThat(snapshot.header().parameters().windowEndMillis())
        .isEqualTo(expected.windowEndMillis());
    int count = expected.hashes().size();
    assertThat(found.manifest().shards().get(shard).count()).isEqualTo(count);
    assertThat(snapshot.header().hashCount()).isEqualTo(count);
    assertThat(mostKeys(snapshot, spec.falsePositiveRate())).isGreaterThanOrEqualTo(count);
    int shardBits = new Shards(spec.snapshotShards()).bits();
    BigInteger range = range(snapshot);
    TreeSet<Long> values = new TreeSet<>();
    for (long hash : expected.hashes()) {
      BigInteger suffix = new BigInteger(Long.toUnsignedString(hash << shardBits));
      values.add(suffix.multiply(range).shiftRight(64).longValueExact());
    }
    assertThat(values(snapshot).equals(List.copyOf(values))).isTrue();
    long[] hashes = expected.hashes().stream().mapToLong(hash -> hash).toArray();
    assertThat(snapshot.toBytes())
        .as("the same as cut at once")
        .isEqualTo(
            Snapshot.build(hashes, snapshot.header().universe(), snapshot.header().parameters())
                .toBytes());
  }

  /** The number of values that a snapshot may hold. */
  private static BigInteger range(Snapshot snapshot) {
    Universe universe = snapshot.header().universe();
    return BigInteger.valueOf(universe.buckets()).multiply(BigInteger.valueOf(universe.width()));
  }

  /** How many keys its range has room for at a false-positive rate. */
  static long mostKeys(Snapshot snapshot, double falsePositiveRate) {
    return new BigDecimal(range(snapshot))
        .multiply(new BigDecimal(falsePositiveRate))
        .toBigInteger()
        .longValueExact();
  }

  static List<Long> values(Snapshot snapshot) {
    List<Long> values = new ArrayList<>();
    for (PrimitiveIterator.OfLong i = snapshot.values(); i.hasNext(); ) {
      values.add(i.nextLong());
    }
    return values;
  }

  static String sha256(byte[] bytes) throws Exception {
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
  }

  /** The same records, whose manifests do not say when they were published. */
  static List<SnapshotRecord> withoutTimes(List<SnapshotRecord> records) throws SnapshotException {
    List<SnapshotRecord> without = new ArrayList<>();
    for (SnapshotRecord record : records) {
      without.add(
          record.kind() == SnapshotRecord.Kind.MANIFEST
              ? new SnapshotRecord(
                  record.kind(), record.key(), Manifest.fromJson(record.value()).content().toJson())
              : record);
    }
    return without;
  }
}
