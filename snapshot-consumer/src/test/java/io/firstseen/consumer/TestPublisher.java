package io.firstseen.consumer;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.Base;
import io.firstseen.filters.snapshot.BaseList;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.Pack;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.ShardTree;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Makes the records of a snapshots topic, by the rules of the jobs. */
public final class TestPublisher {
  /** The length of a window. */
  public static final long WINDOW_MILLIS = 1000;

  private static final double RATE = 1e-9;
  private static final int MIN_KEPT = 2;

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

    /** The digest of the blob whose chunk this is. */
    public String digest() {
      return key.substring(0, key.indexOf('/'));
    }
  }

  /**
   * The records that one window adds to the topic.
   *
   * @param bases the chunks of new bases and of a new list of them
   * @param pack the chunks of the pack; none if nothing changed
   */
  public record Publication(
      Manifest manifest, List<Entry> bases, List<Entry> pack, Entry manifestEntry) {

    /** The records of all blobs in order. */
    public List<Entry> chunks() {
      return Stream.concat(bases.stream(), pack.stream()).toList();
    }

    /** All records in order. */
    public List<Entry> entries() {
      return Stream.concat(chunks().stream(), Stream.of(manifestEntry)).toList();
    }

    /** The records of the first partition of a topic with two. */
    public List<Entry> withoutBases() {
      return Stream.concat(pack.stream(), Stream.of(manifestEntry)).toList();
    }
  }

  /** A shard: its set, its newest base, and what followed that. */
  private static final class Shard {
    private @Nullable Snapshot snapshot;
    private @Nullable BlobReference base;
    private final List<Section> sections = new ArrayList<>();
  }

  /** A pack that is kept, and the bytes of all packs up to it. */
  private record Kept(BlobReference pack, long sequence, long end) {}

  private final String setName;
  private final KeyHash keyHash;
  private final SetParameters parameters;
  private final Shard[] shards;
  private final Deque<Kept> kept = new ArrayDeque<>();
  private @Nullable BlobReference list;
  private long listSequence;
  private long basesBytes;
  private long packsSince;
  private long packBytes;
  private LongSupplier clock = () -> 0;
  private @Nullable Long expiryMillis;

  /** Makes a publisher of an empty set. */
  public TestPublisher(
      String setName, KeyHash keyHash, Canonicaliser canonicaliser, int shardCount) {
    this.setName = setName;
    this.keyHash = keyHash;
    this.parameters = SetParameters.of(keyHash, canonicaliser, new Shards(shardCount), RATE);
    this.shards = new Shard[shardCount];
    Arrays.setAll(shards, shard -> new Shard());
  }

  /** Makes a publisher of a set under the fixed key. */
  public static TestPublisher of(String setName, int shardCount) {
    return new TestPublisher(setName, KeyHash.fixed(), Canonicaliser.NONE, shardCount);
  }

  /** The hash of a canonical key under the fixed key. */
  public static long hash(String key) {
    return KeyHash.fixed().hash(key.getBytes(StandardCharsets.UTF_8));
  }

  /** Sets the clock of the publication times of later manifests. */
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
    long[][] ofShards = new long[shards.length][hashes.length];
    int[] counts = new int[shards.length];
    for (long hash : hashes) {
      int shard = parameters.shards().shardOf(hash);
      ofShards[shard][counts[shard]++] = hash;
    }
    List<Entry> bases = new ArrayList<>();
    SortedMap<Integer, Section> sections = new TreeMap<>();
    for (int shard = 0; shard < shards.length; shard++) {
      int number = shard;
      change(shard, sequence, Arrays.copyOf(ofShards[shard], counts[shard]), bases)
          .ifPresent(section -> sections.put(number, section));
    }
    List<Entry> pack = sections.isEmpty() ? List.of() : chunks(pack(sequence, sections, bases));
    return new Publication(manifest(sequence), bases, pack, manifestEntry(sequence));
  }

  private Optional<Section> change(int number, long sequence, long[] own, List<Entry> bases) {
    Shard shard = shards[number];
    Snapshot before = shard.snapshot;
    if (before == null && own.length == 0) {
      return Optional.empty();
    }
    Snapshot after = build(own, before, ofShard(number, sequence));
    if (before != null && before.header().setDigest().equals(after.header().setDigest())) {
      return Optional.empty();
    }
    Section section = before == null ? Section.whole(after) : Section.between(before, after);
    shard.snapshot = after;
    shard.sections.add(section);
    long since = shard.sections.stream().mapToLong(Section::length).sum();
    if (section.isWhole() || since > shard.base.bytes() / 8) {
      byte[] base = Base.write(setName, number, Section.whole(after));
      shard.base = BlobReference.to(base);
      shard.sections.clear();
      bases.addAll(chunks(base));
    }
    return Optional.of(section);
  }

  /** A snapshot with its parent's universe, if that is enough; else with room for as many keys. */
  private Snapshot build(long[] hashes, @Nullable Snapshot before, SnapshotParameters of) {
    if (before != null) {
      try {
        return Snapshot.build(hashes, before.header().universe(), of);
      } catch (IllegalArgumentException e) {
        // A new universe is needed.
      }
    }
    return Snapshot.build(hashes, parameters.universeFor(2L * hashes.length), of);
  }

  private SnapshotParameters ofShard(int shard, long sequence) {
    return new SnapshotParameters(
        parameters,
        setName,
        shard,
        sequence,
        (sequence - 1) * WINDOW_MILLIS,
        sequence * WINDOW_MILLIS);
  }

  private byte[] pack(long sequence, SortedMap<Integer, Section> sections, List<Entry> bases) {
    boolean isListed = list == null || isListOld(packOf(sequence, sections).toBytes().length);
    if (isListed) {
      byte[] bytes = new BaseList(setName, sequence, listed()).toBytes();
      list = BlobReference.to(bytes);
      listSequence = sequence;
      basesBytes = bytes.length + listedBases().mapToLong(BlobReference::bytes).sum();
      packsSince = 0;
      bases.addAll(chunks(bytes));
    }
    while (kept.size() > MIN_KEPT
        && kept.getFirst().sequence <= listSequence
        && packBytes - keptFrom() > basesBytes) {
      kept.removeFirst();
    }
    byte[] pack = packOf(sequence, sections).toBytes();
    packBytes += pack.length;
    packsSince += isListed ? 0 : pack.length;
    kept.addLast(new Kept(BlobReference.to(pack), sequence, packBytes));
    return pack;
  }

  private boolean isListOld(long bytes) {
    return packsSince + bytes > basesBytes / 8;
  }

  private List<BaseList.Shard> listed() {
    return Arrays.stream(shards)
        .map(
            shard ->
                shard.base == null
                    ? BaseList.Shard.NONE
                    : new BaseList.Shard(shard.base, shard.sections))
        .toList();
  }

  private Stream<BlobReference> listedBases() {
    return Arrays.stream(shards).map(shard -> shard.base).filter(base -> base != null);
  }

  private Pack packOf(long sequence, SortedMap<Integer, Section> sections) {
    BlobReference before = kept.isEmpty() ? null : kept.getLast().pack;
    return new Pack(setName, sequence, before, keptFrom(), list, basesBytes, packsSince, sections);
  }

  private long keptFrom() {
    return kept.isEmpty() ? 0 : kept.getFirst().end - kept.getFirst().pack.bytes();
  }

  private Manifest manifest(long sequence) {
    long now = clock.getAsLong();
    List<ShardTree.Leaf> leaves = new ArrayList<>();
    long count = 0;
    for (Shard shard : shards) {
      leaves.add(ShardTree.Leaf.of(shard.snapshot));
      count += shard.snapshot == null ? 0 : shard.snapshot.header().hashCount();
    }
    return Manifest.of(
            setName,
            sequence,
            (sequence - 1) * WINDOW_MILLIS,
            sequence * WINDOW_MILLIS,
            parameters,
            count,
            ShardTree.root(leaves),
            kept.isEmpty() ? null : kept.getLast().pack,
            packBytes)
        .withTimes(now, expiryMillis == null ? null : Long.valueOf(now + expiryMillis));
  }

  /** The manifest of the current shards. */
  public Entry manifestEntry(long sequence) {
    return entry(manifest(sequence));
  }

  /** A manifest as the topic holds it. */
  public static Entry entry(Manifest manifest) {
    return new Entry(manifest.setName(), manifest.toBytes());
  }

  /** A blob as the topic holds it. */
  public static List<Entry> chunks(byte[] bytes) {
    String digest = BlobReference.to(bytes).digest();
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
