package io.firstseen.consumer;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.TrustedKey;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Examples of the documentation, so that they compile. */
final class DocumentedExamples {
  private DocumentedExamples() {}

  static SnapshotClientOptions options() throws Exception {
    // example: begin
    var options =
        SnapshotClientOptions.builder("localhost:9092", "spam")
            .keyHash(KeyHash.fromFile(Path.of("hash.key")))
            .trustedKeys(List.of(TrustedKey.read(Path.of("signing.key.pub"))))
            .cacheDirectory(Path.of("cache"))
            .staleAfter(Duration.ofHours(3))
            .build();
    // example: end
    return options;
  }

  static FollowedDirectory followAddress() throws Exception {
    // example: begin
    FollowedDirectory phishing =
        FollowedDirectory.builder(URI.create("http://localhost:8081/phishing/"), "phishing")
            .trustedKeys(List.of(TrustedKey.read(Path.of("signing.key.pub"))))
            .start();
    // example: end
    return phishing;
  }

  static void bind(SnapshotClient client, MeterRegistry registry) {
    // example: begin
    SnapshotClientMetrics.of(client).bindTo(registry);
    // example: end
  }
}
