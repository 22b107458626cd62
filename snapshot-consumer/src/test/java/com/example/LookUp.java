package com.example;

// example: begin
import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import java.time.Duration;

public class LookUp {
  public static void main(String[] keys) throws Exception {
    var options = SnapshotClientOptions.builder("localhost:9092", "firstseen").build();
    try (SnapshotClient client = SnapshotClient.start(options)) {
      client.awaitReady(Duration.ofMinutes(2));
      for (String key : keys) {
        System.out.println(key + (client.mightContain(key) ? " present" : " absent"));
      }
    }
  }
}
// example: end
