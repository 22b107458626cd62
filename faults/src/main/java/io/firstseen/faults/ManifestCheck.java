package io.firstseen.faults;

import io.firstseen.filters.snapshot.Manifest;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Compares the manifests of the snapshots topic with the model, in the order of the topic. */
final class ManifestCheck {
  private final ExactModel model;
  private final List<String> differences = new ArrayList<>();
  private @Nullable Manifest newest;
  private long checked;

  ManifestCheck(ExactModel model) {
    this.model = model;
  }

  /**
   * Takes the next manifest.
   *
   * @param produced how many events there are; a window that continues after them has other keys
   */
  synchronized void accept(Manifest manifest, int produced) {
    Manifest before = newest;
    newest = manifest;
    // Of the empty windows behind the last event some may have no manifest.
    if (before != null
        && (manifest.sequence() != before.sequence() + 1
            || (manifest.windowStartMillis() != before.windowEndMillis()
                && before.windowEndMillis() - model.settings().baseMillis() < produced))) {
      differences.add(
          "manifest %d of the window from %d to %d follows manifest %d of the window to %d"
              .formatted(
                  manifest.sequence(),
                  manifest.windowStartMillis(),
                  manifest.windowEndMillis(),
                  before.sequence(),
                  before.windowEndMillis()));
    }
    long end = manifest.windowEndMillis() - model.settings().baseMillis();
    if (end % model.settings().windowMillis() != 0) {
      differences.add("manifest %d: a window ends at %d".formatted(manifest.sequence(), end));
    } else if (end <= produced) {
      checked++;
      int live = model.liveAtEndOf((int) end / model.settings().windowMillis());
      if (manifest.count() != live) {
        differences.add(
            "manifest %d of the window to event %d has %d keys, the model %d"
                .formatted(manifest.sequence(), end, manifest.count(), live));
      }
    }
  }

  /** The newest manifest; null if there is none. */
  synchronized @Nullable Manifest newest() {
    return newest;
  }

  /** How many manifests had a window of the model. */
  synchronized long checked() {
    return checked;
  }

  synchronized List<String> differences() {
    return List.copyOf(differences);
  }
}
