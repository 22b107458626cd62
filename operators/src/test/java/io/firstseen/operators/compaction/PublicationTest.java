package io.firstseen.operators.compaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Base;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.operators.IncompatibleStateException;
import io.firstseen.serializers.ShardSnapshot;
import io.firstseen.serializers.SnapshotRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.KeyedProcessOperator;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;

/** Which manifests go out, and when blobs are removed, with one shard and windows of 10 ms. */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
class PublicationTest {
  private static final SnapshotSpec SPEC =
      SnapshotSpec.of("spam", 10, 1, 0.1, KeyHash.fixed(), Canonicaliser.NONE);
  private static final ChangeBounds BOUNDS = new ChangeBounds(0.5, 3, 4);

  // Digest to what the blob is and the first window in which it went out.
  private final Map<String, String> blobs = new HashMap<>();
  private final List<Manifest> manifests = new ArrayList<>();
  private final List<Set<String>> inUse = new ArrayList<>();
  private int window;

  private static KeyedOneInputStreamOperatorTestHarness<String, ShardSnapshot, SnapshotRecord>
      start(Publication publication, OperatorSubtaskState state) throws Exception {
    var harness =
        new KeyedOneInputStreamOperatorTestHarness<String, ShardSnapshot, SnapshotRecord>(
            new KeyedProcessOperator<>(new ManifestFunction(SPEC, publication)),
            snapshot -> SPEC.setName(),
            Types.STRING,
            1,
            1,
            0);
    if (state == null) {
      harness.initializeEmptyState();
    } else {
      harness.initializeState(state);
    }
    harness.open();
    return harness;
  }

  /** The manifest of the next window, with one key. */
  private Manifest closed(
      KeyedOneInputStreamOperatorTestHarness<String, ShardSnapshot, SnapshotRecord> harness)
      throws Exception {
    manifests.clear();
    close(harness, 1);
    return manifests.get(0);
  }

  /** The next window ends, with so many keys, in a whole section; what goes out but blobs. */
  private List<String> close(
      KeyedOneInputStreamOperatorTestHarness<String, ShardSnapshot, SnapshotRecord> harness,
      int keys)
      throws Exception {
    window++;
    Snapshot snapshot =
        Snapshot.build(
            LongStream.range(0, keys).map(i -> i << 32).toArray(),
            new SnapshotParameters(
                SPEC.setParameters(), "spam", 0, window, 10L * window - 10, 10L * window));
    Section whole = Section.whole(snapshot);
    byte[] base = Base.write("spam", 0, whole);
    harness.processElement(
        ShardSnapshot.changed(0, 10L * window, keys, snapshot.header().setDigest(), whole, base),
        10L * window - 1);
    harness.processWatermark(10L * window - 1);
    List<String> out = new ArrayList<>();
    for (SnapshotRecord record : harness.extractOutputValues()) {
      switch (record.kind()) {
        case BLOB ->
            blobs.putIfAbsent(record.key(), PublishedSets.kindOf(record.value()) + " of " + window);
        case MANIFEST -> {
          Manifest manifest = Manifest.read(record.value());
          manifests.add(manifest);
          out.add("%d: %d keys".formatted(manifest.sequence(), manifest.count()));
        }
        case REMOVAL -> out.add("without " + blobs.get(record.key()));
        case IN_USE -> inUse.add(digests(record.digestsInUse()));
      }
    }
    harness.getOutput().clear();
    return out;
  }

  private Set<String> digests(List<String> digests) {
    return digests.stream().map(blobs::get).collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void anExpiryOutOfBoundsIsRefused() throws Exception {
    assertThatThrownBy(() -> Publication.OF_ALL.expiringAfter(Duration.ofDays(36_501)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("expiryMillis", "[1, 3153600000000]", "3153686400000");
    assertThatThrownBy(() -> Publication.OF_ALL.expiringAfter(Duration.ZERO))
        .hasMessageContaining("got 0");
    try (var harness = start(Publication.OF_ALL.expiringAfter(Publication.MAX_EXPIRY), null)) {
      assertThat(close(harness, 10)).isNotEmpty();
    }
  }

  @Test
  void theFirstManifestAfterEachStartComesWithTheBlobsInUse() throws Exception {
    Publication publication = Publication.OF_ALL.within(BOUNDS);
    OperatorSubtaskState state;
    try (var harness = start(publication, null)) {
      assertThat(close(harness, 10)).isNotEmpty();
      assertThat(close(harness, 9)).isNotEmpty();
      assertThat(inUse)
          .containsExactly(Set.of("a base of 1", "a list of bases of 1", "a pack of 1"));
      state = harness.snapshot(1, 1);
    }
    try (var harness = start(publication, state)) {
      assertThat(close(harness, 1)).as("held").isEmpty();
      assertThat(inUse).hasSize(1);
      assertThat(close(harness, 8)).isNotEmpty();
      assertThat(close(harness, 7)).isNotEmpty();
    }
    assertThat(inUse)
        .hasSize(2)
        .last()
        .isEqualTo(Set.of("a base of 4", "a list of bases of 4", "a pack of 3", "a pack of 4"));
  }

  @Test
  void aSetThatFallsIsHeldUntilItRecovers() throws Exception {
    try (var harness = start(Publication.OF_ALL.within(BOUNDS), null)) {
      assertThat(close(harness, 2)).containsExactly("1: 2 keys");
      assertThat(close(harness, 12)).containsExactly("2: 12 keys");
      assertThat(close(harness, 5)).isEmpty();
      assertThat(close(harness, 4)).as("it is compared with sequence 2, not with 5").isEmpty();
      assertThat(close(harness, 6)).containsExactly("5: 6 keys");
      assertThat(close(harness, 3)).containsExactly("6: 3 keys");
      assertThat(close(harness, 0)).as("below the floor").containsExactly("7: 0 keys");
      assertThat(close(harness, 13)).as("above three times the floor").isEmpty();
      assertThat(close(harness, 12)).containsExactly("9: 12 keys");
    }
  }

  @Test
  void whatIsHeldStaysSoOverARestartUntilItIsLetGoOnce() throws Exception {
    OperatorSubtaskState state;
    try (var harness = start(Publication.OF_ALL.within(BOUNDS), null)) {
      assertThat(close(harness, 10)).containsExactly("1: 10 keys");
      assertThat(close(harness, 1)).isEmpty();
      state = harness.snapshot(1, 1);
    }
    Publication letGo = Publication.OF_ALL.within(BOUNDS).allowingJumpAfter(1);
    try (var harness = start(Publication.OF_ALL.within(BOUNDS), state)) {
      assertThat(close(harness, 2)).isEmpty();
      state = harness.snapshot(2, 2);
    }
    try (var harness = start(letGo, state)) {
      assertThat(close(harness, 3)).containsExactly("4: 3 keys");
      assertThat(close(harness, 12)).containsExactly("5: 12 keys");
      assertThat(close(harness, 1)).isEmpty();
      state = harness.snapshot(3, 3);
    }
    try (var harness = start(letGo, state)) {
      assertThat(close(harness, 1)).as("the same option lets no later jump pass").isEmpty();
    }
    try (var harness = start(Publication.OF_ALL.within(new ChangeBounds(0.95, 3, 4)), state)) {
      assertThat(close(harness, 1)).as("within a wider bound").containsExactly("7: 1 keys");
    }
  }

  @Test
  void manifestsSayWhenTheyWerePublishedAndExpire() throws Exception {
    Publication publication = Publication.OF_ALL.expiringAfter(Duration.ofMillis(500));
    try (var harness = start(publication, null)) {
      harness.setProcessingTime(1_000);
      Manifest first = closed(harness);
      assertThat(first.publishedMillis()).isEqualTo(1_000);
      assertThat(first.expiresMillis()).isEqualTo(1_500);
      harness.setProcessingTime(1_007);
      assertThat(closed(harness).publishedMillis()).isEqualTo(1_007);
    }
    try (var harness = start(Publication.OF_ALL, null)) {
      assertThat(closed(harness).expiresMillis()).isNull();
    }
  }

  @Test
  void blobsAreRemovedWithTheFirstManifestAfterTheGrace() throws Exception {
    Publication publication = Publication.OF_ALL.removingBlobsAfter(Duration.ofMillis(100));
    OperatorSubtaskState state;
    try (var harness = start(publication, null)) {
      harness.setProcessingTime(1_000);
      assertThat(close(harness, 1)).containsExactly("1: 1 keys");
      harness.setProcessingTime(5_000);
      assertThat(close(harness, 2)).as("named until now").containsExactly("2: 2 keys");
      harness.setProcessingTime(5_099);
      assertThat(close(harness, 3)).containsExactly("3: 3 keys");
      state = harness.snapshot(1, 1);
    }
    try (var harness = start(publication, state)) {
      harness.setProcessingTime(5_100);
      assertThat(close(harness, 4))
          .containsExactlyInAnyOrder(
              "4: 4 keys", "without a base of 1", "without a list of bases of 1");
      harness.setProcessingTime(5_199);
      assertThat(close(harness, 5))
          .containsExactlyInAnyOrder(
              "5: 5 keys",
              "without a base of 2",
              "without a list of bases of 2",
              "without a pack of 1");
      harness.setProcessingTime(9_999);
      assertThat(close(harness, 6))
          .contains("without a base of 3", "without a list of bases of 4", "without a pack of 3")
          .hasSize(7);
    }
  }

  @Test
  void nothingIsRemovedWhileASetIsHeld() throws Exception {
    Publication publication = Publication.OF_ALL.within(BOUNDS).removingBlobsAfter(Duration.ZERO);
    try (var harness = start(publication, null)) {
      assertThat(close(harness, 10)).containsExactly("1: 10 keys");
      assertThat(close(harness, 1)).isEmpty();
      assertThat(close(harness, 2)).isEmpty();
      harness.setProcessingTime(1);
      assertThat(close(harness, 9)).containsExactly("4: 9 keys");
      assertThat(close(harness, 9))
          .as("what was out of use for nothing, with the next one")
          .containsExactlyInAnyOrder(
              "5: 9 keys",
              "without a base of 1",
              "without a base of 2",
              "without a base of 3",
              "without a list of bases of 1",
              "without a list of bases of 2",
              "without a list of bases of 3",
              "without a pack of 1",
              "without a pack of 2");
    }
  }

  @Test
  void afterATakeOverSequencesGoOnAboveTheOthers() throws Exception {
    OperatorSubtaskState state;
    try (var harness = start(Publication.OF_ALL.takingOver(41, 7, 0), null)) {
      assertThat(close(harness, 1)).containsExactly("42: 1 keys");
      assertThat(close(harness, 2)).containsExactly("43: 2 keys");
      state = harness.snapshot(1, 1);
    }
    try (var harness = start(Publication.OF_ALL, state)) {
      assertThat(close(harness, 3)).containsExactly("44: 3 keys");
    }
  }

  @Test
  void afterTheHighestSequenceTheJobEndsAtOnce() throws Exception {
    Publication last = Publication.OF_ALL.takingOver(Long.MAX_VALUE - 1, 7, 0);
    OperatorSubtaskState state;
    try (var harness = start(last, null)) {
      assertThat(close(harness, 1)).containsExactly(Long.MAX_VALUE + ": 1 keys");
      state = harness.snapshot(1, 1);
    }
    try (var harness = start(last, state)) {
      assertThatThrownBy(() -> close(harness, 2))
          .isInstanceOf(IncompatibleStateException.class)
          .hasMessageContainingAll("set spam", "9223372036854775807", "another name");
    }
  }

  @Test
  void aTakeOverIsComparedWithWhatItTakesOver() throws Exception {
    Publication takeOver = Publication.OF_ALL.within(BOUNDS).takingOver(41, 20, 0);
    OperatorSubtaskState state;
    try (var harness = start(takeOver, null)) {
      assertThat(close(harness, 1)).isEmpty();
      assertThat(close(harness, 10)).containsExactly("43: 10 keys");
      assertThat(close(harness, 5)).as("its own count from then on").containsExactly("44: 5 keys");
      state = harness.snapshot(1, 1);
    }
    try (var harness = start(takeOver, state)) {
      assertThat(close(harness, 4)).containsExactly("45: 4 keys");
    }
    try (var harness = start(takeOver.allowingJumpAfter(41), null)) {
      assertThat(close(harness, 1)).containsExactly("42: 1 keys");
    }
  }

  @Test
  void aTakeOverHoldsWindowsThatAreOlderThanWhatItTakesOver() throws Exception {
    Publication takeOver =
        Publication.OF_ALL.within(BOUNDS).takingOver(41, 20, 30).allowingJumpAfter(41);
    OperatorSubtaskState state;
    try (var harness = start(takeOver, null)) {
      assertThat(close(harness, 20)).as("the window until 10").isEmpty();
      state = harness.snapshot(1, 1);
    }
    try (var harness = start(takeOver, state)) {
      assertThat(close(harness, 20)).as("until 20, also after a failure").isEmpty();
      assertThat(close(harness, 1)).as("until 30").containsExactly("44: 1 keys");
      assertThat(close(harness, 1)).containsExactly("45: 1 keys");
    }
  }
}
