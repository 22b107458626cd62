package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.CatchUp.Changes;
import io.firstseen.filters.snapshot.CatchUp.Way;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CatchUpTest {
  private static final SetParameters PARAMETERS =
      SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(4), 0.001);

  private final SplittableRandom random = new SplittableRandom(308);
  private final PublishedSet publisher = new PublishedSet("test", PARAMETERS);
  private final TreeSet<Long> live = new TreeSet<>();
  private final List<SnapshotSet> sets = new ArrayList<>();

  /** Publishes a window in which so many hashes go and so many come. */
  private SnapshotSet window(int gone, int come) throws SnapshotException {
    List<Long> old = new ArrayList<>(live);
    for (int i = 0; i < gone; i++) {
      live.remove(old.get(random.nextInt(old.size())));
    }
    for (int i = 0; i < come; i++) {
      live.add(random.nextLong());
    }
    return publish();
  }

  private SnapshotSet publish() throws SnapshotException {
    Manifest manifest = publisher.window(sets.size(), live);
    sets.add(SnapshotSet.of(manifest, publisher.snapshots()));
    return newest();
  }

  private SnapshotSet newest() {
    return sets.get(sets.size() - 1);
  }

  private CatchUp from(SnapshotSet... held) throws IOException {
    return CatchUp.to(newest().manifest(), List.of(held), publisher);
  }

  private void assertReached(CatchUp reached, Way way) throws SnapshotException {
    assertThat(reached.way()).isEqualTo(way);
    assertThat(reached.set().manifest()).isEqualTo(newest().manifest());
    assertThat(digests(reached.set())).isEqualTo(digests(newest()));
    reached.set().verify();
    assertThat(live).allMatch(reached.set()::mightContain);
  }

  private static List<String> digests(SnapshotSet set) {
    return Arrays.stream(set.snapshots())
        .map(snapshot -> snapshot == null ? null : snapshot.header().setDigest())
        .toList();
  }

  private long bytesOf(List<BlobReference> blobs) {
    return blobs.stream().mapToLong(BlobReference::bytes).sum();
  }

  @Test
  void goesByPacksFromTheWindowBefore() throws Exception {
    window(0, 4000);
    SnapshotSet held = window(3, 5);
    SnapshotSet next = window(2, 7);
    CatchUp reached = from(held);
    assertReached(reached, Way.PACKS);
    assertThat(reached.bytes()).isEqualTo(next.manifest().pack().bytes());
    assertThat(reached.changes()).isEqualTo(new Changes(7, 2));
    assertThat(reached.refusal()).isNull();
    for (int shard = 0; shard < 4; shard++) {
      assertThat(reached.set().snapshot(shard).toBytes()).isEqualTo(next.snapshot(shard).toBytes());
    }
  }

  @Test
  void keepsTheSnapshotsOfShardsThatDidNotChange() throws Exception {
    window(0, 4000);
    SnapshotSet held = newest();
    live.add(2L << 62);
    publish();
    CatchUp reached = from(held);
    assertReached(reached, Way.PACKS);
    assertThat(reached.changes()).isEqualTo(new Changes(1, 0));
    for (int shard : new int[] {0, 1, 3}) {
      assertThat(reached.set().snapshot(shard)).isSameAs(held.snapshot(shard));
    }
  }

  @Test
  void loadsNothingWhereNothingChanged() throws Exception {
    window(0, 400);
    SnapshotSet held = newest();
    window(0, 0);
    assertThat(newest().manifest().pack()).isEqualTo(held.manifest().pack());
    CatchUp reached =
        CatchUp.to(
            newest().manifest(),
            List.of(held),
            blob -> {
              throw new AssertionError("nothing is needed");
            });
    assertReached(reached, Way.NOTHING);
    assertThat(reached.bytes()).isZero();
    assertThat(reached.changes()).isEqualTo(new Changes(0, 0));
    assertThat(reached.set().snapshot(0)).isSameAs(held.snapshot(0));
  }

  /** The set came back to what it was, although packs stand between. */
  @Test
  void loadsNothingWhereTheSetIsTheSameAgain() throws Exception {
    window(0, 400);
    SnapshotSet held = newest();
    live.add(7L);
    publish();
    live.remove(7L);
    publish();
    assertReached(from(held, sets.get(1)), Way.NOTHING);
  }

  @Test
  void aSetThatNeverHeldAKeyNeedsNoBlob() throws Exception {
    publish();
    assertThat(newest().manifest().pack()).isNull();
    CatchUp reached = from();
    assertReached(reached, Way.BASES);
    assertThat(reached.bytes()).isZero();
    assertThat(reached.set().mightContain(0)).isFalse();
    assertReached(from(newest()), Way.NOTHING);
  }

  @Test
  void goesByPacksFromASetThatNeverHeldAKey() throws Exception {
    SnapshotSet nothing = publish();
    // So few that pack, list and bases are more than the pack alone.
    window(0, 3);
    CatchUp reached = from(nothing);
    assertReached(reached, Way.PACKS);
    assertThat(reached.changes()).as("whole sets").isNull();
    assertThat(reached.bytes()).isEqualTo(newest().manifest().packBytes());
  }

  @ParameterizedTest
  @CsvSource({"1, 5", "10, 5", "100, 50"})
  void takesTheCheaperWayHoweverLongItWasAway(int away, int changed) throws Exception {
    window(0, 2000);
    for (int i = 0; i < 30; i++) {
      window(5, 5);
    }
    SnapshotSet held = newest();
    for (int i = 0; i < away; i++) {
      window(changed, changed);
    }
    CatchUp reached = from(held);
    assertReached(reached, away < 100 ? Way.PACKS : Way.BASES);
    long byPacks = newest().manifest().packBytes() - held.manifest().packBytes();
    CatchUp anew = from();
    assertReached(anew, Way.BASES);
    if (away < 100) {
      assertThat(reached.bytes()).isEqualTo(byPacks).isLessThanOrEqualTo(anew.bytes());
      assertThat(reached.changes().added()).isBetween((long) away, 5L * away);
    } else {
      assertThat(reached.bytes()).isEqualTo(anew.bytes()).isLessThan(byPacks);
      assertThat(reached.changes()).isNull();
    }
    assertThat(reached.refusal()).isNull();
  }

  /** By bases it loads the newest pack, the list, its bases, and the packs since the list. */
  @Test
  void knowsTheBytesOfBothWaysBefore() throws Exception {
    window(0, 2000);
    for (int i = 0; i < 60; i++) {
      window(5, 5);
      Pack newest = new ManifestBlobs(newest().manifest(), publisher).newestPack();
      long expected =
          newest.basesBytes() + newest.packsSince() + newest().manifest().pack().bytes();
      assertThat(from().bytes()).isEqualTo(expected);
      assertThat(newest.basesBytes())
          .isEqualTo(publisher.listReference().bytes() + bytesOf(publisher.list().bases()));
    }
  }

  @Test
  void takesTheNearestOfTheHeldSets() throws Exception {
    window(0, 2000);
    for (int i = 0; i < 5; i++) {
      window(5, 5);
    }
    CatchUp reached = from(sets.get(1), sets.get(4), sets.get(2));
    assertReached(reached, Way.PACKS);
    assertThat(reached.bytes()).isEqualTo(newest().manifest().pack().bytes());
  }

  @Test
  void countsRequests() throws Exception {
    window(0, 400);
    publisher.newList = (since, bytes) -> false;
    publisher.newBase = (since, bytes) -> false;
    SnapshotSet held = newest();
    for (int i = 0; i < 10; i++) {
      window(0, 1);
    }
    assertReached(from(held), Way.PACKS);
    // 10 packs against 4 bases.
    long spared = new ManifestBlobs(newest().manifest(), publisher).newestPack().basesBytes();
    assertReached(from(held, spared / 6 - 10), Way.PACKS);
    assertReached(from(held, spared), Way.BASES);
  }

  private CatchUp from(SnapshotSet held, long requestBytes) throws IOException {
    BlobLoader slow =
        new BlobLoader() {
          @Override
          public ByteBuffer load(BlobReference blob) throws IOException {
            return publisher.load(blob);
          }

          @Override
          public long requestBytes() {
            return requestBytes;
          }
        };
    return CatchUp.to(newest().manifest(), List.of(held), slow);
  }

  /** Simulates a copy of a set whose manifest names an object store for its blobs. */
  @Test
  void oldPacksMayBeOutOfReach() throws Exception {
    window(0, 1000);
    for (int i = 0; i < 5; i++) {
      window(1, 1);
    }
    Manifest manifest = newest().manifest();
    Set<String> all = new ManifestBlobs(manifest, publisher).named().keySet();
    BlobLoader withoutOldPacks =
        blob -> {
          ByteBuffer bytes = publisher.load(blob);
          if (!blob.equals(manifest.pack())
              && BlobFrame.peek(bytes).orElseThrow().kind() == BlobFrame.Kind.PACK) {
            throw new OutOfReachException("an old pack");
          }
          return bytes;
        };
    assertThat(new ManifestBlobs(manifest, withoutOldPacks).named())
        .containsKey(manifest.pack().digest())
        .hasSizeLessThan(all.size());
  }

  /** Those that are not needed are not there, whatever way and whatever window. */
  @Test
  void needsNoBlobThatIsNotNamed() throws Exception {
    window(0, 1000);
    int byPacks = 0;
    int byBases = 0;
    for (int i = 0; i < 200; i++) {
      window(random.nextInt(10), random.nextInt(10));
      Manifest manifest = newest().manifest();
      assertThat(new ManifestBlobs(manifest, publisher).named().keySet())
          .isEqualTo(publisher.needed());
      BlobLoader needed =
          blob -> {
            if (!publisher.needed().contains(blob.digest())) {
              throw new AssertionError("not needed any more: " + blob);
            }
            return publisher.load(blob);
          };
      SnapshotSet held = sets.get(random.nextInt(sets.size() - 1));
      CatchUp reached = CatchUp.to(manifest, List.of(held), needed);
      assertThat(digests(reached.set())).isEqualTo(digests(newest()));
      assertThat(reached.refusal()).isNull();
      byPacks += reached.way() == Way.PACKS ? 1 : 0;
      byBases += reached.way() == Way.BASES ? 1 : 0;
    }
    assertThat(byPacks).isGreaterThan(20);
    assertThat(byBases).isGreaterThan(20);
  }

  @Test
  void takesTheBasesIfAPackIsMissing() throws Exception {
    window(0, 2000);
    SnapshotSet held = newest();
    window(1, 1);
    BlobReference missing = newest().manifest().pack();
    publisher.newList = (since, bytes) -> true;
    window(1, 1);
    window(1, 1);
    publisher.blobs().remove(missing.digest());
    CatchUp reached = from(held);
    assertReached(reached, Way.BASES);
    assertThat(reached.changes()).isNull();
    assertThat(reached.refusal()).isEqualTo("blob " + missing.digest() + " is missing");
  }

  /** Simulates HTTP, where only status 404 means that the blob is missing. */
  @Test
  void takesTheBasesIfAPackCannotBeLoaded() throws Exception {
    window(0, 2000);
    SnapshotSet held = newest();
    window(1, 1);
    BlobReference unreadable = newest().manifest().pack();
    publisher.newList = (since, bytes) -> true;
    window(1, 1);
    BlobLoader loader =
        blob -> {
          if (blob.equals(unreadable)) {
            throw new IOException("status 403");
          }
          return publisher.load(blob);
        };
    CatchUp reached = CatchUp.to(newest().manifest(), List.of(held), loader);
    assertReached(reached, Way.BASES);
    assertThat(reached.refusal()).isEqualTo("status 403");

    publisher.blobs().remove(publisher.list().bases().get(0).digest());
    assertThatThrownBy(() -> CatchUp.to(newest().manifest(), List.of(held), loader))
        .as("the packs may be loaded later")
        .isExactlyInstanceOf(IOException.class)
        .hasMessage("status 403");
  }

  @Test
  void takesTheBasesIfAPackIsDamaged() throws Exception {
    window(0, 2000);
    SnapshotSet held = newest();
    window(1, 1);
    BlobReference damaged = newest().manifest().pack();
    publisher.newList = (since, bytes) -> true;
    window(1, 1);
    publisher.blobs().get(damaged.digest())[50] ^= 1;
    CatchUp reached = from(held);
    assertReached(reached, Way.BASES);
    assertThat(reached.refusal())
        .startsWith("blob " + damaged.digest() + " is damaged: its bytes have the digest ");
  }

  @Test
  void takesTheBasesFromAForkedChain() throws Exception {
    window(0, 2000);
    PublishedSet other = new PublishedSet("test", PARAMETERS);
    SnapshotSet fork = SnapshotSet.of(other.window(0, live), other.snapshots());
    assertThat(fork.manifest().pack())
        .as("the same until now")
        .isEqualTo(newest().manifest().pack());
    Set<Long> otherwise = new HashSet<>(live);
    otherwise.add(5L);
    fork = SnapshotSet.of(other.window(1, otherwise), other.snapshots());
    publisher.newList = (since, bytes) -> true;
    for (int i = 0; i < 3; i++) {
      window(1, 1);
    }
    CatchUp reached = from(fork);
    assertReached(reached, Way.BASES);
    assertThat(reached.refusal()).isEqualTo("the packs do not lead back to the held set");
  }

  @Test
  void namesAllBlobsThatAreMissingOnBothWays() throws Exception {
    window(0, 2000);
    SnapshotSet held = newest();
    window(1, 1);
    BlobReference pack = newest().manifest().pack();
    publisher.newList = (since, bytes) -> true;
    window(1, 1);
    List<BlobReference> bases = publisher.list().bases().subList(1, 3);
    publisher.blobs().remove(pack.digest());
    bases.forEach(base -> publisher.blobs().remove(base.digest()));
    assertThatThrownBy(() -> from(held))
        .isInstanceOfSatisfying(
            MissingBlobsException.class,
            e -> assertThat(e.blobs()).containsExactly(pack, bases.get(0), bases.get(1)))
        .hasMessageContainingAll("3 blobs", pack.digest());
    assertThatThrownBy(this::from)
        .isInstanceOfSatisfying(
            MissingBlobsException.class,
            e -> assertThat(e.blobs()).containsExactlyElementsOf(bases));
  }

  @Test
  void namesAPackThatBothWaysNeedOnce() throws Exception {
    window(0, 2000);
    SnapshotSet held = newest();
    window(1, 1);
    BlobReference between = newest().manifest().pack();
    window(1, 1);
    publisher.blobs().remove(between.digest());
    assertThatThrownBy(() -> from(held))
        .isInstanceOfSatisfying(
            MissingBlobsException.class, e -> assertThat(e.blobs()).containsExactly(between));
    BlobReference newest = newest().manifest().pack();
    publisher.blobs().remove(newest.digest());
    assertThatThrownBy(() -> from(held))
        .isInstanceOf(MissingBlobsException.class)
        .hasMessageContainingAll(newest.digest(), "missing");
  }

  @Test
  void whatTheLoaderCannotLoadIsNotHidden() throws Exception {
    window(0, 100);
    assertThatThrownBy(
            () ->
                CatchUp.to(
                    newest().manifest(),
                    List.of(),
                    blob -> {
                      throw new IOException("the disk is broken");
                    }))
        .isExactlyInstanceOf(IOException.class)
        .hasMessage("the disk is broken");
  }

  @Test
  void refusesAnotherRootOrCount() throws Exception {
    window(0, 2000);
    SnapshotSet held = newest();
    window(2, 3);
    Manifest good = newest().manifest();
    String root = held.manifest().root();
    for (List<SnapshotSet> from : List.of(List.of(held), List.<SnapshotSet>of())) {
      assertThatThrownBy(
              () ->
                  CatchUp.to(forged(good, good.count(), Sha256.hex(new byte[1])), from, publisher))
          .isExactlyInstanceOf(MalformedSnapshotException.class)
          .hasMessageStartingWith("the shards must have the root of the manifest, ");
      assertThatThrownBy(
              () -> CatchUp.to(forged(good, good.count() + 1, good.root()), from, publisher))
          .isExactlyInstanceOf(MalformedSnapshotException.class)
          .hasMessageContainingAll(
              "count", String.valueOf(good.count() + 1), "got " + good.count());
    }
    // The root of the held set with another count is not the held set.
    assertThatThrownBy(() -> CatchUp.to(forged(good, good.count(), root), List.of(held), publisher))
        .isExactlyInstanceOf(MalformedSnapshotException.class);
    Manifest nothing = new PublishedSet("test", PARAMETERS).window(0, List.of());
    assertThatThrownBy(
            () ->
                CatchUp.to(
                    Manifest.of("test", 0, 0, 1, PARAMETERS, 0, good.root(), null, 0),
                    List.of(),
                    publisher))
        .isExactlyInstanceOf(MalformedSnapshotException.class);
    assertThat(CatchUp.to(nothing, List.of(held), publisher).set().mightContain(0)).isFalse();
  }

  private static Manifest forged(Manifest manifest, long count, String root) {
    return Manifest.of(
        "test",
        manifest.sequence(),
        manifest.windowStartMillis(),
        manifest.windowEndMillis(),
        PARAMETERS,
        count,
        root,
        manifest.pack(),
        manifest.packBytes());
  }

  /** The position of the held set lies, so that its packs seem to be few. */
  @Test
  void aHeldSetOfAWrongPositionIsLeftAside() throws Exception {
    window(0, 2000);
    SnapshotSet held = newest();
    publisher.newList = (since, bytes) -> true;
    window(1, 1);
    window(1, 1);
    Manifest lying =
        Manifest.of(
            "test",
            1,
            0,
            1,
            PARAMETERS,
            held.manifest().count(),
            held.manifest().root(),
            held.manifest().pack(),
            newest().manifest().packBytes() - newest().manifest().pack().bytes());
    CatchUp reached = from(SnapshotSet.of(lying, held.snapshots()));
    assertReached(reached, Way.BASES);
    assertThat(reached.refusal()).isEqualTo("the packs do not lead back to the held set");
  }

  @Test
  void doesNotGoBackNorFromOtherSets() throws Exception {
    window(0, 2000);
    SnapshotSet first = newest();
    PublishedSet renamed = new PublishedSet("other", PARAMETERS);
    renamed.window(0, live);
    SnapshotSet later = window(1, 1);
    CatchUp back = CatchUp.to(first.manifest(), List.of(later), publisher);
    assertThat(back.way()).isEqualTo(Way.BASES);
    assertThat(back.refusal()).isNull();
    assertThat(digests(back.set())).isEqualTo(digests(first));
    SnapshotSet same = SnapshotSet.of(renamed.window(1, live), renamed.snapshots());
    assertThat(same.manifest().root()).isEqualTo(later.manifest().root());
    assertReached(from(same), Way.BASES);
    SetParameters coarse =
        SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(4), 0.01);
    PublishedSet coarser = new PublishedSet("test", coarse);
    SnapshotSet ofOtherRate = SnapshotSet.of(coarser.window(0, live), coarser.snapshots());
    assertReached(from(ofOtherRate), Way.BASES);
  }

  /** A list of bases that comes from another chain gives another root. */
  @Test
  void refusesAListThatDoesNotFitThePacks() throws Exception {
    window(0, 1000);
    window(3, 3);
    Manifest good = newest().manifest();
    Pack newest = new ManifestBlobs(good, publisher).newestPack();
    for (long sequence : new long[] {0, 1, 2}) {
      BaseList list = new BaseList("test", sequence, Collections.nCopies(4, BaseList.Shard.NONE));
      BlobReference reference = publisher.put(list.toBytes());
      Pack pack =
          new Pack(
              "test",
              newest.sequence(),
              newest.before(),
              newest.keptFrom(),
              reference,
              reference.bytes(),
              0,
              newest.sections());
      BlobReference ofPack = publisher.put(pack.toBytes());
      Manifest forged =
          Manifest.of(
              "test", 1, 0, 1, PARAMETERS, good.count(), good.root(), ofPack, good.packBytes());
      assertThatThrownBy(() -> CatchUp.to(forged, List.of(), publisher))
          .isExactlyInstanceOf(MalformedSnapshotException.class)
          .hasMessageContaining(
              switch ((int) sequence) {
                case 0 -> "the section changes a set, but there is no previous set";
                case 1 -> "the shards must have the root of the manifest";
                default -> "the list of bases must be of a sequence below 1, got 2";
              });
    }
  }

  @Test
  void verifyLoadsWhatIsNamed() throws Exception {
    window(0, 1000);
    window(3, 3);
    window(3, 3);
    Manifest manifest = newest().manifest();
    ManifestBlobs.verify(manifest, publisher);
    for (BlobReference each : publisher.list().bases()) {
      byte[] blob = publisher.blobs().remove(each.digest());
      assertThatThrownBy(() -> ManifestBlobs.verify(manifest, publisher))
          .isInstanceOf(MissingBlobsException.class);
      publisher.blobs().put(each.digest(), blob);
    }
    publisher.blobs().get(publisher.keptPacks().get(0).digest())[60] ^= 1;
    assertThatThrownBy(() -> ManifestBlobs.verify(manifest, publisher))
        .isExactlyInstanceOf(MalformedSnapshotException.class)
        .hasMessageContaining("is damaged");
  }
}
