package io.firstseen.consumer;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.UrlExpressions;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.filters.snapshot.UrlAnswer;
import io.firstseen.filters.snapshot.UrlLists;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

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

  static void match(SnapshotClient client) throws InvalidKeyException {
    // example: begin
    Optional<String> entry = client.match("https://www.s2-citi.com/login");
    System.out.println(entry.orElse("absent"));
    // example: end
  }

  static boolean ask(String url) throws Exception {
    // example: begin
    List<SnapshotClient> clients =
        SnapshotClient.startAll(
            List.of(
                SnapshotClientOptions.builder("localhost:9092", "phishing").build(),
                SnapshotClientOptions.builder("localhost:9092", "allowed").build()));
    for (SnapshotClient client : clients) {
      client.awaitReady(Duration.ofMinutes(2));
    }
    // Per query: the lists use the newest snapshots at this moment.
    UrlLists lists =
        new UrlLists(List.of(clients.get(0).urlList()), List.of(clients.get(1).urlList()));
    UrlAnswer answer = lists.ask(null, UrlExpressions.of(url.getBytes(UTF_8)));
    boolean block = answer.isPresent(); // listed, and in no allow set
    List<UrlAnswer.Match> entries = answer.matches(); // with the names of their lists
    // example: end
    return block && !entries.isEmpty();
  }

  static void bind(SnapshotClient client, MeterRegistry registry) {
    // example: begin
    SnapshotClientMetrics.of(client).bindTo(registry);
    // example: end
  }
}
