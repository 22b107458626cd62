package io.firstseen.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.ShardTree;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.compaction.Publication;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The manifest after which a take-over continues. */
class TakeOverTest {

  private static Manifest manifest(long sequence, long windowEndMillis) {
    return Manifest.of(
        "spam",
        sequence,
        windowEndMillis - 10,
        windowEndMillis,
        SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), 0.001),
        0,
        ShardTree.root(List.of(ShardTree.Leaf.NONE)),
        null,
        0);
  }

  private static Publication takingOver(Manifest newest) {
    return SnapshotJob.takingOver(Publication.OF_ALL, newest, 5_000);
  }

  @Test
  void earlierWindowsAreHeldUnlessItsOwnIsTooFarAheadOfTheClock() {
    assertThat(takingOver(manifest(7, 5_000)))
        .isEqualTo(Publication.OF_ALL.takingOver(7, 0, 5_000));
    assertThat(takingOver(manifest(7, 5_001))).isEqualTo(Publication.OF_ALL.takingOver(7, 0, 0));
  }

  @Test
  void afterTheHighestSequenceThereIsNone() {
    Manifest last = manifest(Long.MAX_VALUE, 5_000);
    assertThatThrownBy(() -> takingOver(last))
        .isInstanceOf(UserErrorException.class)
        .hasMessageStartingWith(
            "set spam has manifest 9223372036854775807, which has the highest possible");
    assertThat(takingOver(manifest(Long.MAX_VALUE - 1, 5_000)).takenOver().sequence())
        .isEqualTo(Long.MAX_VALUE - 1);
  }
}
