package io.firstseen.cli.snapshot;

import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Progress;
import io.firstseen.cli.shared.Verb;
import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.consumer.SnapshotListener;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.operators.UserErrorException;
import java.io.Closeable;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Follows a set and prints a line for each snapshot. */
@Command(
    name = "follow",
    footer = {
      "  firstseen snapshot follow --bootstrap-servers kafka:9092",
      "  firstseen snapshot follow --bootstrap-servers kafka:9092 --set spam --count 1",
      "  firstseen snapshot follow --directory https://lists.example.org/phishing/ --set phishing"
    },
    description = {
      "Follows a set on a topic, in a directory or on a web server until it is interrupted. "
          + "Prints a line per verified snapshot and per problem. Does not need the hash key."
    })
final class SnapshotFollowCommand extends Verb {

  @ArgGroup(multiplicity = "1")
  private Origin origin;

  @Mixin private SetOnTopic set;

  @Option(
      names = "--cache-dir",
      paramLabel = "DIR",
      description =
          "Directory for snapshots, so that the next start only reads what is new (default: in "
              + "memory). Needs --bootstrap-servers.")
  private Path cacheDirectory;

  @Option(
      names = "--count",
      paramLabel = "N",
      converter = OptionValues.KeyCount.class,
      description = "Number of snapshots after which the command ends (default: no limit).")
  private Long count;

  @Option(names = "--json", description = "Print JSON objects, one per line.")
  private boolean json;

  /** The source of snapshots. */
  static final class Origin {
    @Option(
        names = "--bootstrap-servers",
        paramLabel = "HOST:PORT,...",
        description = "Kafka bootstrap servers.")
    private String bootstrapServers;

    @Option(
        names = "--directory",
        paramLabel = "DIR",
        description =
            "Directory with snapshots of the set, or its http:// or https:// address on a web "
                + "server.")
    private String directory;
  }

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
    Closeable following = cleanup.open(() -> start(lines));
    end.await();
    following.close();
    progress.close();
    return ExitCode.GOOD;
  }

  private Closeable start(SnapshotListener listener) {
    if (origin.directory != null) {
      if (cacheDirectory != null) {
        throw new UserErrorException("--cache-dir is for --bootstrap-servers");
      }
      return set.inDirectory(origin.directory).listener(listener).start()::close;
    }
    SnapshotClientOptions.Builder options = set.options(origin.bootstrapServers).listener(listener);
    if (cacheDirectory != null) {
      options.cacheDirectory(cacheDirectory);
    }
    return SnapshotClient.start(options.build())::close;
  }
}
