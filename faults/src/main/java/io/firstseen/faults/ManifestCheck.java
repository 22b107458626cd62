package io.firstseen.faults;

import io.firstseen.filters.snapshot.Manifest;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Compares the manifests of the snapshots topic with the model, in the order of the topic. */
final class ManifestCheck {
  final List<String> differences = new CopyOnWriteArrayList<>();

  private final ExactModel model;
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
                && end(before) < produced))) {
      differences.add(
          "manifest %d of the window from %d to %d follows manifest %d of the window to %d"
              .formatted(
                  manifest.sequence(),
                  manifest.windowStartMillis(),
                  manifest.windowEndMillis(),
                  before.sequence(),
                  before.windowEndMillis()));
    }
    long end = end(manifest);
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

  private long end(Manifest manifest) {
    return manifest.windowEndMillis() - model.settings().baseMillis();
  }

  /** The sequence of the newest manifest; -1 if there is none. */
  synchronized long newestSequence() {
    return newest == null ? -1 : newest.sequence();
  }

  /** The number of the first event after the newest manifest's window; -1 without a manifest. */
  synchronized long newestEnd() {
    return newest == null ? -1 : end(newest);
  }

  /** How many manifests had a window of the model. */
  synchronized long checked() {
    return checked;
  }
}
