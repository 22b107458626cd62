package io.firstseen.cli.snapshot;

import io.firstseen.cli.shared.Progress;
import io.firstseen.consumer.NothingPublishedException;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.consumer.SnapshotPull;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The set on a topic that a verb works on. */
final class PublishedSet {

  @Option(
      names = "--bootstrap-servers",
      paramLabel = "HOST:PORT,...",
      required = true,
      description = "Brokers to ask first.")
  private String bootstrapServers;

  @Mixin private SetOnTopic set;

  /** See {@link SetOnTopic#options}. */
  SnapshotClientOptions.Builder options() {
    return set.options(bootstrapServers);
  }

  /**
   * See {@link SetOnTopic#pull}.
   *
   * @throws NothingPublishedException if there is no snapshot yet
   * @throws UserErrorException if the topic cannot be read
   */
  SnapshotPull.Result pull(Path directory, Duration timeout, Progress progress) throws IOException {
    return set.pull(bootstrapServers, directory, timeout, progress);
  }

  String setName() {
    return set.setName();
  }
}
