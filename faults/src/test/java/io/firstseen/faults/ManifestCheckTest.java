package io.firstseen.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SetParameters;
import org.junit.jupiter.api.Test;

class ManifestCheckTest {
  private static final int WINDOW = 5000;

  private final ExactModel model = ExactModelTest.model(6, 0.001);
  private final ManifestCheck check = new ManifestCheck(model);

  private void accept(long sequence, int window, int moreKeys) {
    long end = model.settings().baseMillis() + (long) window * WINDOW;
    check.accept(
        Manifest.of(
            "firstseen",
            sequence,
            end - WINDOW,
            end,
            SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(16), 0.001),
            model.liveAtEndOf(window) + moreKeys,
            "0".repeat(64),
            BlobReference.to(new byte[1]),
            1),
        4 * WINDOW);
  }

  @Test
  void rightManifestsAreGood() {
    accept(1, 1, 0);
    accept(2, 2, 0);
    accept(3, 3, 0);
    // Behind the last event other keys are live.
    accept(4, 4, 0);
    accept(5, 5, 100);
    assertThat(check.differences).isEmpty();
    assertThat(check.checked()).isEqualTo(4);
  }

  @Test
  void anotherNumberOfKeysIsSeen() {
    accept(1, 1, 1);
    assertThat(check.differences).hasSize(1);
  }

  @Test
  void aMissingWindowIsSeen() {
    accept(1, 1, 0);
    accept(2, 3, 0);
    assertThat(check.differences).hasSize(1);
  }

  @Test
  void emptyWindowsBehindTheLastEventMayBeMissing() {
    accept(3, 3, 0);
    accept(4, 4, 0);
    accept(5, 7, 0);
    assertThat(check.differences).isEmpty();
    accept(7, 8, 0);
    assertThat(check.differences).hasSize(1);
  }

  @Test
  void aRepeatedManifestIsSeen() {
    accept(1, 1, 0);
    accept(1, 1, 0);
    assertThat(check.differences).hasSize(1);
  }
}
