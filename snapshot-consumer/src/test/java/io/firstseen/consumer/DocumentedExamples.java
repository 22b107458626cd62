package io.firstseen.consumer;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.micrometer.core.instrument.MeterRegistry;
import java.nio.file.Path;
import java.time.Duration;

/** Examples of the documentation, so that they compile. */
final class DocumentedExamples {
  private DocumentedExamples() {}

  static void queryDirectory(byte[] key) throws Exception {
    // example: begin
    KeyHash keyHash = KeyHash.fromFile(Path.of("hash.key"));
    try (FollowedDirectory followed =
        FollowedDirectory.builder(Path.of("snapshots"), "spam").keyHash(keyHash).start()) {
      followed.awaitReady(Duration.ofSeconds(30));
      SnapshotSet newest = followed.status().snapshot().orElseThrow();
      System.out.println(newest.mightContainKey(key, keyHash));
    }
    // example: end
  }

  static void bind(SnapshotClient client, MeterRegistry registry) {
    // example: begin
    SnapshotClientMetrics.of(client).bindTo(registry);
    // example: end
  }
}
