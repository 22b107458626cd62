package io.firstseen.cli.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestBlobs;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.operators.compaction.ChangeBounds;
import io.firstseen.operators.compaction.Publication;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Publications of processes that are killed: clients always find a whole set. */
class DirectoryPublisherTest {
  private static final SetParameters PARAMETERS =
      SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(2), 0.001);
  private static final int KEYS = 400;

  @TempDir private Path root;

  private final List<String> warnings = new ArrayList<>();

  /** A publisher that removes all old files at once. */
  private DirectoryPublisher publisher(Path path) {
    return publisher(path, Publication.OF_ALL.removingBlobsAfter(Duration.ZERO));
  }

  private DirectoryPublisher publisher(Path path, Publication publication) {
    return new DirectoryPublisher(
        new SnapshotDirectory(path),
        "spam",
        PARAMETERS,
        Duration.ofDays(1),
        publication,
        null,
        warnings::add);
  }

  private static long[] hashes(long seed) {
    return new SplittableRandom(seed).longs(KEYS).toArray();
  }

  /** The set that a client gets to, which holds another one already. */
  private static SnapshotSet follow(Path path, SnapshotSet held) throws IOException {
    SnapshotDirectory directory = new SnapshotDirectory(path);
    Manifest newest = directory.latest();
    ManifestBlobs.verify(newest, directory::blob);
    Manifest overHttp =
        Manifest.read(Files.readAllBytes(path.resolve(SnapshotDirectory.NEWEST_MANIFEST)));
    ManifestBlobs.verify(overHttp, directory::blob);
    assertThat(behind(path)).isBetween(0L, 1L);
    if (held == null) {
      return CatchUp.to(newest, List.of(), directory::blob).set();
    }
    assertThat(newest.sequence()).isGreaterThanOrEqualTo(held.manifest().sequence());
    return CatchUp.to(newest, List.of(held), directory::blob).set();
  }

  /** The number of sequences by which clients over HTTP are behind clients of the directory. */
  private static long behind(Path path) throws IOException {
    Path copy = path.resolve(SnapshotDirectory.NEWEST_MANIFEST);
    return new SnapshotDirectory(path).latest().sequence()
        - Manifest.read(Files.readAllBytes(copy)).sequence();
  }

  /**
   * Kills a publication before each of its changes to files, then publishes a list that is held,
   * and the next list.
   */
  @Test
  void aKillBeforeAnyChangeLeavesAWholeSet() throws Exception {
    Path before = root.resolve("before");
    // The second publication repeats most keys; the list of the fourth one is new.
    for (int sequence = 1; sequence <= 3; sequence++) {
      long[] hashes = hashes(1);
      hashes[0] = sequence;
      publisher(before).publish(hashes, sequence);
    }
    SnapshotSet held = follow(before, null);
    ChangeBounds noLosses = new ChangeBounds(0, Double.POSITIVE_INFINITY, 1);
    int kept = 0;
    long behind = 0;
    boolean isKilled = true;
    for (int changes = 0; isKilled; changes++) {
      Path path = root.resolve("killed-" + changes);
      copy(before, path);
      KilledFiles files = new KilledFiles(changes);
      try {
        publisher(files.wrap(path)).publish(hashes(2), 10);
      } catch (KilledFiles.Killed e) {
        assertThat(files.wasKilled()).isTrue();
      }
      isKilled = files.wasKilled();
      SnapshotSet after = follow(path, held);
      kept += after.manifest().sequence() == 3 ? 1 : 0;
      behind += behind(path);
      DirectoryPublisher holding = publisher(path, Publication.OF_ALL.within(noLosses));
      assertThat(holding.publish(new long[1], 15).held()).isPresent();
      assertThat(behind(path)).isZero();
      publisher(path).publish(hashes(3), 20);
      SnapshotSet next = follow(path, after);
      assertThat(next.manifest().sequence()).isEqualTo(after.manifest().sequence() + 1);
      try (Stream<Path> all = Files.walk(path)) {
        assertThat(all.filter(file -> file.toString().endsWith(".tmp"))).isEmpty();
      }
      FileUtils.deleteDirectory(path.toFile());
    }
    assertThat(kept).as("kills before the manifest").isBetween(10, 100);
    assertThat(behind).as("kills between the manifest and its copy").isPositive();
    assertThat(warnings).isEmpty();
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path each : all.toList()) {
        Files.copy(each, to.resolve(from.relativize(each)));
      }
    }
  }

  @Test
  void processesThatPublishAtOnceAndAreKilledLeaveAWholeSet() throws Exception {
    Path path = root.resolve("at-once");
    publisher(path).publish(hashes(0), 1);
    SnapshotSet held = follow(path, null);
    long seed = 20261128;
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < 3; round++) {
      Process one = start(path, random.nextLong());
      Process other = start(path, random.nextLong());
      try {
        // Both have published or found the other's lock.
        one.getInputStream().read();
        other.getInputStream().read();
        TimeUnit.MILLISECONDS.sleep(random.nextInt(300));
      } finally {
        one.destroyForcibly().waitFor();
        other.destroyForcibly().waitFor();
      }
      SnapshotSet now = follow(path, held);
      assertThat(now.manifest().sequence())
          .as("round %d of seed %d", round, seed)
          .isGreaterThan(held.manifest().sequence());
      held = now;
    }
    publisher(path).publish(hashes(0), 2);
    assertThat(follow(path, held).manifest().count()).isEqualTo(KEYS);
    assertThat(warnings).isEmpty();
  }

  private static Process start(Path path, long seed) throws IOException {
    return new ProcessBuilder(
            ProcessHandle.current().info().command().orElseThrow(),
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            Publishing.class.getName(),
            path.toString(),
            "" + seed)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** Publishes again and again, until the process is killed. */
  static final class Publishing {
    public static void main(String[] arguments) throws IOException {
      DirectoryPublisher publisher = new DirectoryPublisherTest().publisher(Path.of(arguments[0]));
      long seed = Long.parseLong(arguments[1]);
      while (true) {
        try {
          publisher.publish(hashes(seed++ % 5), System.currentTimeMillis());
        } catch (IOException e) {
          if (!e.getMessage().startsWith("another job writes snapshots into ")) {
            throw e;
          }
        }
        System.out.write('.');
        System.out.flush();
      }
    }
  }
}
