package io.firstseen.operators.compaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.operators.compaction.SnapshotPipeline.Backend;
import io.firstseen.operators.compaction.SnapshotPipeline.Savepoint;
import io.firstseen.serializers.HashedOperation;
import io.firstseen.serializers.ShardSnapshot;
import io.firstseen.serializers.SnapshotRecord;
import io.firstseen.types.Operation;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.throwable.ThrowableClassifier;
import org.apache.flink.runtime.throwable.ThrowableType;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The rules of windows and manifests, one by one; all together in {@link SnapshotHistoriesTest}.
 */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
class SnapshotOperatorsTest {

  private static final KeyHash HASH = KeyHash.fixed();
  private static final SnapshotSpec SPEC = spec("spam", 10, 4, 0.001, HASH, Canonicaliser.NONE);
  // One in each of four shards.
  private static final long A = 0x1111_1111_1111_1111L;
  private static final long B = 0x5555_5555_5555_5555L;
  private static final long C = 0x9999_9999_9999_9999L;
  private static final long D = 0xDDDD_DDDD_DDDD_DDDDL;
  private static final List<Long> ALL = List.of(A, B, C, D);

  private static SnapshotSpec spec(
      String setName,
      long windowMillis,
      int shards,
      double rate,
      KeyHash hash,
      Canonicaliser canonicaliser) {
    return SnapshotSpec.of(setName, windowMillis, shards, rate, hash, canonicaliser);
  }

  private static SnapshotPipeline start(Backend backend, int parallelism) throws Exception {
    return new SnapshotPipeline(SPEC, backend, parallelism, null, 1);
  }

  @ParameterizedTest
  @EnumSource
  void aWindowIsPublishedWhenTheWatermarkHasPassedItsLastInstant(Backend backend) throws Exception {
    try (SnapshotPipeline pipeline = start(backend, 2)) {
      pipeline.add(A, 0);
      pipeline.add(B, 9);
      pipeline.add(C, 10);
      pipeline.watermark(8);
      assertThat(pipeline.records()).isEmpty();
      pipeline.watermark(9);
      PublishedSets published = new PublishedSets().add(pipeline.records());
      assertThat(published.windowEnds()).containsExactly(10L);
      assertThat(published.present(ALL)).containsExactlyInAnyOrder(A, B);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aLateDeleteDoesNotPrecedeTheAddThatArrivedBeforeIt(Backend backend) throws Exception {
    try (SnapshotPipeline pipeline = start(backend, 1)) {
      pipeline.add(A, 25);
      pipeline.add(B, 3);
      pipeline.delete(A, 3);
      pipeline.watermark(9);
      PublishedSets published = new PublishedSets().add(pipeline.records());
      assertThat(published.present(ALL)).containsExactly(B);
      pipeline.watermark(29);
      published.add(pipeline.records());
      assertThat(published.windowEnds()).containsExactly(10L, 30L);
      assertThat(published.present(ALL)).containsExactly(B);
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatComesLateCountsFromTheNextSnapshotOn(Backend backend) throws Exception {
    try (SnapshotPipeline pipeline = start(backend, 2)) {
      pipeline.add(A, 5);
      pipeline.watermark(44);
      pipeline.add(B, 5);
      pipeline.delete(A, 6);
      PublishedSets published = new PublishedSets().add(pipeline.records());
      assertThat(published.windowEnds()).containsExactly(10L);
      assertThat(published.present(ALL)).containsExactly(A);
      pipeline.watermark(49);
      published.add(pipeline.records());
      assertThat(published.windowEnds()).containsExactly(10L, 50L);
      assertThat(published.present(ALL)).containsExactly(B);
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatWasClosedStaysClosedAfterARestart(Backend backend) throws Exception {
    Savepoint savepoint;
    PublishedSets published = new PublishedSets();
    try (SnapshotPipeline pipeline = start(backend, 2)) {
      pipeline.add(A, 5);
      pipeline.watermark(9);
      pipeline.watermark(44);
      published.add(pipeline.records());
      savepoint = pipeline.savepoint();
    }
    assertThat(published.windowEnds()).containsExactly(10L, 40L);
    try (SnapshotPipeline pipeline = new SnapshotPipeline(SPEC, backend, 1, savepoint, 1)) {
      // No watermark has come since the restart.
      pipeline.add(B, 15);
      pipeline.watermark(20);
      assertThat(pipeline.records()).isEmpty();
      pipeline.watermark(49);
      published.add(pipeline.records());
    }
    assertThat(published.windowEnds()).containsExactly(10L, 40L, 50L);
    assertThat(published.present(ALL)).containsExactlyInAnyOrder(A, B);
  }

  @ParameterizedTest
  @CsvSource({"HEAP, 1, 2", "HEAP, 3, 1", "ROCKSDB, 2, 3"})
  void theClockPublishesWhatEventTimeLeavesOpen(Backend backend, int before, int after)
      throws Exception {
    Publication publication = Publication.OF_ALL.endingWindowsAfter(Duration.ofMillis(2_000));
    PublishedSets published = new PublishedSets();
    Savepoint savepoint;
    try (SnapshotPipeline pipeline =
        new SnapshotPipeline(SPEC, publication, backend, 1, before, null, 1)) {
      pipeline.add(A, 5);
      pipeline.watermark(9);
      pipeline.add(B, 7);
      pipeline.passTime(900);
      published.add(pipeline.records());
      assertThat(published.windowEnds()).containsExactly(10L);
      passTwice(1_100, pipeline, published);
      assertThat(published.windowEnds()).containsExactly(10L, 20L);
      assertThat(published.present(ALL)).containsExactlyInAnyOrder(A, B);
      pipeline.add(C, 7);
      pipeline.add(D, 37);
      savepoint = pipeline.savepoint();
    }
    try (SnapshotPipeline pipeline =
        new SnapshotPipeline(SPEC, publication, backend, 2, after, savepoint, 1)) {
      pipeline.send(0, WatermarkStatus.IDLE);
      passTwice(1_100, pipeline, published);
      assertThat(published.windowEnds()).containsExactly(10L, 20L, 30L, 40L);
      assertThat(published.present(ALL)).containsExactlyInAnyOrder(A, B, C, D);
      passTwice(10_000, pipeline, published);
      assertThat(published.windowEnds()).as("no more").containsExactly(10L, 20L, 30L, 40L);
      // Late, but event time advances.
      pipeline.add(A, 1);
      pipeline.passTime(900);
      pipeline.watermark(41);
      pipeline.passTime(900);
      published.add(pipeline.records());
      assertThat(published.windowEnds()).containsExactly(10L, 20L, 30L, 40L);
      pipeline.watermark(49);
      published.add(pipeline.records());
      assertThat(published.windowEnds()).containsExactly(10L, 20L, 30L, 40L, 50L);
    }
  }

  /** First for the subtasks, then for the manifests. */
  private static void passTwice(int millis, SnapshotPipeline pipeline, PublishedSets published)
      throws Exception {
    pipeline.passTime(millis);
    published.add(pipeline.records());
    pipeline.passTime(millis);
    published.add(pipeline.records());
  }

  @ParameterizedTest
  @EnumSource
  void replayedInputKeepsTheBlobsAndStillPublishes(Backend backend) throws Exception {
    try (SnapshotPipeline pipeline = start(backend, 1)) {
      PublishedSets published = new PublishedSets();
      for (int replay = 0; replay < 2; replay++) {
        pipeline.add(A, 3);
        pipeline.add(B, 3);
        pipeline.add(B, 5);
        pipeline.delete(C, 4);
        pipeline.watermark(9 + 10 * replay);
        published.add(pipeline.records());
      }
      assertThat(published.kept()).as("two bases, their list and a pack").hasSize(4);
      assertThat(published.windowEnds()).containsExactly(10L, 20L);
      assertThat(published.newest().manifest().pack())
          .isEqualTo(published.manifests().get(0).manifest().pack());
    }
  }

  @Test
  void anEmptiedShardGetsAnEmptySnapshotAndAnUntouchedOneNone() throws Exception {
    try (SnapshotPipeline pipeline = start(Backend.HEAP, 1)) {
      pipeline.add(A, 3);
      pipeline.watermark(9);
      pipeline.delete(A, 13);
      pipeline.delete(B, 13);
      pipeline.watermark(19);
      PublishedSets published = new PublishedSets().add(pipeline.records());
      PublishedSets.Published newest = published.manifests().get(1);
      assertThat(PublishedSets.values(newest.shard(0))).isEmpty();
      assertThat(newest.shard(1)).isNull();
      assertThat(newest.manifest().count()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void aQuietStreamThatLivesPublishesEveryWindow(int parallelism) throws Exception {
    try (SnapshotPipeline pipeline = start(Backend.HEAP, parallelism)) {
      for (long watermark = 0; watermark < 95; watermark++) {
        pipeline.watermark(watermark);
      }
      PublishedSets published = new PublishedSets().add(pipeline.records());
      assertThat(published.windowEnds()).as("before the first operation").isEmpty();
      pipeline.add(A, 97);
      for (long watermark = 95; watermark < 133; watermark++) {
        pipeline.watermark(watermark);
      }
      published.add(pipeline.records());
      assertThat(published.windowEnds()).containsExactly(100L, 110L, 120L, 130L);
      assertThat(published.manifests().get(3).sequence()).isEqualTo(4);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void aJumpOverEmptyWindowsPublishesOneManifestForTheNewest(int parallelism) throws Exception {
    try (SnapshotPipeline pipeline = start(Backend.HEAP, parallelism)) {
      pipeline.add(A, 3);
      pipeline.watermark(12);
      pipeline.watermark(1_000_000_005);
      PublishedSets published = new PublishedSets().add(pipeline.records());
      assertThat(published.windowEnds()).containsExactly(10L, 1_000_000_000L);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void aJumpPublishesEveryWindowWithOperationsAndNoOther(int parallelism) throws Exception {
    try (SnapshotPipeline pipeline = start(Backend.HEAP, parallelism)) {
      pipeline.add(A, 3);
      pipeline.watermark(12);
      pipeline.add(B, 44);
      pipeline.add(C, 72);
      pipeline.add(D, 74);
      pipeline.delete(B, 75);
      pipeline.watermark(105);
      PublishedSets published = new PublishedSets().add(pipeline.records());
      assertThat(published.windowEnds()).containsExactly(10L, 50L, 80L);
      assertThat(published.manifests().get(1).manifest().count()).isEqualTo(2);
      assertThat(published.present(ALL)).containsExactlyInAnyOrder(A, C, D);
      pipeline.watermark(109);
      published.add(pipeline.records());
      assertThat(published.windowEnds()).containsExactly(10L, 50L, 80L, 110L);
    }
  }

  @ParameterizedTest
  @EnumSource
  void theEndOfTheInputClosesTheWindowsWithOperationsAndEnds(Backend backend) throws Exception {
    try (SnapshotPipeline pipeline = start(backend, 2)) {
      pipeline.add(A, 3);
      pipeline.watermark(12);
      pipeline.add(B, 13);
      pipeline.add(C, 99);
      pipeline.endOfInput();
      PublishedSets published = new PublishedSets().add(pipeline.records());
      assertThat(published.windowEnds()).containsExactly(10L, 20L, 100L);
      assertThat(published.present(ALL)).containsExactlyInAnyOrder(A, B, C);
      assertThat(pipeline.timers()).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource
  void anInputThatWasIdleWhenAllOthersEndedLosesNothing(Backend backend) throws Exception {
    try (SnapshotPipeline pipeline = new SnapshotPipeline(SPEC, backend, 2, 2, null, 1)) {
      pipeline.add(A, 3);
      pipeline.watermark(5);
      pipeline.send(1, WatermarkStatus.IDLE);
      pipeline.send(0, Watermark.MAX_WATERMARK);
      pipeline.deliverAll();
      pipeline.send(1, new StreamRecord<>(new HashedOperation(B, Operation.ADD), 4));
      pipeline.send(1, new StreamRecord<>(new HashedOperation(C, Operation.ADD), 17));
      pipeline.endOfInput();
      PublishedSets published = new PublishedSets().add(pipeline.records());
      assertThat(published.windowEnds()).containsExactly(10L, 20L);
      assertThat(published.present(ALL)).containsExactlyInAnyOrder(A, B, C);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void anIdleInputHoldsNothingBack(int parallelism) throws Exception {
    try (SnapshotPipeline pipeline =
        new SnapshotPipeline(SPEC, Backend.HEAP, 2, parallelism, null, 1)) {
      pipeline.add(A, 3);
      pipeline.send(0, new Watermark(19));
      PublishedSets published = new PublishedSets().add(pipeline.records());
      assertThat(published.windowEnds()).as("while an input is silent").isEmpty();
      pipeline.send(1, WatermarkStatus.IDLE);
      published.add(pipeline.records());
      assertThat(published.windowEnds()).containsExactly(10L);
      pipeline.send(0, new Watermark(29));
      published.add(pipeline.records());
      assertThat(published.windowEnds()).containsExactly(10L, 30L);
    }
  }

  @Test
  void theManifestsWaitForASubtaskThatIsIdle() throws Exception {
    try (KeyedOneInputStreamOperatorTestHarness<Integer, HashedOperation, ShardSnapshot> operator =
        new KeyedOneInputStreamOperatorTestHarness<>(
            new CompactionOperator(SPEC, Publication.OF_ALL), Snapshots.shardKeys(4), Types.INT)) {
      operator.open();
      operator.processWatermark(5);
      operator.processWatermarkStatus(WatermarkStatus.IDLE);
      assertThat(operator.getOutput()).containsExactly(new Watermark(5));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void aStreamDrainedBeforeItsTimeCanBeContinued(int parallelism) throws Exception {
    PublishedSets published = new PublishedSets();
    Savepoint savepoint;
    try (SnapshotPipeline pipeline = start(Backend.HEAP, 3)) {
      pipeline.add(A, 3);
      pipeline.add(D, 55);
      pipeline.endOfInput();
      published.add(pipeline.records());
      savepoint = pipeline.savepoint();
    }
    try (SnapshotPipeline pipeline =
        new SnapshotPipeline(SPEC, Backend.HEAP, parallelism, savepoint, 1)) {
      // A's shard knows that it closed a window, B's does not, D's closed one that is not over.
      pipeline.add(B, 31);
      pipeline.watermark(39);
      pipeline.add(B, 45);
      pipeline.delete(D, 45);
      pipeline.delete(B, 46);
      pipeline.add(B, 51);
      pipeline.watermark(69);
      published.add(pipeline.records());
    }
    assertThat(published.windowEnds()).containsExactly(10L, 60L, 70L);
    assertThat(published.present(ALL)).containsExactlyInAnyOrder(A, B);
    assertThat(published.manifests()).extracting(m -> m.sequence()).isSorted();
  }

  /**
   * One subtask has heard of a watermark that the other has not, and its own is on its way to the
   * manifests: no report of a window before that may come behind it.
   */
  @ParameterizedTest
  @ValueSource(longs = {0, 80})
  void whatOneSubtaskClosedStaysClosedToItsShardsAfterAnUnalignedCheckpoint(long ttlMillis)
      throws Exception {
    Savepoint checkpoint;
    List<SnapshotRecord> calm;
    SnapshotSpec spec = SPEC.withTtlMillis(ttlMillis);
    try (SnapshotPipeline pipeline = new SnapshotPipeline(spec, Backend.HEAP, 2, null, 1)) {
      pipeline.add(A, 5);
      pipeline.watermark(9);
      assertThat(pipeline.records()).as("base, list, pack, check, manifest").hasSize(5);
      pipeline.send(0, new Watermark(29));
      pipeline.deliverNextTo(0);
      checkpoint = pipeline.checkpoint();
      calm = lateOperationAndMore(pipeline);
    }
    try (SnapshotPipeline pipeline = new SnapshotPipeline(spec, Backend.HEAP, 2, checkpoint, 9)) {
      assertThat(PublishedSets.withoutTimes(lateOperationAndMore(pipeline)))
          .usingRecursiveFieldByFieldElementComparator()
          .as("the same, except for the position of blobs")
          .containsExactlyInAnyOrderElementsOf(PublishedSets.withoutTimes(calm));
    }
    Manifest last = Manifest.read(calm.get(calm.size() - 1).value());
    assertThat(last.count()).isEqualTo(2);
    assertThat(last.windowEndMillis()).isEqualTo(40);
  }

  private static List<SnapshotRecord> lateOperationAndMore(SnapshotPipeline pipeline)
      throws Exception {
    pipeline.add(B, 15);
    pipeline.watermark(39);
    return pipeline.records();
  }

  @ParameterizedTest
  @ValueSource(longs = {3, 7, 10, 25, 1000})
  void theLengthOfTheWindowMayChangeAtARestart(long newWindowMillis) throws Exception {
    PublishedSets published = new PublishedSets();
    Savepoint savepoint;
    try (SnapshotPipeline pipeline = start(Backend.HEAP, 2)) {
      pipeline.add(A, 3);
      pipeline.watermark(12);
      pipeline.add(B, 33);
      published.add(pipeline.records());
      savepoint = pipeline.savepoint();
    }
    SnapshotSpec changed = spec("spam", newWindowMillis, 4, 0.001, HASH, Canonicaliser.NONE);
    try (SnapshotPipeline pipeline = new SnapshotPipeline(changed, Backend.HEAP, 1, savepoint, 1)) {
      pipeline.add(C, 2);
      for (long watermark = 13; watermark < 50; watermark++) {
        pipeline.watermark(watermark);
      }
      pipeline.delete(B, 34);
      pipeline.watermark(3000);
      published.add(pipeline.records());
    }
    assertThat(published.windowEnds()).isSorted().doesNotHaveDuplicates().contains(10L, 40L);
    assertThat(published.present(ALL)).containsExactlyInAnyOrder(A, C);
  }

  /** Two manifests of quiet streams are due here, in windows of either length. */
  @Test
  void noWindowIsPublishedTwiceWhereItsLengthChanged() throws Exception {
    PublishedSets published = new PublishedSets();
    Savepoint savepoint;
    try (SnapshotPipeline pipeline = start(Backend.HEAP, 1)) {
      pipeline.add(A, 3);
      pipeline.watermark(12);
      published.add(pipeline.records());
      savepoint = pipeline.savepoint();
    }
    SnapshotSpec changed = spec("spam", 7, 4, 0.001, HASH, Canonicaliser.NONE);
    try (SnapshotPipeline pipeline = new SnapshotPipeline(changed, Backend.HEAP, 1, savepoint, 1)) {
      pipeline.add(B, 13);
      pipeline.watermark(13);
      pipeline.watermark(30);
      published.add(pipeline.records());
    }
    assertThat(published.windowEnds()).containsExactly(10L, 14L, 28L);
  }

  private static SnapshotPipeline startWithTtl(long ttlMillis, Savepoint savepoint)
      throws Exception {
    return new SnapshotPipeline(SPEC.withTtlMillis(ttlMillis), Backend.HEAP, 2, savepoint, 1);
  }

  @Test
  void aKeyIsForgottenWhereNothingElseComes() throws Exception {
    try (SnapshotPipeline pipeline = startWithTtl(80, null)) {
      pipeline.add(A, 3);
      pipeline.add(B, 10);
      pipeline.watermark(19);
      pipeline.watermark(88);
      PublishedSets published = new PublishedSets().add(pipeline.records());
      assertThat(published.present(ALL)).containsExactlyInAnyOrder(A, B);
      // A's expiry window ended at 10, B's at 20.
      pipeline.watermark(89);
      published.add(pipeline.records());
      assertThat(published.present(ALL)).containsExactly(B);
      pipeline.watermark(500);
      published.add(pipeline.records());
      assertThat(published.windowEnds()).containsExactly(10L, 20L, 80L, 90L, 100L);
      assertThat(published.present(ALL)).isEmpty();
      assertThat(pipeline.liveKeys()).isZero();
      assertThat(pipeline.timers()).as("except the subtask that becomes active").isEqualTo(1);
    }
  }

  @Test
  void aKeyThatIsAcceptedAgainStays() throws Exception {
    try (SnapshotPipeline pipeline = startWithTtl(80, null)) {
      pipeline.add(A, 3);
      pipeline.watermark(19);
      pipeline.add(A, 45);
      // Replayed: it takes nothing back.
      pipeline.add(A, 3);
      pipeline.watermark(128);
      PublishedSets published = new PublishedSets().add(pipeline.records());
      assertThat(published.present(ALL)).containsExactly(A);
      assertThat(published.sections()).hasSize(1);
      pipeline.watermark(129);
      published.add(pipeline.records());
      assertThat(published.present(ALL)).isEmpty();
    }
  }

  @Test
  void theEndOfTheInputForgetsNothingWhereNothingElseComes() throws Exception {
    Savepoint savepoint;
    PublishedSets published = new PublishedSets();
    try (SnapshotPipeline pipeline = startWithTtl(80, null)) {
      pipeline.add(A, 3);
      pipeline.add(B, 3);
      pipeline.watermark(12);
      pipeline.add(B, 113);
      pipeline.endOfInput();
      published.add(pipeline.records());
      assertThat(published.windowEnds()).containsExactly(10L, 90L, 120L);
      assertThat(published.present(ALL)).containsExactlyInAnyOrder(A, B);
      assertThat(pipeline.timers()).isZero();
      savepoint = pipeline.savepoint();
    }
    try (SnapshotPipeline pipeline = startWithTtl(80, savepoint)) {
      pipeline.watermark(150);
      published.add(pipeline.records());
      assertThat(published.present(ALL)).as("if it continues after all").containsExactly(B);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 40, 200})
  void theLengthOfTheTtlMayChangeAtARestart(long newTtlMillis) throws Exception {
    Savepoint savepoint;
    PublishedSets published = new PublishedSets();
    try (SnapshotPipeline pipeline = startWithTtl(80, null)) {
      pipeline.add(A, 3);
      pipeline.watermark(62);
      published.add(pipeline.records());
      savepoint = pipeline.savepoint();
    }
    // In windows that are closed nothing changes any more.
    long forgotten = newTtlMillis <= 50 ? 70 : 230;
    try (SnapshotPipeline pipeline = startWithTtl(newTtlMillis, savepoint)) {
      for (long watermark = 63; watermark < forgotten; watermark++) {
        published.add(pipeline.records());
        assertThat(published.present(ALL)).containsExactly(A);
        pipeline.watermark(watermark);
      }
      published.add(pipeline.records());
      assertThat(published.windowEnds()).endsWith(forgotten);
      assertThat(published.present(ALL)).isEmpty();
    }
  }

  @Test
  void whetherThereIsATtlMayNotChange() throws Exception {
    for (long ttlMillis : new long[] {0, 80}) {
      Savepoint savepoint;
      try (SnapshotPipeline pipeline = startWithTtl(ttlMillis, null)) {
        pipeline.add(A, 3);
        savepoint = pipeline.savepoint();
      }
      assertThatThrownBy(() -> startWithTtl(80 - ttlMillis, savepoint).close())
          .hasStackTraceContaining(
              ttlMillis == 0
                  ? "the state to restore keeps keys until they are deleted, the job has a ttl"
                  : "the state to restore has a ttl, the job has none")
          .hasStackTraceContaining("whether there is one is fixed for the life of the state")
          .matches(SnapshotOperatorsTest::endsTheJob, "ends the job instead of restarting it");
    }
  }

  private static boolean endsTheJob(Throwable failure) {
    return ThrowableClassifier.findThrowableOfThrowableType(
            failure, ThrowableType.NonRecoverableError)
        .isPresent();
  }

  @Test
  void stateOfAnotherSetIsRefused() throws Exception {
    Savepoint savepoint;
    try (SnapshotPipeline pipeline = start(Backend.HEAP, 1)) {
      pipeline.add(A, 3);
      savepoint = pipeline.savepoint();
    }
    for (SnapshotSpec other :
        List.of(
            spec("spam2", 10, 4, 0.001, HASH, Canonicaliser.NONE),
            spec("spam", 10, 8, 0.001, HASH, Canonicaliser.NONE),
            spec("spam", 10, 4, 0.002, HASH, Canonicaliser.NONE),
            spec("spam", 10, 4, 0.001, KeyHash.xxh3(1), Canonicaliser.NONE),
            spec("spam", 10, 4, 0.001, KeyHash.parse("ab".repeat(16)), Canonicaliser.NONE),
            spec("spam", 10, 4, 0.001, HASH, Canonicaliser.TEXT))) {
      assertThatThrownBy(() -> new SnapshotPipeline(other, Backend.HEAP, 1, savepoint, 1).close())
          .hasStackTraceContaining("the state to restore belongs to another set: it holds set spam")
          .hasStackTraceContaining("the job is for " + other.identity())
          .matches(SnapshotOperatorsTest::endsTheJob, "ends the job instead of restarting it");
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MIN_VALUE, -1, Long.MAX_VALUE})
  void anOperationOutOfTimeIsRefused(long eventTimeMillis) throws Exception {
    try (SnapshotPipeline pipeline = start(Backend.HEAP, 1)) {
      assertThatThrownBy(() -> pipeline.add(A, eventTimeMillis))
          .hasMessageContaining("event time")
          .hasMessageContaining("got " + eventTimeMillis);
    }
  }

  @Test
  void anOperationWithoutTimestampIsRefused() throws Exception {
    try (KeyedOneInputStreamOperatorTestHarness<Integer, HashedOperation, ShardSnapshot> operator =
        new KeyedOneInputStreamOperatorTestHarness<>(
            new CompactionOperator(SPEC, Publication.OF_ALL), Snapshots.shardKeys(4), Types.INT)) {
      operator.open();
      assertThatThrownBy(
              () ->
                  operator.processElement(
                      new StreamRecord<>(new HashedOperation(A, Operation.ADD))))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("must carry its event time")
          .hasMessageContaining("got none");
    }
  }

  @ParameterizedTest
  @EnumSource
  void aShardHasOneTimerForEachOpenWindow(Backend backend) throws Exception {
    try (SnapshotPipeline pipeline = start(backend, 1)) {
      SplittableRandom random = new SplittableRandom(5);
      for (int i = 0; i < 2_000; i++) {
        pipeline.add(random.nextLong(), random.nextInt(30));
      }
      assertThat(pipeline.timers()).isEqualTo(4 * 3);
    }
  }
}
