package io.firstseen.consumer.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.consumer.TestPublisher;
import io.firstseen.consumer.TestPublisher.Entry;
import io.firstseen.consumer.TestPublisher.Publication;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestShard;
import io.firstseen.filters.snapshot.Sha256;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDelta;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SnapshotAssemblerTest {
  // At 31.5 bits a key some 3.9 MB: five chunks.
  private static final long[] MANY = new Random(1).longs(1_000_000).toArray();

  private static final long[] SOME = new Random(2).longs(10_000).toArray();
  // A seed with which the publisher cuts no base beside the first delta.
  private static final long NO_NEW_BASE = 1;
  // A seed with none beside the second and third either.
  private static final long NO_NEW_BASES = 2;

  private final Following following = new Following();
  private final TestPublisher publisher = TestPublisher.of(Following.SET, 4);

  @Test
  void activatesWhatIsCompleteAndSound() throws Exception {
    following.read(publisher.publish(1, "a", "b").entries());
    assertThat(following.assembler.isLoading()).isTrue();
    following.settle();
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.contains("a")).isTrue();
    assertThat(following.contains("c")).isFalse();
    assertThat(following.assembler.isLoading()).isFalse();
    following.read(publisher.publish(2, "a", "c").entries()).settle();
    assertThat(following.contains("b")).isFalse();
    assertThat(following.contains("c")).isTrue();
    assertThat(following.refusals).isEmpty();
  }

  @Test
  void activatesASetThatNeverHeldAKey() throws Exception {
    following.read(publisher.publish(1).entries()).settle();
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.contains("a")).isFalse();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void chunksMayComeInAnyOrder(long seed) {
    Publication publication = TestPublisher.of(Following.SET, 1).publish(1, MANY);
    assertThat(publication.chunks()).hasSize(5);
    List<Entry> shuffled = new ArrayList<>(publication.entries());
    Collections.shuffle(shuffled, new Random(seed));
    following.read(shuffled).settle();
    assertThat(following.sequence()).isEqualTo(1);
    for (int i = 0; i < MANY.length; i += 1000) {
      assertThat(following.active.set().mightContain(MANY[i])).isTrue();
    }
  }

  @Test
  void aMissingChunkIsAwaitedQuietlyThenReportedOnceThenForgotten() {
    TestPublisher large = TestPublisher.of(Following.SET, 1);
    following.read(large.publish(1, "a").entries()).settle();
    Publication second = large.publish(2, MANY);
    List<Entry> chunks = new ArrayList<>(second.chunks());
    Entry late = chunks.remove(3);
    following.read(chunks).read(second.manifestEntry()).settle().settle();
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.refusals).isEmpty();

    following.waitForChunks().waitForChunks();
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.refusals)
        .singleElement()
        .asString()
        .startsWith(
            "sequence 2 of set 'spam' is incomplete after 30000 ms: 1 of its blobs are missing;"
                + " the first is ")
        .endsWith(", which lacks 1 of 5 chunks");
    assertThat(following.rereads).isEqualTo(1);

    following.read(late).settle();
    assertThat(following.sequence()).isEqualTo(2);
    assertThat(following.refusals).hasSize(1);
  }

  @Test
  void aManifestMayComeBeforeItsBlobs() throws Exception {
    Publication publication = publisher.publish(1, "a", "b", "c", "d", "e");
    following.read(publication.manifestEntry()).settle();
    assertThat(following.active).isNull();
    for (Entry chunk : publication.chunks()) {
      assertThat(following.active).isNull();
      following.read(chunk).settle();
    }
    assertThat(following.contains("a")).isTrue();
    assertThat(following.refusals).isEmpty();
  }

  @Test
  void readingAgainFindsAMissingChunkAndReportsNothingOfTheHistory() {
    Publication first = publisher.publish(1, "a");
    Publication second = publisher.publish(2, "a", "b");
    following.read(first.entries()).settle();
    following.read(second.manifestEntry()).waitForChunks();
    assertThat(following.rereads).isEqualTo(1);
    following.assembler.rewind();
    following.read(first.entries()).settle();
    assertThat(following.sequence()).isEqualTo(1);
    following.read(second.entries()).settle();
    assertThat(following.sequence()).isEqualTo(2);
    assertThat(following.refusals).hasSize(1);
  }

  @Test
  void readingAgainKeepsWhatWasDroppedTooSoon() {
    Publication publication = publisher.publish(1, "a");
    Entry unreadable = new Entry(Following.SET, new byte[] {'?'});
    List<Entry> topic = new ArrayList<>(publication.chunks());
    // Two manifests that cannot be read: enough to drop the chunks.
    topic.addAll(List.of(unreadable, unreadable, publication.manifestEntry()));
    following.read(topic).waitForChunks();
    assertThat(following.active).isNull();
    assertThat(following.rereads).isEqualTo(1);
    following.assembler.rewind();
    following.read(topic).settle();
    assertThat(following.sequence()).isEqualTo(1);
    // The control: without the wait before, reading twice does not help.
    Following control = new Following();
    control.read(topic).settle();
    control.assembler.rewind();
    assertThat(control.read(topic).settle().active).isNull();
  }

  @Test
  void aChunkThatIsGoneForGoodMakesTheTopicBeReadAgainOnlyOnce() {
    Publication first = publisher.publish(1, "a");
    Publication second = publisher.publish(2, "b");
    Publication third = publisher.publish(3, "c");
    for (int round = 0; round < 5; round++) {
      following.assembler.rewind();
      following.read(first.entries()).settle();
      following.read(second.manifestEntry(), third.manifestEntry()).waitForChunks();
    }
    assertThat(following.rereads).isEqualTo(2);
    assertThat(following.refusals).hasSize(2);
    assertThat(following.sequence()).isEqualTo(1);
  }

  @Test
  void aDamagedChunkIsReportedOnceAndHealedByAGoodOne() throws Exception {
    following.read(publisher.publish(1, "a").entries()).settle();
    Publication second = publisher.publish(2, "a", "b");
    Entry chunk = second.chunks().get(0);
    following.read(chunk.damaged()).read(second.manifestEntry()).settle().settle();
    following.read(chunk.damaged()).settle();
    following.waitForChunks();
    assertThat(following.rereads).isEqualTo(1);
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.contains("a")).isTrue();
    assertThat(following.refusals)
        .singleElement()
        .asString()
        .matches(
            "blob [0-9a-f]{64} of sequence 2 of set 'spam' is damaged: its bytes have the digest"
                + " [0-9a-f]{64}");
    following.read(chunk).settle();
    assertThat(following.sequence()).isEqualTo(2);
  }

  @Test
  void aChunkThatGoesMissingBesideADamagedOneIsReportedToo() {
    following.read(publisher.publish(1, "a").entries()).settle();
    Publication second = publisher.publish(2, "a", "b", "c", "d", "e");
    assertThat(second.chunks()).hasSizeGreaterThan(1);
    List<Entry> topic = new ArrayList<>(second.chunks());
    topic.set(0, topic.get(0).damaged());
    topic.add(second.manifestEntry());
    following.read(topic).waitForChunks();
    assertThat(following.refusals).singleElement().asString().contains("is damaged");
    assertThat(following.rereads).isEqualTo(1);
    topic.remove(1);
    for (int round = 0; round < 3; round++) {
      following.assembler.rewind();
      following.read(topic).waitForChunks();
    }
    assertThat(following.refusals)
        .hasSize(2)
        .last()
        .asString()
        .startsWith("sequence 2 of set 'spam' is incomplete after 30000 ms: 1 of its blobs are");
    // Once for each manifest: the missing chunks may have been dropped too early.
    assertThat(following.rereads).isEqualTo(2);
    assertThat(following.sequence()).isEqualTo(1);
  }

  @Test
  void aChunkOfTheWrongLengthIsDamageToo() {
    Publication first = publisher.publish(1, "a");
    Entry chunk = first.chunks().get(0);
    byte[] longer = new byte[chunk.value().length + 1];
    following.read(new Entry(chunk.key(), longer)).read(first.manifestEntry()).settle();
    assertThat(following.active).isNull();
    assertThat(following.refusals.get(0)).contains("is damaged: chunk 0 must have ");
    following.read(chunk).settle();
    assertThat(following.sequence()).isEqualTo(1);
  }

  @Test
  void aBlobThatKeepsItsDigestButIsNoSnapshotIsRefusedAndTheNextManifestTaken() {
    following.read(publisher.publish(1, "a").entries()).settle();
    Publication second = publisher.publish(2, "a", "b");
    byte[] bytes = second.chunks().get(0).damaged().value();
    following.read(withFirstBlob(second.manifest(), bytes)).settle().settle();
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.refusals)
        .singleElement()
        .asString()
        .startsWith("sequence 2 of set 'spam' cannot be used: blob ");
    assertThat(following.assembler.isLoading()).isFalse();
    following.read(second.chunks()).read(publisher.publish(3, "a", "b", "c").entries()).settle();
    assertThat(following.sequence()).isEqualTo(3);
    // The control: rebuilt in the same way from valid bytes, it is accepted.
    Following control = new Following();
    control.read(withFirstBlob(second.manifest(), second.chunks().get(0).value())).settle();
    control.read(publisher.publish(1, "a").entries()).read(second.entries()).settle();
    assertThat(control.sequence()).isEqualTo(2);
  }

  @Test
  void aSoundBlobOfAnotherSetIsRefused() {
    byte[] foreign = TestPublisher.of("other", 1).publish(1, "a").chunks().get(0).value();
    Manifest manifest = TestPublisher.of(Following.SET, 1).publish(1, "a").manifest();
    List<Entry> topic = withFirstBlob(manifest, foreign);
    // It is ignored, since its header names another set, until it is missing.
    following.read(topic).waitForChunks();
    assertThat(following.rereads).isEqualTo(1);
    following.assembler.rewind();
    following.read(topic).settle();
    assertThat(following.active).isNull();
    assertThat(following.refusals.get(1))
        .contains("must have the set name of the manifest, spam, got other");
  }

  @Test
  void aSetUnderAnotherHashKeyIsRefused() {
    TestPublisher other =
        new TestPublisher(Following.SET, KeyHash.sipHash24(new byte[16]), Canonicaliser.NONE, 4);
    following.read(publisher.publish(1, "a").entries()).settle();
    Publication second = other.publish(2, "a");
    following.read(second.entries()).settle().settle();
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.refusals)
        .singleElement()
        .asString()
        .startsWith("sequence 2 of set 'spam' cannot be used: the set is hashed by siphash-2-4 ");
    assertThat(following.assembler.isLoading()).isFalse();
    following.read(publisher.publish(3, "b").entries()).settle();
    assertThat(following.sequence()).isEqualTo(3);
    Following control = new Following(KeyHash.sipHash24(new byte[16]));
    control.read(second.entries()).settle();
    assertThat(control.sequence()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "not json",
        "{}",
        "{\"format\":2}",
      })
  void anUnreadableManifestIsReportedOnceAndTheNextOneTaken(String json) {
    following.read(publisher.publish(1, "a").entries()).settle();
    Entry unreadable = new Entry(Following.SET, json.getBytes(StandardCharsets.UTF_8));
    following.read(unreadable).settle().settle();
    following.read(unreadable).settle();
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.refusals)
        .singleElement()
        .asString()
        .startsWith("a manifest of set 'spam' cannot be read: ");
    following.read(publisher.publish(2, "b").entries()).settle();
    assertThat(following.sequence()).isEqualTo(2);
  }

  @Test
  void aPinnedSequenceIsTakenFromTheTopicAndLeftAgain() throws Exception {
    List<Entry> topic = new ArrayList<>();
    for (long sequence = 1; sequence <= 5; sequence++) {
      topic.addAll(publisher.publish(sequence, "key-" + sequence).entries());
    }
    following.read(topic).settle().pin(3).settle();
    assertThat(following.sequence()).isEqualTo(5);
    assertThat(following.rereads).isEqualTo(1);
    following.assembler.rewind();
    following.read(topic).settle();
    List<Entry> sixth = publisher.publish(6, "key-6").entries();
    following.read(sixth).settle();
    topic.addAll(sixth);
    assertThat(following.sequence()).isEqualTo(3);
    assertThat(following.contains("key-3")).isTrue();
    following.pin(-1).settle();
    assertThat(following.rereads).isEqualTo(2);
    following.assembler.rewind();
    following.read(topic).settle();
    assertThat(following.sequence()).isEqualTo(6);
    following.read(publisher.publish(7, "key-7").entries()).settle();
    assertThat(following.sequence()).isEqualTo(7);
    assertThat(following.refusals).isEmpty();
  }

  @Test
  void aPinnedSequenceThatIsLostIsReportedOnce() {
    following.read(publisher.publish(5, "a").entries()).settle().pin(3).settle();
    following.assembler.rewind();
    following.read(publisher.publish(6, "b").entries()).settle().settle();
    assertThat(following.sequence()).isEqualTo(5);
    assertThat(following.refusals)
        .containsExactly(
            "sequence 3 of set 'spam' is pinned and is not on the topic; sequence 5 goes on"
                + " answering");
  }

  @Test
  void goingBackIsRefusedAlsoAfterAPinWentBack() {
    Following pinning = new Following(KeyHash.fixed(), 1);
    pinning.read(publisher.publish(1, "a").entries()).settle();
    pinning.read(publisher.publish(5, "b").entries()).settle().pin(1);
    assertThat(pinning.sequence()).isEqualTo(1);
    pinning.pin(-1).settle();
    pinning.read(TestPublisher.of(Following.SET, 4).publish(3, "old").entries()).settle();
    assertThat(pinning.sequence()).isEqualTo(1);
    assertThat(pinning.refusals)
        .containsExactly("set 'spam' went back to sequence 3; sequence 1 goes on answering");
    pinning.read(TestPublisher.of(Following.SET, 4).publish(5, "fork").entries()).settle();
    assertThat(pinning.sequence()).isEqualTo(1);
    assertThat(pinning.refusals.get(1)).startsWith("sequence 5 of set 'spam' was published again");
  }

  @Test
  void onATopicCreatedAnewTheSequenceMayGoBackOnce() {
    following.read(publisher.publish(7, "a").entries()).settle();
    following.assembler.beginAnew();
    following.assembler.rewind();
    assertThat(following.sequence()).isEqualTo(7);
    following.read(TestPublisher.of(Following.SET, 4).publish(3, "new").entries()).settle();
    assertThat(following.sequence()).isEqualTo(3);
    following.read(TestPublisher.of(Following.SET, 4).publish(2, "old").entries()).settle();
    assertThat(following.sequence()).isEqualTo(3);
    assertThat(following.refusals)
        .containsExactly("set 'spam' went back to sequence 2; sequence 3 goes on answering");
  }

  @Test
  void whatIsReadAgainAndIsOlderThanWhatAnswersDidNotGoBack() {
    List<Entry> topic = new ArrayList<>(publisher.publish(1, "a").entries());
    topic.addAll(publisher.publish(2, "b").entries());
    following.read(topic).settle();
    following.assembler.rewind();
    following.read(topic).settle();
    assertThat(following.sequence()).isEqualTo(2);
    assertThat(following.refusals).isEmpty();
  }

  @Test
  void aManifestOfAnotherSetUnderThisNameIsRefused() {
    Publication other = TestPublisher.of("other", 4).publish(1, "a");
    following.read(other.chunks());
    following.read(new Entry(Following.SET, other.manifestEntry().value())).settle();
    assertThat(following.active).isNull();
    assertThat(following.refusals)
        .containsExactly("a manifest of set 'spam' cannot be read: it belongs to set 'other'");
  }

  @Test
  void goesOnByDeltasAndFetchesNothingElse() throws Exception {
    TestPublisher large = TestPublisher.of(Following.SET, 1).withDeltas(NO_NEW_BASE);
    Publication first = large.publish(1, SOME);
    following.read(first.entries()).settle();
    long fetched = following.assembler.fetchedBytes();
    Publication second = large.publish(2, withKey("new"));
    assertThat(second.manifest().shards().get(0).deltas()).hasSize(1);
    following.read(second.entries()).settle();
    assertThat(following.contains("new")).isTrue();
    assertThat(following.assembler.fetchedBytes() - fetched)
        .isEqualTo(second.manifest().shards().get(0).deltas().get(0).bytes())
        .isLessThan(fetched / 15);
    assertThat(following.changes).isEqualTo(new Decision.Changes(1, 0));
    // It equals, byte for byte, the set of a consumer that starts here.
    Following fresh = new Following();
    fresh.read(first.chunks()).read(second.entries()).settle();
    assertThat(following.active.set().snapshot(0).toBytes())
        .isEqualTo(fresh.active.set().snapshot(0).toBytes());
    assertThat(fresh.changes).isNull();
  }

  /** Empty sets of different ranges have different set digests, so the delta is not tried. */
  @Test
  void takesTheBaseWhereADeltaIsOfAnEmptySetOfAnotherRange() throws Exception {
    TestPublisher bases = TestPublisher.of(Following.SET, 1);
    following.read(bases.publish(1, "a").entries()).settle();
    following.read(bases.publish(2).entries()).settle();
    TestPublisher chain = TestPublisher.of(Following.SET, 1).withDeltas(NO_NEW_BASES);
    following.read(chain.publish(3, "b").chunks()).read(chain.publish(4).chunks());
    Publication fifth = chain.publish(5, "c");
    ManifestShard shard = fifth.manifest().shards().get(0);
    assertThat(shard.base().sequence()).isEqualTo(3);
    assertThat(shard.deltas()).hasSize(2);
    following.read(fifth.entries()).settle();
    assertThat(following.sequence()).isEqualTo(5);
    assertThat(following.contains("c")).isTrue();
    assertThat(following.contains("b")).isFalse();
    assertThat(following.refusals).isEmpty();
    assertThat(following.rereads).isZero();
  }

  @Test
  void takesTheBaseWhereTheDeltaIsMissingOrLeadsElsewhere() throws Exception {
    for (boolean isMissing : new boolean[] {true, false}) {
      TestPublisher large = TestPublisher.of(Following.SET, 1).withDeltas(NO_NEW_BASE);
      Following follower = new Following();
      follower.read(large.publish(1, SOME).entries()).settle();
      Publication second = large.publish(2, withKey("new"));
      BlobReference honest = second.manifest().shards().get(0).deltas().get(0);
      // A publisher's mistake: another delta under the name that the manifest gives.
      Publication other = TestPublisher.of(Following.SET, 1).publish(2, withKey("new"));
      BlobReference base = other.manifest().shards().get(0).base();
      BlobReference lying =
          new BlobReference(
              honest.digest(),
              honest.bytes(),
              base.count(),
              base.setDigest(),
              honest.parentSetDigest(),
              honest.sequence());
      ManifestShard shard = new ManifestShard(0, base.count(), base, List.of(lying));
      follower.read(other.chunks());
      if (!isMissing) {
        Entry damaged = second.chunks().get(0).damaged();
        follower.read(damaged);
      }
      follower.read(manifestEntry(second.manifest(), List.of(shard))).settle();
      assertThat(follower.sequence()).isEqualTo(2);
      assertThat(follower.contains("new")).isTrue();
      assertThat(follower.refusals).hasSize(isMissing ? 0 : 1);
    }
  }

  @Test
  void takesTheBaseWhereASoundDeltaLeadsElsewhereThanTheManifestSays() throws Exception {
    TestPublisher large = TestPublisher.of(Following.SET, 1).withDeltas(NO_NEW_BASE);
    following.read(large.publish(1, SOME).entries()).settle();
    Publication second = large.publish(2, withKey("new"));
    BlobReference honest = second.manifest().shards().get(0).deltas().get(0);
    Publication other = TestPublisher.of(Following.SET, 1).publish(2, withKey("other"));
    BlobReference base = other.manifest().shards().get(0).base();
    BlobReference lying =
        new BlobReference(
            honest.digest(),
            honest.bytes(),
            base.count(),
            base.setDigest(),
            honest.parentSetDigest(),
            honest.sequence());
    ManifestShard shard = new ManifestShard(0, base.count(), base, List.of(lying));
    following.read(other.chunks()).read(second.chunks());
    following.read(manifestEntry(second.manifest(), List.of(shard))).settle();
    assertThat(following.contains("other")).isTrue();
    assertThat(following.contains("new")).isFalse();
    assertThat(following.refusals)
        .singleElement()
        .asString()
        .startsWith(
            "sequence 2 of set 'spam' cannot be reached by deltas, so the full one is taken");
  }

  @Test
  void refusesAForkedChainAndTakesTheFullOne() throws Exception {
    // Both begin alike; the second one's delta changes what this follower never held.
    TestPublisher fork = TestPublisher.of(Following.SET, 1).withDeltas(NO_NEW_BASE);
    following.read(TestPublisher.of(Following.SET, 1).publish(1, SOME).entries()).settle();
    List<Entry> topic = new ArrayList<>(fork.publish(1, withKey("fork")).chunks());
    Publication second = fork.publish(2, withKey("fork-2"));
    topic.addAll(second.entries());
    following.read(topic).settle();
    assertThat(following.sequence()).isEqualTo(2);
    assertThat(following.contains("fork-2")).isTrue();
    assertThat(following.contains("fork")).isFalse();
    // The control: if the delta had been applied to the held set, this would differ.
    SnapshotDelta delta = SnapshotDelta.read(second.chunks().get(0).value());
    Snapshot held =
        Snapshot.read(TestPublisher.of(Following.SET, 1).publish(1, SOME).chunks().get(0).value());
    assertThatThrownBy(() -> delta.applyTo(held)).isInstanceOf(SnapshotException.class);
  }

  @Test
  void manifestsMustBeSignedByATrustedKey() throws Exception {
    SigningKey trusted = SigningKey.generate();
    SigningKey strange = SigningKey.generate();
    Following careful =
        Following.with(Set.of(trusted.publicKey()), new BlobSource(null, null, true));
    Publication first = publisher.publish(1, "a");
    careful.read(first.chunks());
    careful.read(new Entry(Following.SET, trusted.sign(first.manifest()).toJson())).settle();
    assertThat(careful.sequence()).isEqualTo(1);
    Publication second = publisher.publish(2, "b");
    Manifest forged = second.manifest().withSignature(trusted.sign(first.manifest()).signature());
    careful.read(second.entries()).settle();
    careful.read(new Entry(Following.SET, strange.sign(second.manifest()).toJson())).settle();
    careful.read(new Entry(Following.SET, forged.toJson())).settle();
    assertThat(careful.sequence()).isEqualTo(1);
    assertThat(careful.refusals)
        .containsExactly(
            "a manifest of set 'spam' cannot be read: the manifest has no signature",
            "a manifest of set 'spam' cannot be read: the manifest is signed by the key "
                + strange.publicKey().id()
                + ", which is not trusted",
            "a manifest of set 'spam' cannot be read: the manifest is not what the key "
                + trusted.publicKey().id()
                + " signed");
    // The control: without trusted keys it is accepted.
    following.read(first.chunks()).read(second.chunks());
    following.read(new Entry(Following.SET, forged.toJson())).settle();
    assertThat(following.sequence()).isEqualTo(2);
    careful.read(second.chunks());
    careful.read(new Entry(Following.SET, trusted.sign(second.manifest()).toJson())).settle();
    assertThat(careful.sequence()).isEqualTo(2);
  }

  private static long[] withKey(String key) {
    long[] hashes = Arrays.copyOf(SOME, SOME.length + 1);
    hashes[SOME.length] = TestPublisher.hash(key);
    return hashes;
  }

  @Test
  void aSequenceThatWentBackIsRefused() throws Exception {
    Publication third = TestPublisher.of(Following.SET, 4).publish(3, "old");
    following.read(publisher.publish(7, "a").entries()).settle();
    following.read(third.entries()).settle();
    assertThat(following.sequence()).isEqualTo(7);
    assertThat(following.contains("a")).isTrue();
    assertThat(following.refusals)
        .containsExactly("set 'spam' went back to sequence 3; sequence 7 goes on answering");
    following.read(publisher.publish(8, "b").entries()).settle();
    assertThat(following.sequence()).isEqualTo(8);
    // The control: without an active snapshot no sequence is a step back.
    assertThat(new Following().read(third.entries()).settle().sequence()).isEqualTo(3);
  }

  @Test
  void goingBackIsSeenAlsoIfBothManifestsCameAtOnce() {
    following.read(publisher.publish(7, "a").entries());
    following.read(TestPublisher.of(Following.SET, 4).publish(3, "old").entries()).settle();
    assertThat(following.sequence()).isEqualTo(7);
    assertThat(following.refusals)
        .containsExactly("set 'spam' went back to sequence 3; sequence 7 goes on answering");
  }

  /** A fresh client, and manifests that were signed once and are published again. */
  @Test
  void theHighestOfReplayedSignedManifestsAnswers() throws Exception {
    SigningKey key = SigningKey.generate();
    for (boolean isDeletedBetween : new boolean[] {false, true}) {
      Following fresh = Following.with(Set.of(key.publicKey()), new BlobSource(null, null, true));
      Publication fifth = TestPublisher.of(Following.SET, 4).publish(5, "new");
      fresh.read(signed(fifth, key));
      if (isDeletedBetween) {
        fresh.read(fifth.manifestEntry().tombstone());
      }
      fresh.read(signed(TestPublisher.of(Following.SET, 4).publish(2, "old"), key));
      fresh.read(signed(TestPublisher.of(Following.SET, 4).publish(3, "old"), key));
      // Higher, but of a key that is not trusted.
      Publication forged = TestPublisher.of(Following.SET, 4).publish(9, "forged");
      fresh.read(signed(forged, SigningKey.generate())).settle();
      assertThat(fresh.sequence()).isEqualTo(5);
      assertThat(fresh.contains("new")).isTrue();
      assertThat(fresh.contains("old")).isFalse();
      assertThat(fresh.refusals)
          .hasSize(3)
          .contains(
              "set 'spam' went back to sequence 3; sequence 5 goes on answering",
              "set 'spam' went back to sequence 2; sequence 5 goes on answering");
      fresh.read(signed(TestPublisher.of(Following.SET, 4).publish(6, "newer"), key)).settle();
      assertThat(fresh.sequence()).isEqualTo(6);
    }
  }

  @Test
  void theHighestAnswersAlsoWithoutTrustedKeysUnlessItWasDeleted() {
    Publication fifth = publisher.publish(5, "new");
    List<Entry> lower =
        new ArrayList<>(TestPublisher.of(Following.SET, 4).publish(2, "old").entries());
    lower.addAll(TestPublisher.of(Following.SET, 4).publish(3, "old").entries());
    following.read(fifth.entries()).read(lower).settle();
    assertThat(following.sequence()).isEqualTo(5);
    Following after = new Following();
    after.read(fifth.entries()).read(fifth.manifestEntry().tombstone()).read(lower).settle();
    assertThat(after.sequence()).isEqualTo(3);
  }

  @Test
  void theNextHighestAnswersWhileBlobsOfTheHighestAreLacking() {
    Publication fifth = publisher.publish(5, "newest");
    following.read(TestPublisher.of(Following.SET, 4).publish(4, "newer").entries());
    following.read(fifth.manifestEntry());
    following.read(TestPublisher.of(Following.SET, 4).publish(2, "old").entries());
    following.read(TestPublisher.of(Following.SET, 4).publish(3, "old").entries()).settle();
    assertThat(following.sequence()).isEqualTo(4);
    following.waitForChunks();
    assertThat(following.refusals)
        .hasSize(3)
        .last()
        .asString()
        .startsWith("sequence 5 of set 'spam' is incomplete after 30000 ms: 1 of its blobs are");
    following.read(fifth.chunks()).settle();
    assertThat(following.sequence()).isEqualTo(5);
  }

  @Test
  void sequencesWithoutBlobsDoNotKeepLowerOnesFromAnswering() {
    for (long forged = 1_000_001; forged <= 1_000_003; forged++) {
      following.read(TestPublisher.of(Following.SET, 4).publish(forged, "forged").manifestEntry());
    }
    for (long sequence = 1; sequence <= 5; sequence++) {
      following.read(publisher.publish(sequence, "key-" + sequence).entries()).settle();
      assertThat(following.sequence()).isEqualTo(sequence);
    }
    assertThat(following.refusals).isEmpty();
  }

  private static List<Entry> signed(Publication publication, SigningKey key) throws Exception {
    List<Entry> entries = new ArrayList<>(publication.chunks());
    entries.add(new Entry(Following.SET, key.sign(publication.manifest()).toJson()));
    return entries;
  }

  @Test
  void aSequenceWithTwoContentsIsRefusedAndWithOneIsNot() throws Exception {
    Publication first = publisher.publish(1, "a");
    following.read(first.entries()).settle().read(first.entries()).settle();
    assertThat(following.refusals).isEmpty();
    following.read(TestPublisher.of(Following.SET, 4).publish(1, "other").entries()).settle();
    assertThat(following.contains("a")).isTrue();
    assertThat(following.refusals)
        .containsExactly(
            "sequence 1 of set 'spam' was published again with other content; the first goes on"
                + " answering");
  }

  @Test
  void aNewManifestSupersedesOneThatWaits() {
    following.read(publisher.publish(1, "a").entries()).settle();
    Publication second = publisher.publish(2, "b");
    following.read(second.manifestEntry()).settle();
    following.read(publisher.publish(3, "c").entries()).settle();
    assertThat(following.sequence()).isEqualTo(3);
    assertThat(following.assembler.isLoading()).isFalse();
    following.read(second.chunks()).waitForChunks();
    assertThat(following.sequence()).isEqualTo(3);
    assertThat(following.refusals).isEmpty();
  }

  @Test
  void theSecondNewestIsTakenWhileTheNewestWaits() {
    following.read(publisher.publish(1, "a").entries()).settle();
    Publication second = publisher.publish(2, "b");
    following.read(second.manifestEntry()).settle();
    Publication third = publisher.publish(3, "c");
    following.read(third.manifestEntry()).settle();
    following.read(second.chunks()).settle();
    assertThat(following.sequence()).isEqualTo(2);
    following.read(third.chunks()).settle();
    assertThat(following.sequence()).isEqualTo(3);
  }

  @Test
  void aFreshClientFallsBackToTheSecondNewestIfTheNewestIsBad() {
    Publication first = publisher.publish(1, "a");
    Publication second = publisher.publish(2, "b");
    following.read(first.entries());
    following.read(second.chunks().get(0).damaged()).read(second.manifestEntry()).settle();
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.refusals).hasSize(1);
  }

  @Test
  void historyIsNotJudged() {
    TestPublisher oneShard = TestPublisher.of(Following.SET, 1);
    List<Entry> history = new ArrayList<>();
    for (long sequence = 1; sequence <= 9; sequence++) {
      Publication publication = oneShard.publish(sequence, "key-" + sequence);
      // Compaction has removed all blobs but the newest one's.
      history.addAll(sequence == 9 ? publication.entries() : List.of(publication.manifestEntry()));
      history.add(new Entry(Following.SET, new byte[] {'?'}));
      history.add(publication.manifestEntry());
    }
    following.read(history).waitForChunks();
    assertThat(following.sequence()).isEqualTo(9);
    assertThat(following.refusals).isEmpty();
  }

  @Test
  void setsAreToldApart() throws Exception {
    TestPublisher other = TestPublisher.of("other", 4);
    for (long sequence = 1; sequence <= 5; sequence++) {
      List<Entry> ours = publisher.publish(sequence, "ours-" + sequence).entries();
      List<Entry> theirs = other.publish(10 * sequence, "theirs-" + sequence).entries();
      for (int i = 0; i < Math.max(ours.size(), theirs.size()); i++) {
        following.read(i < theirs.size() ? List.of(theirs.get(i)) : List.of());
        following.read(i < ours.size() ? List.of(ours.get(i)) : List.of());
      }
      following.settle();
      assertThat(following.sequence()).isEqualTo(sequence);
      assertThat(following.contains("ours-" + sequence)).isTrue();
      assertThat(following.contains("theirs-" + sequence)).isFalse();
    }
    assertThat(following.refusals).isEmpty();
  }

  @Test
  void recordsThatAreNothingArePassedOver() {
    byte[] noise = {1, 2, 3};
    following.read(
        new Entry("unknown-set", noise),
        new Entry("unknown-set", null),
        new Entry("a".repeat(64) + "/x", noise),
        new Entry("a/0", noise),
        new Entry("", noise));
    following.read(publisher.publish(1, "a").entries()).waitForChunks();
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.refusals).isEmpty();
  }

  @Test
  void tombstonesTakeWhatWaitsButNotWhatAnswers() throws Exception {
    Publication first = publisher.publish(1, "a");
    following.read(first.entries()).settle();
    first.chunks().forEach(chunk -> following.read(chunk.tombstone()));
    following.settle();
    assertThat(following.contains("a")).isTrue();

    Publication second = publisher.publish(2, "b", "c", "d");
    following.read(second.chunks()).read(second.chunks().get(0).tombstone());
    following.read(second.manifestEntry()).waitForChunks();
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.refusals.get(0)).startsWith("sequence 2 of set 'spam' is incomplete");
    following.read(second.chunks().get(0)).settle();
    assertThat(following.sequence()).isEqualTo(2);
  }

  @Test
  void aDeletedManifestIsReportedAndTheLastGoodSnapshotStays() throws Exception {
    Publication first = publisher.publish(1, "a");
    following.read(first.entries()).settle();
    following.read(first.manifestEntry().tombstone()).settle().settle();
    assertThat(following.contains("a")).isTrue();
    assertThat(following.refusals)
        .containsExactly("the manifest of set 'spam' was deleted from the topic");
    following.read(publisher.publish(2, "b").entries()).settle();
    assertThat(following.sequence()).isEqualTo(2);
  }

  @Test
  void unchangedBlobsAreLoadedOnce() {
    Publication first = publisher.publish(1, "a", "b", "c", "d", "e", "f");
    following.read(first.entries()).settle();
    var before = following.active.set();
    Publication second = publisher.publish(2, "a", "b", "c", "d", "e", "f", "g");
    assertThat(second.chunks()).hasSize(1);
    following.read(second.entries()).settle();
    int same = 0;
    for (int shard = 0; shard < 4; shard++) {
      Snapshot snapshot = following.active.set().snapshot(shard);
      same += snapshot == before.snapshot(shard) ? 1 : 0;
    }
    assertThat(same).isEqualTo(3);
  }

  @Test
  void nothingPilesUp() {
    String[] keys = {"a", "b", "c", "d", "e", "f"};
    TestPublisher other = TestPublisher.of("other", 4);
    TestPublisher unfinished = TestPublisher.of("unfinished", 4);
    TestPublisher rekeyed =
        new TestPublisher(Following.SET, KeyHash.xxh3(1), Canonicaliser.NONE, 4);
    long most = 0;
    for (long sequence = 1; sequence <= 50; sequence++) {
      for (int i = 0; i < keys.length; i++) {
        keys[i] = keys[i] + sequence;
      }
      following.read(other.publish(sequence, keys).entries());
      following.read(unfinished.publish(sequence, "x" + sequence).chunks());
      // Never complete, refused, unreadable in turn; the tenth is good.
      if (sequence % 10 == 0) {
        following.read(publisher.publish(sequence, keys).entries()).settle();
        assertThat(following.sequence()).isEqualTo(sequence);
      } else if (sequence % 3 == 0) {
        Publication incomplete = publisher.publish(sequence, keys);
        following.read(incomplete.entries().subList(1, incomplete.entries().size()));
      } else if (sequence % 3 == 1) {
        following.read(rekeyed.publish(sequence, keys).entries());
      } else {
        following.read(publisher.publish(sequence, keys).chunks());
        following.read(new Entry(Following.SET, new byte[] {'?'}));
      }
      following.settle();
      most = Math.max(most, following.assembler.bufferedBytes());
    }
    long oneSnapshot = 0;
    for (Entry chunk : TestPublisher.of(Following.SET, 4).publish(1, keys).chunks()) {
      oneSnapshot += chunk.value().length;
    }
    // About 200 were published; at most two candidates and the blobs after the newest are kept.
    assertThat(most).isBetween(1L, 4 * oneSnapshot);
  }

  @Test
  void blobsOfTheNextWindowMayComeBeforeTheManifestOfThisOne() {
    Publication first = publisher.publish(1, "a");
    Publication second = publisher.publish(2, "b");
    Publication third = publisher.publish(3, "c");
    following.read(first.chunks()).read(second.chunks()).read(third.chunks());
    following.read(first.manifestEntry()).settle();
    following.read(second.manifestEntry()).settle();
    following.read(third.manifestEntry()).settle();
    assertThat(following.sequence()).isEqualTo(3);
    assertThat(following.assembler.bufferedBytes()).isZero();
  }

  /** A held window has blobs but no manifest. */
  @Test
  void ofHeldWindowsTheNewestBlobsAreKeptAndSuffice() throws Exception {
    TestPublisher holding = TestPublisher.of(Following.SET, 2).withDeltas(NO_NEW_BASE);
    following.read(holding.publish(1, SOME).entries()).settle();
    Publication newest = null;
    long most = 0;
    long all = 0;
    for (long sequence = 2; sequence <= 500; sequence++) {
      newest = holding.publish(sequence, withKey("new-" + sequence));
      following.read(newest.chunks()).settle();
      all += newest.chunks().stream().mapToLong(chunk -> chunk.value().length).sum();
      if (sequence == 200) {
        most = following.assembler.bufferedBytes();
      }
    }
    assertThat(following.assembler.bufferedBytes()).isBetween(1L, most * 5 / 4).isLessThan(all / 3);
    following.read(newest.manifestEntry()).settle();
    assertThat(following.sequence()).isEqualTo(500);
    assertThat(following.contains("new-500")).isTrue();
    assertThat(following.contains("new-499")).isFalse();
    assertThat(following.refusals).isEmpty();
    assertThat(following.rereads).isZero();
    assertThat(following.assembler.bufferedBytes()).isZero();
  }

  @Test
  void whatAWaitingManifestNamesIsKeptWhileHeldWindowsFollow() throws Exception {
    TestPublisher holding = TestPublisher.of(Following.SET, 2);
    long ofOtherShard = Long.MIN_VALUE;
    Publication waiting = holding.publish(1, new long[] {0, ofOtherShard});
    assertThat(waiting.chunks()).hasSize(2);
    following.read(waiting.chunks().get(1), waiting.manifestEntry());
    for (long sequence = 2; sequence <= ChunkSelection.MAX_UNNAMED + 2; sequence++) {
      following.read(holding.publish(sequence, new long[] {0, ofOtherShard + sequence}).chunks());
    }
    following.read(waiting.chunks().get(0)).settle();
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.refusals).isEmpty();
  }

  /** As from a publisher with longer chains. */
  @Test
  void whatWasDroppedBeforeItsManifestCameIsReadAgain() throws Exception {
    Publication early = TestPublisher.of(Following.SET, 1).publish(1, "a");
    List<Entry> topic = new ArrayList<>(early.chunks());
    TestPublisher another = TestPublisher.of(Following.SET, 1);
    for (long sequence = 2; sequence <= ChunkSelection.MAX_UNNAMED + 1; sequence++) {
      topic.addAll(another.publish(sequence, "a", "b" + sequence).chunks());
    }
    topic.add(early.manifestEntry());
    following.read(topic).settle();
    assertThat(following.active).isNull();
    following.waitForChunks();
    assertThat(following.rereads).isEqualTo(1);
    following.assembler.rewind();
    following.read(topic).settle();
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.contains("a")).isTrue();
  }

  /** Chunks of blobs that no manifest names. */
  private static List<Entry> unnamed(int count, int bytes) {
    List<Entry> chunks = new ArrayList<>();
    byte[] value = new byte[bytes];
    for (int i = 0; i < count; i++) {
      String digest = Sha256.hex(("unnamed " + i).getBytes(StandardCharsets.UTF_8));
      chunks.add(new Entry(SnapshotTopicFormat.chunkKey(digest, 0), value));
    }
    return chunks;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 1_000, 90_000})
  void whatNoManifestNamesIsKeptWithinTheBound(int bytes) {
    Following bounded = Following.within(100_000);
    long most = 0;
    for (Entry chunk : unnamed(2_000, bytes)) {
      bounded.read(chunk);
      most = Math.max(most, bounded.assembler.bufferedBytes());
    }
    // Each chunk counts with 512 bytes more.
    assertThat(most).isLessThanOrEqualTo(100_000L * bytes / (bytes + 512));
    assertThat(bounded.assembler.bufferedBytes()).isGreaterThanOrEqualTo(most * 3 / 4);
    bounded.read(publisher.publish(1, "a").entries()).settle();
    assertThat(bounded.sequence()).isEqualTo(1);
    assertThat(bounded.rereads).isZero();
    // The control: without a bound all of them are kept.
    following.read(unnamed(2_000, bytes));
    assertThat(following.assembler.bufferedBytes()).isEqualTo(2_000L * bytes);
  }

  @Test
  void ofHeldWindowsTheNewestBlobsAreKeptWithinTheBound() throws Exception {
    Following bounded = Following.within(300_000);
    TestPublisher holding = TestPublisher.of(Following.SET, 4);
    Publication newest = null;
    for (long sequence = 1; sequence <= 100; sequence++) {
      newest = holding.publish(sequence, new Random(sequence).longs(10_000).toArray());
      bounded.read(newest.chunks()).settle();
      assertThat(bounded.assembler.bufferedBytes()).isBetween(1L, 300_000L);
    }
    bounded.read(newest.manifestEntry()).settle();
    assertThat(bounded.sequence()).isEqualTo(100);
    assertThat(bounded.rereads).isZero();
    assertThat(bounded.assembler.takeNotice())
        .hasValue(
            "chunks on the topic of set 'spam' that no manifest has named took more than 300000"
                + " bytes, so the oldest were dropped; the topic is read again if a manifest names"
                + " them: raise maxUnnamedBytes if it often is");
    assertThat(bounded.assembler.takeNotice()).isEmpty();
  }

  @Test
  void whatWasDroppedAtTheBoundIsReadAgainAtOnceWhenAManifestNamesIt() throws Exception {
    Following bounded = Following.within(100_000);
    Publication first = publisher.publish(1, "a");
    List<Entry> topic = new ArrayList<>(first.chunks());
    topic.addAll(unnamed(200, 1_000));
    topic.add(first.manifestEntry());
    bounded.read(topic).settle();
    assertThat(bounded.active).isNull();
    assertThat(bounded.rereads).isEqualTo(1);
    bounded.assembler.rewind();
    bounded.read(topic).settle();
    assertThat(bounded.sequence()).isEqualTo(1);
    assertThat(bounded.contains("a")).isTrue();
    // Also while a snapshot answers.
    Publication second = publisher.publish(2, "a", "b");
    topic.addAll(second.chunks());
    topic.addAll(unnamed(200, 1_000));
    topic.add(second.manifestEntry());
    bounded.read(topic.subList(topic.size() - 202, topic.size())).settle();
    assertThat(bounded.sequence()).isEqualTo(1);
    assertThat(bounded.rereads).isEqualTo(2);
    bounded.assembler.rewind();
    bounded.read(topic).settle();
    assertThat(bounded.sequence()).isEqualTo(2);
    assertThat(bounded.rereads).isEqualTo(2);
    assertThat(bounded.refusals).isEmpty();
  }

  @Test
  void theBoundDropsNothingThatAManifestNames() {
    Following bounded = Following.within(100_000);
    Publication large = TestPublisher.of(Following.SET, 1).publish(1, MANY);
    assertThat(large.chunks()).hasSize(5);
    bounded.read(large.manifestEntry()).read(large.chunks().subList(0, 4));
    bounded.read(unnamed(500, 1_000)).read(large.chunks().get(4));
    assertThat(bounded.assembler.bufferedBytes()).isGreaterThan(3_000_000);
    bounded.settle();
    assertThat(bounded.sequence()).isEqualTo(1);
    assertThat(bounded.rereads).isZero();
    assertThat(bounded.assembler.bufferedBytes()).isLessThanOrEqualTo(100_000);
  }

  @Test
  void aFreshClientWaitsOnceForWhatWasDroppedOfTheHighest() {
    Following bounded = Following.within(100_000);
    Publication fifth = TestPublisher.of(Following.SET, 4).publish(5, "new");
    Publication sixth = TestPublisher.of(Following.SET, 4).publish(6, "newer");
    List<Entry> topic = new ArrayList<>(fifth.chunks());
    topic.addAll(unnamed(200, 1_000));
    topic.add(fifth.manifestEntry());
    topic.addAll(TestPublisher.of(Following.SET, 4).publish(3, "old").entries());
    bounded.read(topic).settle();
    assertThat(bounded.active).isNull();
    assertThat(bounded.rereads).isEqualTo(1);
    // Meanwhile the same happens to the next: then what is complete answers.
    topic.addAll(sixth.chunks());
    topic.addAll(unnamed(200, 1_000));
    topic.add(sixth.manifestEntry());
    bounded.assembler.rewind();
    bounded.read(topic).settle();
    assertThat(bounded.sequence()).isEqualTo(5);
    assertThat(bounded.rereads).isEqualTo(2);
    bounded.assembler.rewind();
    bounded.read(topic).settle();
    assertThat(bounded.sequence()).isEqualTo(6);
    assertThat(bounded.rereads).isEqualTo(2);
  }

  /** A manifest whose first blob is replaced by other bytes under their digest, and those bytes. */
  private static List<Entry> withFirstBlob(Manifest manifest, byte[] bytes) {
    String digest = Sha256.hex(bytes);
    List<ManifestShard> shards = new ArrayList<>(manifest.shards());
    for (int i = 0; i < shards.size(); i++) {
      BlobReference base = shards.get(i).base();
      if (base != null) {
        BlobReference replaced =
            new BlobReference(
                digest, bytes.length, base.count(), base.setDigest(), base.sequence());
        shards.set(i, ManifestShard.of(i, shards.get(i).count(), replaced));
        break;
      }
    }
    List<Entry> entries = new ArrayList<>(TestPublisher.chunks(digest, bytes));
    entries.add(manifestEntry(manifest, shards));
    return entries;
  }

  private static Entry manifestEntry(Manifest manifest, List<ManifestShard> shards) {
    Manifest changed =
        Manifest.of(
            manifest.setName(),
            manifest.sequence(),
            manifest.windowStartMillis(),
            manifest.windowEndMillis(),
            manifest.parameters(),
            shards);
    return new Entry(manifest.setName(), changed.toJson());
  }
}
