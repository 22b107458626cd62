package io.firstseen.operators.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.BaseList;
import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestBlobs;
import io.firstseen.filters.snapshot.MissingBlobsException;
import io.firstseen.filters.snapshot.Pack;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.serializers.SnapshotRecord;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
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
   * A manifest as its readers see it.
   *
   * @param set loaded by the bases
   * @param named the digests of the blobs that readers may need
   */
  record Published(Manifest manifest, SnapshotSet set, Set<String> named) {

    long sequence() {
      return manifest.sequence();
    }

    long windowEndMillis() {
      return manifest.windowEndMillis();
    }

    /** The snapshot of a shard; null if it never had a key. */
    Snapshot shard(int number) {
      return set.snapshot(number);
    }
  }

  private static final int LARGE = 2_000;

  private final Map<String, byte[]> blobs = new HashMap<>();
  private final Set<String> sent = new HashSet<>();
  // All packs in the order in which they were published.
  private final List<String> packs = new ArrayList<>();
  // The sections of these packs.
  private final List<Section> sections = new ArrayList<>();
  private final Set<String> inUse = new HashSet<>();
  private final List<Published> manifests = new ArrayList<>();
  private int followed;

  PublishedSets add(List<SnapshotRecord> records) throws Exception {
    for (SnapshotRecord record : records) {
      switch (record.kind()) {
        case BLOB -> addBlob(record);
        case REMOVAL -> remove(record);
        case IN_USE -> {
          inUse.clear();
          inUse.addAll(record.digestsInUse());
          assertThat(blobs.keySet()).as("what is in use after a start").containsAll(inUse);
        }
        case MANIFEST -> {
          Manifest manifest = Manifest.read(record.value());
          assertThat(record.key()).isEqualTo(manifest.setName());
          assertThat(record.value()).isEqualTo(manifest.toBytes());
          addManifest(manifest);
        }
      }
    }
    return this;
  }

  private void addBlob(SnapshotRecord record) throws Exception {
    assertThat(record.key()).isEqualTo(sha256(record.value()));
    BlobFrame.Kind kind = kindOf(record.value());
    boolean isNew = sent.add(record.key());
    blobs.put(record.key(), record.value());
    if (kind == BlobFrame.Kind.PACK) {
      packs.add(record.key());
      Pack pack = Pack.read(ByteBuffer.wrap(record.value()), setName(record.value()), 1 << 16);
      sections.addAll(pack.sections().values());
    }
    assertThat(isNew || kind == BlobFrame.Kind.BASE)
        .as("only a base may be as an earlier one")
        .isTrue();
  }

  /** The content of a blob. */
  static BlobFrame.Kind kindOf(byte[] blob) {
    return BlobFrame.peek(ByteBuffer.wrap(blob)).orElseThrow().kind();
  }

  private static String setName(byte[] blob) {
    return BlobFrame.peek(ByteBuffer.wrap(blob)).orElseThrow().setName();
  }

  private void remove(SnapshotRecord record) {
    assertThat(named(1)).as("removed while in use").doesNotContain(record.key());
    byte[] removed = blobs.remove(record.key());
    assertThat(removed).hasSize((int) record.removedBytes());
    assertThat(kindOf(removed)).isEqualTo(record.removedKind());
  }

  private void addManifest(Manifest manifest) throws Exception {
    CatchUp byBases = CatchUp.to(manifest, List.of(), this::blob);
    assertThat(byBases.refusal()).isNull();
    SnapshotSet set = byBases.set();
    set.verify();
    ManifestBlobs reader = new ManifestBlobs(manifest, this::blob);
    Set<String> named = new TreeSet<>(reader.named().keySet());
    assertThat(blobs.keySet()).containsAll(named);
    if (manifests.isEmpty()) {
      assertThat(inUse).as("comes before the first manifest").containsAll(named);
    }
    if (manifest.pack() != null) {
      assertThat(packs).as("the newest pack").endsWith(manifest.pack().digest());
      Pack newest = reader.newestPack();
      checkBytes(manifest, newest, reader.baseList(newest));
      checkFollowers(manifest, newest, set);
    }
    manifests.add(new Published(manifest, set, named));
  }

  /**
   * A reader by bases loads at most 5/4 of the bytes of the bases: 9/8 with the sections of the
   * list, and 10/9 of that with the packs since. The numbers in the list come on top, and so does
   * the first pack that names the list.
   */
  private static void checkBytes(Manifest manifest, Pack newest, BaseList list) {
    long bases = list.bases().stream().mapToLong(BlobReference::bytes).sum();
    assertThat(newest.basesBytes()).isEqualTo(newest.bases().bytes() + bases);
    long packs = newest.packsSince() == 0 ? 0 : newest.packsSince() + manifest.pack().bytes();
    long numbers = 45L * list.shards().size() + 30;
    assertThat(4 * (newest.basesBytes() + packs))
        .as("bytes by bases")
        .isLessThanOrEqualTo(5 * (bases + numbers));
    for (BaseList.Shard shard : list.shards()) {
      long sections = shard.sections().stream().mapToLong(Section::length).sum();
      assertThat(8 * sections).isLessThanOrEqualTo(shard.base() == null ? 0 : shard.base().bytes());
    }
  }

  /**
   * Lets readers follow from all earlier manifests from which the packs are kept; of a large set
   * only from the first and the last of them. That all values agree follows from the root.
   */
  private void checkFollowers(Manifest manifest, Pack newest, SnapshotSet set) throws Exception {
    List<Published> followers =
        manifests.stream()
            .filter(held -> held.manifest.packBytes() >= newest.keptFrom())
            .filter(held -> held.manifest.packBytes() < manifest.packBytes())
            .toList();
    if (followers.size() > 2 && manifest.count() > LARGE) {
      followers = List.of(followers.get(0), followers.get(followers.size() - 1));
    }
    for (Published held : followers) {
      CatchUp follower = CatchUp.to(manifest, List.of(held.set), this::blob);
      assertThat(follower.refusal()).isNull();
      followed += follower.way() == CatchUp.Way.PACKS ? 1 : 0;
      for (int shard = 0; shard < manifest.parameters().shards().count(); shard++) {
        assertThat(hashCount(follower.set(), shard)).isEqualTo(hashCount(set, shard));
      }
    }
  }

  /** The number of hashes of a shard; -1 if it never had a key. */
  private static long hashCount(SnapshotSet set, int shard) {
    Snapshot snapshot = set.snapshot(shard);
    return snapshot == null ? -1 : snapshot.header().hashCount();
  }

  private ByteBuffer blob(BlobReference reference) throws MissingBlobsException {
    byte[] bytes = blobs.get(reference.digest());
    if (bytes == null) {
      throw new MissingBlobsException(List.of(reference));
    }
    return ByteBuffer.wrap(bytes);
  }

  List<Published> manifests() {
    return manifests;
  }

  /** The newest manifest. */
  Published newest() {
    return manifests.get(manifests.size() - 1);
  }

  /** The newest pack of all, also if it is of a held window. */
  Pack newestPack() throws Exception {
    Manifest manifest = newest().manifest();
    return Pack.read(
        ByteBuffer.wrap(blobs.get(packs.get(packs.size() - 1))),
        manifest.setName(),
        manifest.parameters().shards().count());
  }

  /** The list of bases that the newest pack names. */
  BaseList newestList() throws Exception {
    Manifest manifest = newest().manifest();
    return BaseList.read(
        blob(newestPack().bases()), manifest.setName(), manifest.parameters().shards().count());
  }

  /** The sequence of the newest manifest, 0 if there is none. */
  long lastSequence() {
    return manifests.isEmpty() ? 0 : newest().sequence();
  }

  /** The digests of what has been published and not removed. */
  Set<String> kept() {
    return blobs.keySet();
  }

  /** The kinds of these blobs. */
  List<BlobFrame.Kind> kinds(Set<String> digests) {
    return digests.stream().map(digest -> kindOf(blobs.get(digest))).toList();
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
      named.addAll(manifests.get(i).named);
    }
    return named;
  }

  /** The sections of all packs. */
  List<Section> sections() {
    return sections;
  }

  /** How often a reader of an earlier manifest got to a later one by packs. */
  int followed() {
    return followed;
  }

  List<Long> windowEnds() {
    return manifests.stream().map(Published::windowEndMillis).toList();
  }

  /** Which of these hashes the newest manifest answers by 'present'. */
  Set<Long> present(Iterable<Long> hashes) {
    Set<Long> present = new TreeSet<>();
    for (long hash : hashes) {
      if (newest().set.mightContain(hash)) {
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
    assertThat(sections).hasSize(model.changes());
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
      SnapshotSpec spec, Published found, int shard, Set<Long> expected) {
    Snapshot snapshot = found.shard(shard);
    if (expected == null) {
      assertThat(snapshot).isNull();
      return;
    }
    int count = expected.size();
    assertThat(snapshot.header().hashCount()).isEqualTo(count);
    assertThat(mostKeys(snapshot, spec.setParameters().falsePositiveRate()))
        .isGreaterThanOrEqualTo(count);
    int shardBits = new Shards(spec.snapshotShards()).bits();
    BigInteger range = range(snapshot);
    TreeSet<Long> values = new TreeSet<>();
    for (long hash : expected) {
      BigInteger suffix = new BigInteger(Long.toUnsignedString(hash << shardBits));
      values.add(suffix.multiply(range).shiftRight(64).longValueExact());
    }
    assertThat(values(snapshot).equals(List.copyOf(values))).isTrue();
    long[] hashes = expected.stream().mapToLong(hash -> hash).toArray();
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

  /** Returns the publications of these records, with manifests without times. */
  static List<SnapshotRecord> withoutTimes(List<SnapshotRecord> records) throws SnapshotException {
    List<SnapshotRecord> without = new ArrayList<>();
    for (SnapshotRecord record : records) {
      if (record.kind() == SnapshotRecord.Kind.MANIFEST) {
        byte[] content = Manifest.read(record.value()).content().toBytes();
        without.add(new SnapshotRecord(record.kind(), record.key(), content));
      } else if (record.kind() != SnapshotRecord.Kind.IN_USE) {
        without.add(record);
      }
    }
    return without;
  }
}
