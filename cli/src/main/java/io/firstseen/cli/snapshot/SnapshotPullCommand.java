package io.firstseen.cli.snapshot;

import static io.firstseen.cli.shared.SnapshotSummary.number;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.JsonVerb;
import io.firstseen.cli.shared.Progress;
import io.firstseen.consumer.NothingPublishedException;
import io.firstseen.consumer.SnapshotPull;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.jobs.options.OptionValues;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Fetches the newest snapshot of a set into a directory, once. */
@Command(
    name = "pull",
    footer = {
      "  firstseen snapshot pull --bootstrap-servers kafka:9092 --output snapshots",
      "  firstseen snapshot pull --bootstrap-servers kafka:9092 --set spam \\",
      "      --public-key signing.pem.pub --output spam"
    },
    description = {
      "Fetches the newest snapshot of a set from a topic into a directory, once. Only "
          + "missing blobs are fetched, and all blobs are verified. The other snapshot commands "
          + "read the directory.",
      "Exit status 0 if the directory contains the newest snapshot, 1 if nothing is "
          + "published yet."
    })
final class SnapshotPullCommand extends JsonVerb {

  @Option(
      names = "--bootstrap-servers",
      paramLabel = "HOST:PORT,...",
      required = true,
      description = "Kafka bootstrap servers.")
  private String bootstrapServers;

  @Mixin private SetOnTopic set;

  @Option(
      names = "--output",
      paramLabel = "DIR",
      required = true,
      description = "Output directory, created if needed. Older snapshots in it are kept.")
  private Path output;

  @Option(
      names = "--timeout",
      paramLabel = "DURATION",
      defaultValue = "10m",
      converter = OptionValues.PositiveDuration.class,
      description = "Maximum time for the whole pull (default: ${DEFAULT-VALUE}).")
  private Duration timeout;

  @Override
  public Integer call() throws IOException {
    long startNanos = System.nanoTime();
    try (Progress progress = new Progress(err())) {
      SnapshotPull.Result result = set.pull(bootstrapServers, output, timeout, progress);
      long tookMillis = (System.nanoTime() - startNanos) / 1_000_000;
      warnOfExpiry(result.manifest());
      print(object(result, tookMillis), line(result, tookMillis));
      return ExitCode.GOOD;
    } catch (NothingPublishedException e) {
      print(Json.object().put("pulled", false).put("reason", e.getMessage()), e.getMessage());
      return ExitCode.NEGATIVE;
    }
  }

  private void warnOfExpiry(Manifest manifest) {
    Long expiresMillis = manifest.expiresMillis();
    if (expiresMillis != null && expiresMillis <= System.currentTimeMillis()) {
      err()
          .printf(
              "warning: sequence %d of set '%s' expired at %s; its publisher may have stopped%n",
              manifest.sequence(), set.setName, Instant.ofEpochMilli(expiresMillis));
    }
  }

  private String line(SnapshotPull.Result result, long tookMillis) {
    if (!result.isNew()) {
      return "nothing to do: %s holds sequence %d of set '%s' already"
          .formatted(output, result.manifest().sequence(), set.setName);
    }
    return "sequence %d of set '%s': %s keys, fetched %s bytes in %d blobs, took %d ms"
        .formatted(
            result.manifest().sequence(),
            set.setName,
            number(result.manifest().count()),
            number(result.fetchedBytes()),
            result.fetchedBlobs(),
            tookMillis);
  }

  private static ObjectNode object(SnapshotPull.Result result, long tookMillis) {
    ObjectNode answer = Json.object().put("pulled", result.isNew());
    return SnapshotFollowCommand.describe(answer, result.manifest())
        .put("fetchedBlobs", result.fetchedBlobs())
        .put("fetchedBytes", result.fetchedBytes())
        .put("tookMillis", tookMillis);
  }
}
