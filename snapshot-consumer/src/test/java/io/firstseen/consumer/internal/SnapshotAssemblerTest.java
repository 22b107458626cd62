package io.firstseen.consumer.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.consumer.TestPublisher;
import io.firstseen.consumer.TestPublisher.Entry;
import io.firstseen.consumer.TestPublisher.Publication;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestBlobs;
import io.firstseen.filters.snapshot.Sha256;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SnapshotAssemblerTest {
  // At 31.5 bits per key about 3.9 MB: five chunks.
  private static final long[] MANY = new Random(1).longs(1_000_000).toArray();

  private static final long[] SOME = new Random(2).longs(10_000).toArray();
  private static final long[] FEW = Arrays.copyOf(SOME, 2_000);
  private static final long[] MANY_LESS = new Random(3).longs(9_000).toArray();
  private static final Publication OF_MANY = TestPublisher.of(Following.SET, 1).publish(1, MANY);

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
    assertThat(OF_MANY.pack()).hasSize(5);
    List<Entry> shuffled = new ArrayList<>(OF_MANY.entries());
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
    List<Entry> topic = new ArrayList<>(large.publish(1, "a").entries());
    following.read(topic).settle();
    Publication second = large.publish(2, MANY);
    List<Entry> pack = new ArrayList<>(second.pack());
    Entry late = pack.remove(3);
    topic.addAll(second.bases());
    topic.addAll(pack);
    topic.add(second.manifestEntry());
    following.read(pack).read(second.manifestEntry()).settle().settle();
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.rereads).isZero();
    following.waitForReread();
    assertThat(following.rewindIfAsked()).isTrue();
    following.read(topic).settle();
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
    assertThat(following.rereads).isEqualTo(2);

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
    following.read(second.manifestEntry()).waitForReread();
    assertThat(following.rewindIfAsked()).isTrue();
    following.read(first.entries()).settle();
    assertThat(following.sequence()).isEqualTo(1);
    following.read(second.entries()).settle();
    assertThat(following.sequence()).isEqualTo(2);
    assertThat(following.refusals).isEmpty();
    assertThat(following.rereads).isEqualTo(1);
  }

  @Test
  void manifestsThatCannotBeReadDropNothing() {
    Publication publication = publisher.publish(1, "a");
    Entry unreadable = new Entry(Following.SET, new byte[] {'?'});
    following.read(publication.chunks()).read(unreadable, unreadable).settle();
    following.read(publication.manifestEntry()).settle();
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.rereads).isZero();
  }

  @Test
  void aChunkThatIsGoneForGoodMakesTheTopicBeReadAgainOnlyOnceForEachManifest() {
    Publication first = publisher.publish(1, "a");
    Publication second = publisher.publish(2, "b");
    Publication third = publisher.publish(3, "c");
    for (int round = 0; round < 5; round++) {
      following.assembler.rewind();
      following.read(first.entries()).read(second.manifestEntry()).settle();
      following.read(third.manifestEntry()).waitForChunks();
    }
    assertThat(following.rereads).isEqualTo(2);
    assertThat(following.refusals).hasSize(2);
    assertThat(following.sequence()).isEqualTo(1);
  }

  /**
   * Each manifest is superseded before it has waited long enough.
   *
   * @param isEach whether each window lacks bases of its own; otherwise all lack the same base
   */
  @ParameterizedTest
  @CsvSource({"false, 2000", "true, 2000", "true, 500"})
  void aBlobThatIsGoneForGoodIsReportedHoweverShortTheWindows(boolean isEach, long windowMillis) {
    following.read(publisher.publish(1, "a").entries()).settle();
    TestPublisher anew = TestPublisher.of(Following.SET, 4);
    // The first pack is never seen, so all need the bases.
    Publication begin = anew.publish(2, SOME);
    Set<String> gone =
        (isEach ? Stream.<Entry>of() : begin.bases().stream())
            .map(Entry::digest)
            .collect(Collectors.toSet());
    Set<String> lists = new HashSet<>();
    List<Entry> topic = new ArrayList<>(List.of(begin.manifestEntry()));
    following.read(topic).settle();
    for (int window = 3; window < 90_000 / windowMillis; window++) {
      // Changes are in one shard, so that the bases of the others stay.
      LongStream others =
          new Random(window).longs().filter(hash -> new Shards(4).shardOf(hash) == 0).limit(2_500);
      Publication next =
          anew.publish(window, LongStream.concat(LongStream.of(SOME), others).toArray());
      next.bases().stream().map(Entry::digest).forEach(lists::add);
      topic.addAll(next.withoutBases());
      following.read(next.withoutBases());
      if (!isEach) {
        List<Entry> bases =
            next.bases().stream().filter(entry -> !gone.contains(entry.digest())).toList();
        topic.addAll(bases);
        following.readBases(bases);
      }
      following.waitFor(windowMillis);
      if (following.rewindIfAsked()) {
        following.read(topic).settle();
      }
    }
    assertThat(lists).hasSizeGreaterThan(40);
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.refusals)
        .singleElement()
        .asString()
        .startsWith("no manifest of set 'spam' has become complete for 30000 ms: of sequence ")
        .contains(" of its blobs are missing; the first is ");
    assertThat(following.rereads).isEqualTo(1);
  }

  @Test
  void blobsThatDoNotFitIntoMemoryAreNotWaitedFor() {
    Publication first = publisher.publish(1, "a", "b");
    Following small = Following.inMemory(10);
    small.read(first.withoutBases()).settle().waitForChunks();
    assertThat(small.rereads).isZero();
    assertThat(small.refusals)
        .singleElement()
        .asString()
        .matches(
            "sequence 1 of set 'spam' needs \\d+ more bytes of blobs, and only 10 may be in memory:"
                + " give it a cache directory or more heap");
    assertThat(small.assembler.unusable()).contains(small.refusals.get(0));
    // The control: with room for them the topic is read again.
    Following large = Following.inMemory(1 << 20);
    large.read(first.withoutBases()).settle().waitForChunks();
    assertThat(large.rereads).isPositive();
    assertThat(large.assembler.unusable()).isEmpty();
  }

  @Test
  void aDamagedChunkIsReportedOnceAndHealedByAGoodOne() throws Exception {
    following.read(publisher.publish(1, "a").entries()).settle();
    Publication second = publisher.publish(2, "a", "b");
    Entry chunk = second.pack().get(0);
    following.read(chunk.damaged()).read(second.manifestEntry()).settle().settle();
    following.read(chunk.damaged()).waitForReread();
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
    Publication first = publisher.publish(1, "a", "b", "c", "d", "e");
    List<Entry> topic = new ArrayList<>(first.bases());
    assertThat(topic).hasSizeGreaterThan(2);
    topic.set(0, topic.get(0).damaged());
    topic.addAll(first.withoutBases());
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
        .startsWith("sequence 1 of set 'spam' is incomplete after 30000 ms: 1 of its blobs are");
    assertThat(following.rereads).isEqualTo(2);
    assertThat(following.active).isNull();
  }

  @Test
  void aChunkOfTheWrongLengthIsDamageToo() {
    Publication first = publisher.publish(1, "a");
    Entry chunk = first.pack().get(0);
    byte[] longer = Arrays.copyOf(chunk.value(), chunk.value().length + 1);
    following.read(first.bases()).read(new Entry(chunk.key(), longer));
    following.read(first.manifestEntry()).settle();
    assertThat(following.active).isNull();
    assertThat(following.refusals.get(0)).contains("is damaged: chunk 0 must have ");
    following.read(chunk).settle();
    assertThat(following.sequence()).isEqualTo(1);
  }

  @Test
  void aBlobThatKeepsItsDigestButIsNoPackIsRefusedAndTheNextManifestTaken() {
    following.read(publisher.publish(1, "a").entries()).settle();
    Publication second = publisher.publish(2, "a", "b");
    byte[] bytes = second.pack().get(0).damaged().value();
    following.read(withPack(second.manifest(), bytes)).settle().settle();
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.refusals)
        .singleElement()
        .asString()
        .startsWith("sequence 2 of set 'spam' cannot be used: blob ");
    assertThat(following.assembler.isLoading()).isFalse();
    following.read(second.pack()).read(publisher.publish(3, "a", "b", "c").entries()).settle();
    assertThat(following.sequence()).isEqualTo(3);
    // The control: rebuilt in the same way from valid bytes, it is accepted.
    Following control = new Following();
    control.read(second.bases());
    control.read(withPack(second.manifest(), second.pack().get(0).value())).settle();
    assertThat(control.sequence()).isEqualTo(2);
  }

  @Test
  void aManifestWhoseBlobsLeadToAnotherRootIsRefused() {
    Publication first = publisher.publish(1, "a");
    Publication second = publisher.publish(2, "a", "b");
    following.read(first.entries()).settle();
    String root = TestPublisher.of("other", 1).publish(1, "c").manifest().root();
    Manifest lying = with(second.manifest(), root, second.manifest().pack());
    // Neither packs nor bases lead there.
    following.read(second.chunks()).read(TestPublisher.entry(lying)).waitForReread();
    assertThat(following.rewindIfAsked()).isTrue();
    following.read(first.entries()).read(second.chunks()).read(TestPublisher.entry(lying)).settle();
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.assembler.isLoading()).isFalse();
    assertThat(following.refusals)
        .singleElement()
        .asString()
        .startsWith(
            "sequence 2 of set 'spam' cannot be used: the shards must have the root of the"
                + " manifest, "
                + root);
  }

  @Test
  void aSoundBlobOfAnotherSetIsRefused() {
    byte[] foreign = TestPublisher.of("other", 1).publish(1, "a").pack().get(0).value();
    Manifest manifest = TestPublisher.of(Following.SET, 1).publish(1, "a").manifest();
    List<Entry> topic = withPack(manifest, foreign);
    // It is ignored, since its frame names another set, until it is missing.
    following.read(topic).waitForChunks();
    assertThat(following.rereads).isEqualTo(1);
    following.assembler.rewind();
    following.read(topic).settle();
    assertThat(following.active).isNull();
    assertThat(following.refusals.get(1)).contains("it must be of set 'spam', got 'other'");
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
        "no manifest",
        "\u0089FSM\u0002",
      })
  void anUnreadableManifestIsReportedOnceAndTheNextOneTaken(String text) {
    following.read(publisher.publish(1, "a").entries()).settle();
    Entry unreadable = new Entry(Following.SET, text.getBytes(StandardCharsets.ISO_8859_1));
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

  /** The packs lead from a set of the history, and what answered was another. */
  @Test
  void saysNoChangesThatAreNotSinceWhatAnswered() {
    Following pinning = new Following(KeyHash.fixed(), 1);
    List<Entry> topic = new ArrayList<>();
    for (long sequence = 1; sequence <= 3; sequence++) {
      List<Entry> entries = publisher.publish(sequence, withKey("key-" + sequence)).entries();
      pinning.read(entries).settle();
      topic.addAll(entries);
    }
    assertThat(pinning.changes).isEqualTo(new CatchUp.Changes(1, 1));
    pinning.pin(2);
    assertThat(pinning.sequence()).isEqualTo(2);
    assertThat(pinning.way).isEqualTo(CatchUp.Way.NOTHING);
    assertThat(pinning.changes).isNull();
    pinning.pin(-1).settle();
    assertThat(pinning.rewindIfAsked()).isTrue();
    topic.addAll(publisher.publish(4, withKey("key-4")).entries());
    pinning.read(topic).settle();
    assertThat(pinning.sequence()).isEqualTo(4);
    assertThat(pinning.way).isEqualTo(CatchUp.Way.PACKS);
    assertThat(pinning.bytes).isEqualTo(pinning.active.manifest().pack().bytes());
    assertThat(pinning.changes).isNull();
  }

  @Test
  void aPinnedSequenceThatIsLostIsReportedOnce() {
    following.read(publisher.publish(5, "a").entries()).settle().pin(3).settle();
    following.assembler.rewind();
    following.read(publisher.publish(6, "b").entries()).settle().settle();
    assertThat(following.sequence()).isEqualTo(5);
    assertThat(following.refusals)
        .containsExactly(
            "sequence 3 of set 'spam' is pinned and is not on the topic; sequence 5 stays"
                + " active");
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
        .containsExactly("set 'spam' went back to sequence 3; sequence 1 stays active");
    pinning.read(TestPublisher.of(Following.SET, 4).publish(5, "fork").entries()).settle();
    assertThat(pinning.sequence()).isEqualTo(1);
    assertThat(pinning.refusals.get(1)).startsWith("sequence 5 of set 'spam' was published again");
  }

  @Test
  void onATopicCreatedAnewTheSequenceMayGoBackOnce() {
    following.read(publisher.publish(7, "a").entries()).settle();
    following.assembler.topicRecreated();
    following.assembler.rewind();
    assertThat(following.sequence()).isEqualTo(7);
    following.read(TestPublisher.of(Following.SET, 4).publish(3, "new").entries()).settle();
    assertThat(following.sequence()).isEqualTo(3);
    following.read(TestPublisher.of(Following.SET, 4).publish(2, "old").entries()).settle();
    assertThat(following.sequence()).isEqualTo(3);
    assertThat(following.refusals)
        .containsExactly("set 'spam' went back to sequence 2; sequence 3 stays active");
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
  void goesOnByPacksAndLoadsNothingElse() throws Exception {
    TestPublisher large = TestPublisher.of(Following.SET, 1);
    Publication first = large.publish(1, SOME);
    following.read(first.entries()).settle();
    assertThat(following.way).isEqualTo(CatchUp.Way.BASES);
    assertThat(following.changes).isNull();
    Publication second = large.publish(2, withKey("new"));
    following.read(second.withoutBases()).settle();
    assertThat(following.contains("new")).isTrue();
    assertThat(following.way).isEqualTo(CatchUp.Way.PACKS);
    assertThat(following.bytes).isEqualTo(second.manifest().pack().bytes());
    assertThat(following.changes).isEqualTo(new CatchUp.Changes(1, 0));
    // It equals, byte for byte, the set of a consumer that starts here.
    Following fresh = new Following();
    fresh.read(first.chunks()).read(second.entries()).settle();
    assertThat(fresh.way).isEqualTo(CatchUp.Way.BASES);
    assertThat(following.active.set().snapshot(0).toBytes())
        .isEqualTo(fresh.active.set().snapshot(0).toBytes());
    assertThat(fresh.changes).isNull();
  }

  /**
   * How a follower that was offline for several windows resumes, and how often it reads the whole
   * topic again.
   */
  @ParameterizedTest
  @CsvSource({"1, PACKS, 0", "10, PACKS, 0", "1000, BASES, 1"})
  void whoWasAwayTakesTheCheaperWayAndSaysItsBytes(int windows, CatchUp.Way way, int rereads)
      throws Exception {
    TestPublisher large = TestPublisher.of(Following.SET, 1);
    Map<String, Long> blobs = new HashMap<>();
    List<Entry> packs = new ArrayList<>();
    List<Entry> bases = new ArrayList<>(large.publish(1, FEW).bases());
    Publication newest = TestPublisher.of(Following.SET, 1).publish(1, FEW);
    following.readBases(newest.bases()).read(newest.withoutBases()).settle();
    long packBytes = newest.manifest().packBytes();
    packs.addAll(newest.pack());
    for (int window = 2; window <= windows + 1; window++) {
      newest = large.publish(window, withKey(FEW, "key-" + window));
      packs.addAll(newest.pack());
      bases.addAll(newest.bases());
    }
    packs.forEach(chunk -> blobs.merge(chunk.digest(), (long) chunk.value().length, Long::sum));
    bases.forEach(chunk -> blobs.merge(chunk.digest(), (long) chunk.value().length, Long::sum));
    // While it is offline, packs that a newer list has made obsolete are deleted.
    Set<String> named = named(newest.manifest(), packs, bases);
    packs.removeIf(chunk -> !named.contains(chunk.digest()));
    bases.removeIf(chunk -> !named.contains(chunk.digest()));
    following.read(packs).read(newest.manifestEntry()).settle();
    if (rereads > 0) {
      assertThat(following.sequence()).isEqualTo(1);
      following.waitForReread();
      assertThat(following.rewindIfAsked()).isTrue();
      following.readBases(bases).read(packs).read(newest.manifestEntry()).settle();
    }
    assertThat(following.sequence()).isEqualTo(windows + 1L);
    assertThat(following.contains("key-" + (windows + 1))).isTrue();
    assertThat(following.way).isEqualTo(way);
    assertThat(following.rereads).isEqualTo(rereads);
    assertThat(following.refusals).isEmpty();
    if (way == CatchUp.Way.PACKS) {
      assertThat(following.bytes).isEqualTo(newest.manifest().packBytes() - packBytes);
    } else {
      long all = named.stream().mapToLong(blobs::get).sum();
      assertThat(following.bytes).isBetween(newest.manifest().count() * 3, all);
    }
  }

  private static Set<String> named(Manifest manifest, List<Entry> packs, List<Entry> bases)
      throws Exception {
    ChunkStore store = new ChunkStore(null);
    for (Entry chunk : Stream.concat(packs.stream(), bases.stream()).toList()) {
      store.put(SnapshotTopicFormat.parseChunkKey(chunk.key()).orElseThrow(), chunk.value(), 0);
    }
    return new ManifestBlobs(manifest, store::assemble).named().keySet();
  }

  @Test
  void takesTheBasesWhereAPackIsDamagedOrMissing() throws Exception {
    for (boolean isMissing : new boolean[] {true, false}) {
      TestPublisher large = TestPublisher.of(Following.SET, 1);
      Following follower = new Following();
      List<Entry> packs = new ArrayList<>(large.publish(1, SOME).withoutBases());
      Publication first = TestPublisher.of(Following.SET, 1).publish(1, SOME);
      follower.readBases(first.bases()).read(first.withoutBases()).settle();
      Publication second = large.publish(2, withKey("new"));
      // Changes much, so that there is a new list of bases.
      Publication third = large.publish(3, MANY_LESS);
      assertThat(third.bases()).isNotEmpty();
      List<Entry> since = new ArrayList<>();
      if (!isMissing) {
        since.add(second.pack().get(0).damaged());
      }
      since.addAll(third.withoutBases());
      packs.addAll(since);
      follower.read(since).settle();
      assertThat(follower.sequence()).isEqualTo(1);
      follower.waitForReread();
      assertThat(follower.rewindIfAsked()).isTrue();
      follower.readBases(third.bases()).read(packs).settle();
      assertThat(follower.sequence()).isEqualTo(3);
      assertThat(follower.way).isEqualTo(CatchUp.Way.BASES);
      assertThat(follower.rereads).isEqualTo(1);
      assertThat(follower.refusals)
          .hasSize(isMissing ? 1 : 2)
          .last()
          .asString()
          .isEqualTo(
              "sequence 3 of set 'spam' cannot be reached by packs, so the bases are loaded: blob "
                  + second.manifest().pack().digest()
                  + " is missing");
    }
  }

  @Test
  void refusesAForkedChainAndTakesTheBases() throws Exception {
    // Both begin alike; the second one's packs do not lead back to what this follower holds.
    TestPublisher fork = TestPublisher.of(Following.SET, 1);
    following.read(TestPublisher.of(Following.SET, 1).publish(1, SOME).entries()).settle();
    List<Entry> topic = new ArrayList<>(fork.publish(1, withKey("fork")).chunks());
    topic.addAll(fork.publish(2, withKey("fork-2")).entries());
    following.read(topic).waitForReread();
    assertThat(following.rewindIfAsked()).isTrue();
    following.read(topic).settle();
    assertThat(following.sequence()).isEqualTo(2);
    assertThat(following.contains("fork-2")).isTrue();
    assertThat(following.contains("fork")).isFalse();
    assertThat(following.way).isEqualTo(CatchUp.Way.BASES);
  }

  @Test
  void packsMayComeInAnyOrder() {
    List<Publication> windows = new ArrayList<>();
    for (long sequence = 1; sequence <= 4; sequence++) {
      windows.add(publisher.publish(sequence, "key-" + sequence));
    }
    following.read(windows.get(0).entries()).settle();
    following.read(windows.get(3).withoutBases()).settle();
    for (int window = 2; window >= 1; window--) {
      assertThat(following.sequence()).isEqualTo(1);
      following.read(windows.get(window).pack()).settle();
    }
    assertThat(following.sequence()).isEqualTo(4);
    assertThat(following.way).isEqualTo(CatchUp.Way.PACKS);
    assertThat(following.rereads).isZero();
  }

  @Test
  void basesAreKeptOnlyUntilASnapshotAnswers() {
    assertThat(following.assembler.needsBases()).isTrue();
    Publication first = publisher.publish(1, "a");
    following.readBases(first.bases());
    assertThat(following.assembler.bufferedBytes()).isPositive();
    following.read(first.withoutBases()).settle();
    assertThat(following.assembler.needsBases()).isFalse();
    assertThat(following.assembler.bufferedBytes()).isZero();
    Publication second = publisher.publish(2, "a", "b");
    following.readBases(second.bases());
    assertThat(following.assembler.bufferedBytes()).isZero();
    following.read(second.manifestEntry()).settle();
    assertThat(following.assembler.needsBases()).isFalse();
    following.read(second.pack()).settle();
    assertThat(following.sequence()).isEqualTo(2);
  }

  /** So that a follower of several sets reads the last partition for none of these. */
  @Test
  void basesAreNotKeptForASetWithoutManifests() {
    following.settle();
    assertThat(following.assembler.needsBases()).as("a manifest may come soon").isTrue();
    following.waitForChunks();
    assertThat(following.assembler.needsBases()).isFalse();

    // They are looked for as soon as a manifest needs them.
    Publication first = publisher.publish(1, SOME);
    following.readBases(first.bases()).read(first.manifestEntry()).waitForReread();
    assertThat(following.rewindIfAsked()).isTrue();
    assertThat(following.assembler.needsBases()).isTrue();
    following.readBases(first.bases()).read(first.pack()).read(first.manifestEntry()).settle();
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.assembler.needsBases()).isFalse();
  }

  @Test
  void basesAreNotKeptForAManifestForWhichTheTopicWasReadInVain() {
    Publication first = publisher.publish(1, "a");
    Publication second = publisher.publish(2, "b");
    following.read(first.entries()).settle();
    following.read(second.manifestEntry()).waitForReread();
    for (int reread = 0; reread < 2; reread++) {
      assertThat(following.rewindIfAsked()).isTrue();
      following.read(first.withoutBases()).read(second.manifestEntry()).waitForChunks();
    }
    assertThat(following.rewindIfAsked()).isFalse();
    assertThat(following.refusals).singleElement().asString().contains("is incomplete");
    assertThat(following.assembler.needsBases()).isFalse();
    following.read(second.pack()).settle();
    assertThat(following.sequence()).isEqualTo(2);
  }

  /** A set that starts again: its first pack is not enough. */
  @Test
  void blobsThatComeAfterTheTopicWasReadInVainAreTaken() {
    Publication first = publisher.publish(1, "a");
    Publication second = TestPublisher.of(Following.SET, 4).publish(2, SOME);
    following.read(first.entries()).settle();
    following.read(second.manifestEntry()).waitForReread();
    for (int reread = 0; reread < 2; reread++) {
      assertThat(following.rewindIfAsked()).isTrue();
      following.read(first.withoutBases()).read(second.manifestEntry()).waitForChunks();
    }
    assertThat(following.rewindIfAsked()).isFalse();

    // The pack is seen, and so the topic is read for the bases, which are not there yet.
    following.read(second.pack()).settle();
    assertThat(following.rewindIfAsked()).isTrue();
    List<Entry> topic =
        Stream.of(first.withoutBases(), List.of(second.manifestEntry()), second.pack())
            .flatMap(List::stream)
            .toList();
    following.read(topic).waitForChunks();
    assertThat(following.rewindIfAsked()).isFalse();

    // Nobody sees them come. The topic is read again after a pause, and then after a longer one.
    for (int waits : new int[] {20, 40}) {
      for (int wait = 0; wait < waits; wait++) {
        assertThat(following.rewindIfAsked()).isFalse();
        following.waitForChunks();
      }
      assertThat(following.rewindIfAsked()).isTrue();
      following.read(topic).waitForChunks();
    }
    assertThat(following.sequence()).isEqualTo(1);
    for (int wait = 0; !following.rewindIfAsked(); wait++) {
      assertThat(wait).isLessThan(100);
      following.waitForChunks();
    }
    following.readBases(second.bases()).read(topic).settle();
    assertThat(following.sequence()).isEqualTo(2);
    assertThat(following.refusals)
        .satisfiesExactly(
            refusal -> assertThat(refusal).contains("is incomplete"),
            refusal -> assertThat(refusal).contains("cannot be reached by packs"));
  }

  @Test
  void manifestsOfOtherPartitionsDoNotCount() {
    Publication first = publisher.publish(1, "a");
    following.read(first.chunks()).readBases(List.of(first.manifestEntry())).settle();
    assertThat(following.activations).isZero();
    assertThat(following.refusals).isEmpty();
    following.read(first.manifestEntry()).settle();
    assertThat(following.sequence()).isEqualTo(1);
  }

  /** However often it is published; a damaged topic costs no more than that. */
  @Test
  void theTopicIsReadAgainOnceForAManifest() {
    following.read(publisher.publish(1, "a").entries()).settle();
    Entry manifest = publisher.publish(2, "b").manifestEntry();
    following.read(manifest).waitForReread();
    assertThat(following.rewindIfAsked()).isTrue();
    following.read(publisher.publish(3, "c").entries()).settle();
    assertThat(following.sequence()).isEqualTo(3);
    for (int again = 0; again < 3; again++) {
      following.read(manifest).waitForReread();
    }
    assertThat(following.rereads).isEqualTo(1);
  }

  @Test
  void manifestsMustBeSignedByATrustedKey() throws Exception {
    SigningKey trusted = SigningKey.generate();
    SigningKey strange = SigningKey.generate();
    Following careful =
        Following.with(Set.of(trusted.publicKey()), new BlobSource(null, null, true));
    Publication first = publisher.publish(1, "a");
    careful.read(first.chunks());
    careful.read(new Entry(Following.SET, trusted.sign(first.manifest()).toBytes())).settle();
    assertThat(careful.sequence()).isEqualTo(1);
    Publication second = publisher.publish(2, "b");
    Manifest forged = second.manifest().withSignature(trusted.sign(first.manifest()).signature());
    careful.read(second.entries()).settle();
    careful.read(new Entry(Following.SET, strange.sign(second.manifest()).toBytes())).settle();
    careful.read(new Entry(Following.SET, forged.toBytes())).settle();
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
    following.read(new Entry(Following.SET, forged.toBytes())).settle();
    assertThat(following.sequence()).isEqualTo(2);
    careful.read(second.pack());
    careful.read(new Entry(Following.SET, trusted.sign(second.manifest()).toBytes())).settle();
    assertThat(careful.sequence()).isEqualTo(2);
  }

  @Test
  void whatIsWrongAgainAfterAGoodSnapshotIsToldAgain() throws Exception {
    SigningKey trusted = SigningKey.generate();
    Following careful =
        Following.with(Set.of(trusted.publicKey()), new BlobSource(null, null, true));
    for (long sequence = 1; sequence <= 4; sequence++) {
      Publication next = publisher.publish(sequence, "key-" + sequence);
      Manifest manifest = sequence % 2 == 1 ? trusted.sign(next.manifest()) : next.manifest();
      Entry entry = new Entry(Following.SET, manifest.toBytes());
      careful.read(next.chunks()).read(entry).settle().settle();
      careful.read(entry).settle();
    }
    assertThat(careful.sequence()).isEqualTo(3);
    assertThat(careful.refusals)
        .hasSize(2)
        .containsOnly("a manifest of set 'spam' cannot be read: the manifest has no signature");
  }

  @Test
  void whatIsWrongWithTheNewestIsToldAgainAfterAnOlderOneAnswers() throws Exception {
    SigningKey trusted = SigningKey.generate();
    Following careful =
        Following.with(Set.of(trusted.publicKey()), new BlobSource(null, null, true));
    Publication first = publisher.publish(1, "a");
    careful.read(new Entry(Following.SET, trusted.sign(first.manifest()).toBytes()));
    careful.read(publisher.publish(2, "b").manifestEntry()).settle().settle();
    assertThat(careful.refusals).hasSize(1);
    // Its blobs come late.
    careful.read(first.chunks()).settle().settle();
    assertThat(careful.sequence()).isEqualTo(1);
    assertThat(careful.refusals)
        .hasSize(2)
        .containsOnly("a manifest of set 'spam' cannot be read: the manifest has no signature");
  }

  private static long[] withKey(String key) {
    return withKey(SOME, key);
  }

  private static long[] withKey(long[] some, String key) {
    long[] hashes = Arrays.copyOf(some, some.length + 1);
    hashes[some.length] = TestPublisher.hash(key);
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
        .containsExactly("set 'spam' went back to sequence 3; sequence 7 stays active");
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
        .containsExactly("set 'spam' went back to sequence 3; sequence 7 stays active");
  }

  /** A fresh client, and manifests that were signed once and are published again. */
  @Test
  void theHighestOfReplayedSignedManifestsAnswers() throws Exception {
    SigningKey key = SigningKey.generate();
    for (boolean isDeletedBetween : new boolean[] {false, true}) {
      Following fresh = Following.with(Set.of(key.publicKey()), new BlobSource(null, null, true));
      TestPublisher ours = TestPublisher.of(Following.SET, 4);
      Publication fifth = ours.publish(5, "new");
      fresh.read(signed(fifth, key));
      if (isDeletedBetween) {
        fresh.read(fifth.manifestEntry().tombstone());
      }
      fresh.read(signed(TestPublisher.of(Following.SET, 4).publish(2, "old"), key));
      fresh.read(signed(TestPublisher.of(Following.SET, 4).publish(3, "old"), key));
      // Higher, but signed with a key that is not trusted.
      Publication forged = TestPublisher.of(Following.SET, 4).publish(9, "forged");
      fresh.read(signed(forged, SigningKey.generate())).settle();
      assertThat(fresh.sequence()).isEqualTo(5);
      assertThat(fresh.contains("new")).isTrue();
      assertThat(fresh.contains("old")).isFalse();
      assertThat(fresh.refusals)
          .hasSize(3)
          .contains(
              "set 'spam' went back to sequence 3; sequence 5 stays active",
              "set 'spam' went back to sequence 2; sequence 5 stays active");
      fresh.read(signed(ours.publish(6, "newer"), key)).settle();
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
    entries.add(new Entry(Following.SET, key.sign(publication.manifest()).toBytes()));
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
            "sequence 1 of set 'spam' was published again with different content; the first"
                + " stays active");
  }

  @Test
  void aNewManifestSupersedesOneThatWaits() {
    List<Entry> topic = new ArrayList<>(publisher.publish(1, "a").entries());
    Publication second = publisher.publish(2, "b");
    topic.add(second.manifestEntry());
    following.read(topic).settle();
    assertThat(following.sequence()).isEqualTo(1);
    following.read(publisher.publish(3, "c").entries()).settle();
    assertThat(following.sequence()).isEqualTo(3);
    assertThat(following.assembler.isLoading()).isFalse();
    following.read(second.chunks()).waitForChunks();
    assertThat(following.sequence()).isEqualTo(3);
    assertThat(following.rereads).isZero();
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
    following.read(second.pack().get(0).damaged()).read(second.manifestEntry()).settle();
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
    following.read(second.chunks()).read(second.pack().get(0).tombstone());
    following.read(second.manifestEntry()).waitForReread();
    assertThat(following.sequence()).isEqualTo(1);
    assertThat(following.rereads).isEqualTo(1);
    following.read(second.pack().get(0)).settle();
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
    for (long sequence = 1; sequence <= 50; sequence++) {
      for (int i = 0; i < keys.length; i++) {
        keys[i] = keys[i] + sequence;
      }
      following.read(other.publish(sequence, keys).entries());
      following.read(unfinished.publish(sequence, "x" + sequence).chunks());
      // Refused, held, unreadable in turn; the tenth is good.
      if (sequence % 10 == 0) {
        following.read(publisher.publish(sequence, withKey(keys[0])).entries()).settle();
        assertThat(following.sequence()).isEqualTo(sequence);
        assertThat(following.assembler.bufferedBytes()).isZero();
      } else if (sequence % 3 == 1) {
        following.read(rekeyed.publish(sequence, keys).entries());
      } else {
        following.read(publisher.publish(sequence, withKey(keys[0])).chunks());
        if (sequence % 3 == 2) {
          following.read(new Entry(Following.SET, new byte[] {'?'}));
        }
        assertThat(following.assembler.bufferedBytes()).isPositive();
      }
      following.settle();
    }
    assertThat(following.rereads).isZero();
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

  /** A held window has a pack but no manifest. */
  @Test
  void thePacksOfHeldWindowsAreKeptAndSuffice() throws Exception {
    TestPublisher holding = TestPublisher.of(Following.SET, 2);
    following.read(holding.publish(1, SOME).entries()).settle();
    Publication newest = null;
    for (long sequence = 2; sequence <= 50; sequence++) {
      newest = holding.publish(sequence, withKey("new-" + sequence));
      following.read(newest.chunks()).settle();
    }
    following.read(newest.manifestEntry()).settle();
    assertThat(following.sequence()).isEqualTo(50);
    assertThat(following.contains("new-50")).isTrue();
    assertThat(following.contains("new-49")).isFalse();
    assertThat(following.way).isEqualTo(CatchUp.Way.PACKS);
    assertThat(following.refusals).isEmpty();
    assertThat(following.rereads).isZero();
    assertThat(following.assembler.bufferedBytes()).isZero();
  }

  @Test
  void aPinnedFollowerKeepsNoPacks() {
    following.read(publisher.publish(1, "a").entries()).settle().pin(1);
    for (long sequence = 2; sequence <= 9; sequence++) {
      following.read(publisher.publish(sequence, "key-" + sequence).entries()).settle();
      assertThat(following.assembler.bufferedBytes()).isZero();
    }
    assertThat(following.sequence()).isEqualTo(1);
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
    for (long sequence = 1; sequence <= 40; sequence++) {
      newest = holding.publish(sequence, new Random(sequence).longs(10_000).toArray());
      bounded.read(newest.chunks()).settle();
      assertThat(bounded.assembler.bufferedBytes()).isBetween(1L, 300_000L);
    }
    bounded.read(newest.manifestEntry()).settle();
    assertThat(bounded.sequence()).isEqualTo(40);
    assertThat(bounded.rereads).isZero();
    assertThat(bounded.assembler.takeNotice())
        .hasValue(
            "chunks on the topic of set 'spam' for which no manifest waits took more than 300000"
                + " bytes, so the oldest were dropped; the topic is read again if a manifest needs"
                + " them: raise maxUnnamedBytes if it often is");
    assertThat(bounded.assembler.takeNotice()).isEmpty();
  }

  @Test
  void whatWasDroppedAtTheBoundIsReadAgainAtOnceWhenAManifestNeedsIt() throws Exception {
    Following bounded = Following.within(100_000);
    Publication first = publisher.publish(1, "a");
    List<Entry> topic = new ArrayList<>(first.chunks());
    topic.addAll(unnamed(200, 1_000));
    topic.add(first.manifestEntry());
    bounded.read(topic).settle();
    // The pack and the list of bases are found missing one after the other.
    for (int round = 1; round <= 2; round++) {
      assertThat(bounded.active).isNull();
      assertThat(bounded.rereads).isEqualTo(round);
      assertThat(bounded.rewindIfAsked()).isTrue();
      bounded.read(topic).settle();
    }
    assertThat(bounded.sequence()).isEqualTo(1);
    assertThat(bounded.contains("a")).isTrue();
    // Also while a snapshot answers.
    Publication second = publisher.publish(2, "a", "b");
    bounded.read(second.pack()).read(unnamed(200, 1_000)).read(second.manifestEntry()).settle();
    assertThat(bounded.sequence()).isEqualTo(1);
    bounded.waitForReread();
    assertThat(bounded.rewindIfAsked()).isTrue();
    topic.addAll(second.entries());
    bounded.read(topic).settle();
    assertThat(bounded.sequence()).isEqualTo(2);
    assertThat(bounded.rereads).isEqualTo(3);
    assertThat(bounded.refusals).isEmpty();
  }

  /** As on a topic whose last partition is read first: the bases alone exceed the bound. */
  @Test
  void aSetThatExceedsTheBoundIsReadInTwoPasses() {
    Following bounded = Following.within(1_000_000);
    TestPublisher growing = TestPublisher.of(Following.SET, 16);
    Publication large = growing.publish(1, MANY);
    Publication next = growing.publish(2, Arrays.copyOf(MANY, MANY.length - 1));
    assertThat(next.bases()).isEmpty();
    bounded.readBases(large.bases()).read(next.withoutBases()).settle();
    assertThat(bounded.active).isNull();
    assertThat(bounded.rewindIfAsked()).isTrue();
    bounded.readBases(large.bases()).read(next.withoutBases()).settle();
    assertThat(bounded.sequence()).isEqualTo(2);
    assertThat(bounded.rereads).isEqualTo(1);
  }

  @Test
  void theBoundDropsNothingThatAManifestNames() {
    Following bounded = Following.within(100_000);
    Publication large = OF_MANY;
    assertThat(large.pack()).hasSize(5);
    bounded.read(large.manifestEntry()).settle();
    bounded.read(large.pack().subList(0, 4)).read(unnamed(500, 1_000)).read(large.pack().get(4));
    assertThat(bounded.assembler.bufferedBytes()).isGreaterThan(3_000_000);
    // Now that the pack can be read, the list is known, and with that the base.
    bounded.settle();
    Entry list = large.bases().get(large.bases().size() - 1);
    bounded.read(list).settle();
    bounded.read(large.bases()).settle();
    assertThat(bounded.sequence()).isEqualTo(1);
    assertThat(bounded.rereads).isZero();
    assertThat(bounded.assembler.bufferedBytes()).isLessThanOrEqualTo(100_000);
  }

  @Test
  void aFreshClientWaitsForWhatWasDroppedOfTheHighest() {
    Following bounded = Following.within(100_000);
    Publication fifth = TestPublisher.of(Following.SET, 4).publish(5, "new");
    List<Entry> topic = new ArrayList<>(fifth.chunks());
    topic.addAll(unnamed(200, 1_000));
    topic.add(fifth.manifestEntry());
    topic.addAll(TestPublisher.of(Following.SET, 4).publish(3, "old").entries());
    bounded.read(topic).settle();
    for (int round = 1; round <= 2; round++) {
      assertThat(bounded.active).isNull();
      assertThat(bounded.rewindIfAsked()).isTrue();
      bounded.read(topic).settle();
    }
    assertThat(bounded.sequence()).isEqualTo(5);
  }

  /** Otherwise one that is never complete would keep the client from answering. */
  @Test
  void aFreshClientDoesNotWaitForEver() {
    Following bounded = Following.within(100_000);
    List<Entry> topic = new ArrayList<>();
    for (long sequence = 5; sequence <= 9; sequence++) {
      topic.addAll(TestPublisher.of(Following.SET, 4).publish(sequence, "new").chunks());
      topic.addAll(unnamed(200, 1_000));
      topic.add(TestPublisher.of(Following.SET, 4).publish(sequence, "new").manifestEntry());
      List<Entry> read = new ArrayList<>(topic);
      read.addAll(TestPublisher.of(Following.SET, 4).publish(3, "old").entries());
      bounded.read(read).settle();
      bounded.rewindIfAsked();
    }
    assertThat(bounded.active).isNotNull();
  }

  /** A manifest with another pack, and the chunks of that. */
  private static List<Entry> withPack(Manifest manifest, byte[] pack) {
    List<Entry> entries = new ArrayList<>(TestPublisher.chunks(pack));
    entries.add(TestPublisher.entry(with(manifest, manifest.root(), BlobReference.to(pack))));
    return entries;
  }

  private static Manifest with(Manifest manifest, String root, BlobReference pack) {
    return Manifest.of(
        manifest.setName(),
        manifest.sequence(),
        manifest.windowStartMillis(),
        manifest.windowEndMillis(),
        manifest.parameters(),
        manifest.count(),
        root,
        pack,
        manifest.packBytes() + pack.bytes() - manifest.pack().bytes());
  }
}
