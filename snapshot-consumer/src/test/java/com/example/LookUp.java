package com.example;

// example: begin
import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.filters.key.KeyHash;
import java.nio.file.Path;
import java.time.Duration;

public class LookUp {
  public static void main(String[] urls) throws Exception {
    SnapshotClientOptions options =
        SnapshotClientOptions.builder("localhost:9092", "firstseen")
            .keyHash(KeyHash.fromFile(Path.of("hash.key"))) // the key of the job
            .build();
    try (SnapshotClient client = SnapshotClient.start(options)) {
      client.awaitReady(Duration.ofSeconds(30));
      for (String url : urls) {
        System.out.println(url + (client.mightContain(url) ? " present" : " absent"));
      }
    }
  }
}
// example: end
