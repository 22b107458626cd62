package io.firstseen.cli.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.consumer.SnapshotListener;
import io.firstseen.consumer.SnapshotUpdate;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.Manifest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Records a client's reports. */
public final class SeenUpdates implements SnapshotListener {
  private final List<SnapshotUpdate> updates = new CopyOnWriteArrayList<>();
  private final List<String> troubles = new CopyOnWriteArrayList<>();

  @Override
  public void onUpdate(SnapshotUpdate update) {
    updates.add(update);
  }

  @Override
  public void onRefused(String reason) {
    troubles.add(reason);
  }

  @Override
  public void onNotice(String sentence) {
    troubles.add(sentence);
  }

  /** Refusals and notices. */
  public List<String> troubles() {
    return troubles;
  }

  /** The number of updates. */
  public int count() {
    return updates.size();
  }

  /**
   * The sequences that an older set was left for and that took a whole shard; updates by packs are
   * checked to have fetched just the packs since that set.
   */
  public List<Long> sequencesWithWholeShards() {
    List<Long> whole = new ArrayList<>();
    for (SnapshotUpdate update : updates) {
      if (update.previous().isEmpty()) {
        continue;
      }
      Manifest manifest = update.manifest();
      if (update.way() == CatchUp.Way.PACKS) {
        assertThat(update.fetchedBytes())
            .as("sequence %d", manifest.sequence())
            .isEqualTo(manifest.packBytes() - update.previous().get().packBytes());
      }
      if (update.addedKeys().isEmpty()) {
        whole.add(manifest.sequence());
      }
    }
    return whole;
  }
}
