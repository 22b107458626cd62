package io.firstseen.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.firstseen.consumer.FollowedDirectory;
import io.firstseen.consumer.SnapshotListener;
import io.firstseen.consumer.SnapshotUpdate;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SetWriter;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.fixtures.StaticFiles;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A set in a directory on a web server. */
class FollowedAddressTest {
  @TempDir private Path path;

  private final SetWriter writer =
      new SetWriter(
          "spam", SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(2), 0.001));
  private final long[] hashes = new SplittableRandom(1).longs(2_000).toArray();
  private final BlockingQueue<String> events = new LinkedBlockingQueue<>();

  private void publish(int sequence) throws Exception {
    SnapshotDirectory directory = new SnapshotDirectory(path);
    hashes[sequence] = ~hashes[sequence];
    SetWriter.Window window = writer.write(sequence, sequence, sequence + 1L, hashes);
    window.writeBlobs(directory);
    directory.writeManifest(window.manifest());
    directory.writeNewestManifest();
  }

  private String next() throws Exception {
    return events.poll(30, TimeUnit.SECONDS);
  }

  @Test
  void aSetIsFollowedByPacksAndOutlivesItsServer() throws Exception {
    StaticFiles server = new StaticFiles(path);
    SnapshotListener listener =
        new SnapshotListener() {
          @Override
          public void onUpdate(SnapshotUpdate update) {
            events.add(update.manifest().sequence() + " by " + update.way());
          }

          @Override
          public void onUnreachable(String reason) {
            events.add(reason);
          }

          @Override
          public void onRefused(String reason) {
            events.add(reason);
          }
        };
    try (server;
        FollowedDirectory followed =
            FollowedDirectory.builder(server.address(), "spam")
                .poll(Duration.ofMillis(10))
                .listener(listener)
                .start()) {
      assertThat(next()).endsWith("/manifest.bin answers 404");
      publish(1);
      assertThat(next()).isEqualTo("1 by " + CatchUp.Way.BASES);
      publish(2);
      assertThat(next()).isEqualTo("2 by " + CatchUp.Way.PACKS);
      assertThat(followed.status().snapshot().orElseThrow().mightContain(hashes[2])).isTrue();
      await().until(() -> server.replies().contains("304 /manifest.bin"));
      Files.writeString(path.resolve("manifest.bin"), "<html>");
      assertThat(next()).contains("/manifest.bin: ");
      server.close();
      assertThat(followed.status().snapshot().orElseThrow().manifest().sequence()).isEqualTo(2);
    }
  }

  @Test
  void anAddressHasASchemeAndAHost() {
    for (String address : new String[] {"ftp://host/", "http:///path", "file:///path"}) {
      assertThatThrownBy(() -> FollowedDirectory.builder(URI.create(address), "spam"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("must begin with http:// or https:// and a host");
    }
  }
}
