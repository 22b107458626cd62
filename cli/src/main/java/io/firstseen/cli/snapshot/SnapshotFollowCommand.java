package io.firstseen.cli.snapshot;

import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Progress;
import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.jobs.options.OptionValues;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Follows a set and prints a line for each snapshot. */
@Command(
    name = "follow",
    footer = {
      "  firstseen snapshot follow --bootstrap-servers kafka:9092",
      "  firstseen snapshot follow --bootstrap-servers kafka:9092 --set spam --count 1"
    },
    description = {
      "Follows a set on a topic until it is interrupted. Prints a line per verified "
          + "snapshot and per problem. Does not need the hash key."
    })
final class SnapshotFollowCommand extends TopicVerb {

  @Option(
      names = "--cache-dir",
      paramLabel = "DIR",
      description =
          "Directory for snapshots, so that the next start only reads what is new (default: in "
              + "memory).")
  private Path cacheDirectory;

  @Option(
      names = "--count",
      paramLabel = "N",
      converter = OptionValues.KeyCount.class,
      description = "Number of snapshots after which the command ends (default: no limit).")
  private Long count;

  @Option(names = "--json", description = "Print JSON objects, one per line.")
  private boolean json;

  @Override
  public Integer call() throws Exception {
    return Cleanup.after(this::follow);
  }

  private int follow(Cleanup cleanup) throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    AtomicLong left = new AtomicLong(count == null ? Long.MAX_VALUE : count);
    Progress progress = new Progress(err());
    FollowLines lines =
        new FollowLines(
            out(),
            json,
            progress,
            () -> {
              if (left.decrementAndGet() == 0) {
                end.countDown();
              }
            },
            end::countDown);
    SnapshotClientOptions.Builder options = set.options(bootstrapServers).listener(lines);
    if (cacheDirectory != null) {
      options.cacheDirectory(cacheDirectory);
    }
    SnapshotClient client = cleanup.open(() -> new Following(options.build())).client;
    end.await();
    client.close();
    progress.close();
    return ExitCode.GOOD;
  }

  /** A client as something to close. */
  private static final class Following implements java.io.Closeable {
    private final SnapshotClient client;

    Following(SnapshotClientOptions options) {
      this.client = SnapshotClient.start(options);
    }

    @Override
    public void close() {
      client.close();
    }
  }
}
