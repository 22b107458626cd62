package io.firstseen.benchmarks.lists;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.benchmarks.compaction.WindowPublisher;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.operators.compaction.Publication;
import io.firstseen.operators.compaction.SnapshotSpec;
import io.firstseen.serializers.HashedOperation;
import io.firstseen.types.Operation;
import java.time.Duration;
import java.util.Iterator;
import java.util.stream.Stream;

/** Makes a list as the snapshot job does. */
final class PublishedList {
  private static final int SHARDS = 16;

  private PublishedList() {}

  /**
   * The set of these entries.
   *
   * @param entries in canonical form
   * @param falsePositiveRate of one key
   */
  static SnapshotSet of(
      String name, Stream<String> entries, double falsePositiveRate, KeyHash keyHash)
      throws Exception {
    SnapshotSpec spec =
        SnapshotSpec.of(
            name,
            Duration.ofHours(1).toMillis(),
            SHARDS,
            falsePositiveRate,
            keyHash,
            Canonicaliser.URL_EXPRESSION);
    try (WindowPublisher publisher = new WindowPublisher(spec, Publication.OF_ALL)) {
      Iterator<HashedOperation> operations =
          entries
              .map(entry -> new HashedOperation(keyHash.hash(entry.getBytes(UTF_8)), Operation.ADD))
              .iterator();
      publisher.close(() -> operations);
      return SnapshotSet.open(publisher.manifest(), publisher.loader());
    }
  }
}
