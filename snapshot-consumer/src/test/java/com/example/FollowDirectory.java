package com.example;

// example: begin
import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.consumer.FollowedDirectory;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.UrlExpressions;
import io.firstseen.filters.snapshot.UrlList;
import java.nio.file.Path;
import java.time.Duration;

public class FollowDirectory {
  public static void main(String[] url) throws Exception {
    try (var followed = FollowedDirectory.builder(Path.of("snapshots"), "phishing").start()) {
      followed.awaitReady(Duration.ofSeconds(30));
      // A snapshot never changes: get the newest for each query.
      UrlList list = UrlList.of(followed.status().snapshot().orElseThrow(), KeyHash.fixed());
      var entry = list.match(null, UrlExpressions.of(url[0].getBytes(UTF_8)));
      System.out.println(entry.orElse("absent"));
    } catch (InvalidKeyException e) {
      System.out.println("invalid: " + e.getMessage());
    }
  }
}
// example: end
