package io.firstseen.cli.snapshot;

import io.firstseen.cli.shared.Progress;
import io.firstseen.cli.shared.SnapshotTopicOptions;
import io.firstseen.cli.shared.Verb;
import io.firstseen.consumer.FollowedDirectory;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.consumer.SnapshotListener;
import io.firstseen.consumer.SnapshotPull;
import io.firstseen.consumer.internal.HttpSource;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.jobs.options.SnapshotOptions;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.KafkaException;
import picocli.CommandLine.Option;

/** Options that select a set of a topic and the way to read it. */
final class SetOnTopic extends SnapshotTopicOptions {

  @Option(
      names = "--set",
      paramLabel = "NAME",
      defaultValue = SnapshotOptions.DEFAULT_SET,
      converter = OptionValues.SetName.class,
      description = "Name of the set (default: ${DEFAULT-VALUE}).")
  String setName;

  /** The options of a client without queries, which does not need the hash key. */
  SnapshotClientOptions.Builder options(String bootstrapServers) {
    return client(bootstrapServers, setName).followingOnly();
  }

  FollowedDirectory.Builder inDirectory(String pathOrAddress) {
    if (hasBlobLocation()) {
      throw new UserErrorException("--blobs is for --bootstrap-servers");
    }
    return Verb.accepted(
        "--directory: ",
        () ->
            (HttpSource.isHttp(pathOrAddress)
                    ? FollowedDirectory.builder(URI.create(pathOrAddress), setName)
                    : FollowedDirectory.builder(Path.of(pathOrAddress), setName))
                .trustedKeys(trustedKeys())
                .followingOnly());
  }

  SnapshotPull.Result pull(
      String bootstrapServers, Path directory, Duration timeout, Progress progress)
      throws IOException {
    SnapshotListener listener =
        new SnapshotListener() {
          @Override
          public void onProgress(long readBytes, long left) {
            progress.show(() -> SnapshotFollowCommand.progress(readBytes, left));
          }

          @Override
          public void onRefused(String reason) {
            progress.warn(reason);
          }
        };
    try {
      return SnapshotPull.pull(
          options(bootstrapServers).listener(listener).build(), directory, timeout);
    } catch (TimeoutException e) {
      throw new UserErrorException(e.getMessage());
    } catch (KafkaException e) {
      String reason = UserErrorException.lastCause(e).getMessage();
      throw new UserErrorException(
          "cannot read topic '%s' of %s: %s".formatted(topic(), bootstrapServers, reason));
    } catch (SnapshotException | FileSystemException e) {
      throw e;
    } catch (IOException e) {
      // Blobs that are elsewhere cannot be fetched.
      throw new UserErrorException(e.getMessage() == null ? e.toString() : e.getMessage());
    }
  }
}
