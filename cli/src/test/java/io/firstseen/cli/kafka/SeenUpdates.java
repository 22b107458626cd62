package io.firstseen.cli.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.consumer.SnapshotListener;
import io.firstseen.consumer.SnapshotUpdate;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.CatchUpPlan;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestShard;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/** Records a client's reports, and the blobs that its updates fetched. */
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
   * The sequences that an older set was left for and that took another blob than a delta; each
   * update is checked to have fetched just the blobs of its plan.
   */
  public List<Long> sequencesByBases() {
    List<Long> byBases = new ArrayList<>();
    for (SnapshotUpdate update : updates) {
      if (update.previous().isEmpty()) {
        continue;
      }
      List<BlobReference> blobs = plan(update.previous().get(), update.manifest());
      assertThat(update.fetchedBytes())
          .as("sequence %d", update.manifest().sequence())
          .isEqualTo(blobs.stream().mapToLong(BlobReference::bytes).sum());
      boolean byDeltas = blobs.stream().allMatch(BlobReference::isDelta);
      assertThat(update.addedKeys().isPresent()).isEqualTo(byDeltas);
      if (!byDeltas) {
        byBases.add(update.manifest().sequence());
      }
    }
    return byBases;
  }

  private static List<BlobReference> plan(Manifest held, Manifest newest) {
    List<BlobReference> blobs = new ArrayList<>();
    for (ManifestShard shard : newest.shards()) {
      ManifestShard before = held.shards().get(shard.shard());
      blobs.addAll(CatchUpPlan.of(shard, Optional.of(before.newest().setDigest())).blobs());
    }
    return blobs;
  }
}
