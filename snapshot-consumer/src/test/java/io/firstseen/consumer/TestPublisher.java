package io.firstseen.consumer;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestShard;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDelta;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Makes the records of a snapshots topic. As in the jobs, an unchanged shard keeps its blob. */
public final class TestPublisher {
  /** The length of a window. */
  public static final long WINDOW_MILLIS = 1000;

  private static final double RATE = 1e-9;

  /** A record of the topic; a null value is a tombstone. */
  @SuppressWarnings("ArrayRecordComponent")
  public record Entry(String key, byte[] value) {

    /** The same key with a null value. */
    public Entry tombstone() {
      return new Entry(key, null);
    }

    /** The same key, with one bit of the value flipped. */
    public Entry damaged() {
      byte[] bytes = value.clone();
      bytes[bytes.length / 2] ^= 1;
      return new Entry(key, bytes);
    }
  }

  /** The records that one window adds to the topic. */
  public record Publication(Manifest manifest, List<Entry> chunks, Entry manifestEntry) {

    /** All records in order. */
    public List<Entry> entries() {
      List<Entry> entries = new ArrayList<>(chunks);
      entries.add(manifestEntry);
      return entries;
    }
  }

  private final String setName;
  private final KeyHash keyHash;
  private final SetParameters parameters;
  private final ManifestShard[] shards;
  private final long[][] published;
  private final Snapshot[] snapshots;
  private @Nullable Random deltas;
  private LongSupplier clock = () -> 0;
  private @Nullable Long expiryMillis;

  /** Makes a publisher of an empty set. */
  public TestPublisher(
      String setName, KeyHash keyHash, Canonicaliser canonicaliser, int shardCount) {
    this.setName = setName;
    this.keyHash = keyHash;
    this.parameters = SetParameters.of(keyHash, canonicaliser, new Shards(shardCount), RATE);
    this.shards = new ManifestShard[shardCount];
    this.published = new long[shardCount][0];
    this.snapshots = new Snapshot[shardCount];
    for (int shard = 0; shard < shardCount; shard++) {
      shards[shard] = ManifestShard.empty(shard);
    }
  }

  /** Makes a publisher of a set under the fixed key. */
  public static TestPublisher of(String setName, int shardCount) {
    return new TestPublisher(setName, KeyHash.fixed(), Canonicaliser.NONE, shardCount);
  }

  /** The hash of a canonical key under the fixed key. */
  public static long hash(String key) {
    return KeyHash.fixed().hash(key.getBytes(StandardCharsets.UTF_8));
  }

  /** From now on publishes changes as deltas, and from time to time a base beside them. */
  public TestPublisher withDeltas(long seed) {
    deltas = new Random(seed);
    return this;
  }

  /** From now on manifests say that they are published at the time of this clock. */
  public TestPublisher publishingAt(LongSupplier newClock) {
    clock = newClock;
    return this;
  }

  /** From now on manifests expire so long after their publication. */
  public TestPublisher expiringAfterMillis(long millis) {
    expiryMillis = millis;
    return this;
  }

  /** Publishes window {@code sequence}, at whose end the set holds these canonical keys. */
  public Publication publish(long sequence, String... keys) {
    return publish(
        sequence,
        Arrays.stream(keys)
            .mapToLong(key -> keyHash.hash(key.getBytes(StandardCharsets.UTF_8)))
            .toArray());
  }

  /** Publishes window {@code sequence}, at whose end the set holds the keys of these hashes. */
  public Publication publish(long sequence, long[] hashes) {
    List<Entry> chunks = new ArrayList<>();
    for (int shard = 0; shard < shards.length; shard++) {
      chunks.addAll(cut(shard, sequence, hashes));
    }
    return new Publication(manifest(sequence), chunks, manifestEntry(sequence));
  }

  private Manifest manifest(long sequence) {
    long now = clock.getAsLong();
    return Manifest.of(
            setName,
            sequence,
            (sequence - 1) * WINDOW_MILLIS,
            sequence * WINDOW_MILLIS,
            parameters,
            List.of(shards))
        .withTimes(now, expiryMillis == null ? null : Long.valueOf(now + expiryMillis));
  }

  /** The manifest of the current shards. */
  public Entry manifestEntry(long sequence) {
    return new Entry(setName, manifest(sequence).toJson());
  }

  /** Cuts one shard's blob, if the shard changed, and returns its chunks. */
  public List<Entry> cut(int shard, long sequence, long[] hashes) {
    long[] own =
        LongStream.of(hashes)
            .filter(hash -> parameters.shards().shardOf(hash) == shard)
            .sorted()
            .distinct()
            .toArray();
    if (Arrays.equals(own, published[shard])) {
      return List.of();
    }
    published[shard] = own;
    SnapshotParameters of =
        new SnapshotParameters(
            parameters,
            setName,
            shard,
            sequence,
            (sequence - 1) * WINDOW_MILLIS,
            sequence * WINDOW_MILLIS);
    Snapshot parent = snapshots[shard];
    Snapshot child = child(own, parent, of);
    snapshots[shard] = child;
    List<BlobReference> chain = new ArrayList<>();
    List<Entry> chunks = new ArrayList<>();
    BlobReference base = shards[shard].base();
    boolean continues =
        deltas != null
            && parent != null
            && parent.header().universe().equals(child.header().universe());
    if (continues) {
      SnapshotDelta delta = SnapshotDelta.between(parent, child);
      chain.addAll(shards[shard].deltas());
      chain.add(BlobReference.to(delta));
      chunks.addAll(chunks(delta.digest(), delta.toBytes()));
    }
    if (!continues || deltas.nextInt(4) == 0) {
      base = BlobReference.to(child);
      chunks.addAll(chunks(base.digest(), child.toBytes()));
      // Consumers of an older set continue with the rest of the chain.
      chain = chain.subList(Math.max(0, chain.size() - 3), chain.size());
    }
    shards[shard] = new ManifestShard(shard, own.length, base, chain);
    return chunks;
  }

  /** A snapshot with its parent's range, if that is enough; else with room for as many keys. */
  private Snapshot child(long[] hashes, Snapshot parent, SnapshotParameters of) {
    if (deltas != null && parent != null) {
      try {
        return Snapshot.build(hashes, parent.header().universe(), of);
      } catch (IllegalArgumentException e) {
        // A base with a larger range must be cut.
      }
    }
    return Snapshot.build(hashes, parameters.universeFor(2L * hashes.length), of);
  }

  /** A blob as the topic holds it. */
  public static List<Entry> chunks(String digest, byte[] bytes) {
    List<Entry> chunks = new ArrayList<>();
    for (int index = 0; index < SnapshotTopicFormat.chunkCount(bytes.length); index++) {
      chunks.add(
          new Entry(
              SnapshotTopicFormat.chunkKey(digest, index),
              SnapshotTopicFormat.chunk(bytes, index)));
    }
    return chunks;
  }
}
