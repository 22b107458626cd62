package io.firstseen.cli.snapshot;

import static io.firstseen.cli.shared.SnapshotSummary.number;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ClosingVerb;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.Progress;
import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.consumer.SnapshotListener;
import io.firstseen.consumer.SnapshotUpdate;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.operators.UserErrorException;
import java.io.Closeable;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
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
final class SnapshotFollowCommand extends ClosingVerb implements SnapshotListener {

  @ArgGroup(multiplicity = "1")
  private Origin origin;

  @Mixin private SetOnTopic set;

  @Option(
      names = "--cache-dir",
      paramLabel = "DIR",
      description =
          "Directory for snapshots, so that the next start only reads what is new (default:"
              + " in memory). Needs --bootstrap-servers.")
  private Path cacheDirectory;

  @Option(
      names = "--count",
      paramLabel = "N",
      converter = OptionValues.KeyCount.class,
      description = "Number of snapshots after which the command ends (default: no limit).")
  private Long count;

  private final CountDownLatch end = new CountDownLatch(1);
  private Progress progress;

  static final class Origin {
    @Option(
        names = "--bootstrap-servers",
        paramLabel = "HOST:PORT,...",
        description = "Kafka bootstrap servers.")
    private String bootstrapServers;

    @Option(
        names = "--directory",
        paramLabel = "DIR",
        description = "Directory with snapshots of the set, or its http:// or https:// address.")
    private String directory;
  }

  @Override
  protected int run(Cleanup cleanup) throws Exception {
    progress = new Progress(err());
    Closeable following = cleanup.open(this::start);
    end.await();
    following.close();
    progress.close();
    return ExitCode.GOOD;
  }

  private Closeable start() {
    if (origin.directory != null) {
      if (cacheDirectory != null) {
        throw new UserErrorException("--cache-dir is for --bootstrap-servers");
      }
      return set.inDirectory(origin.directory).listener(this).start()::close;
    }
    SnapshotClientOptions.Builder options = set.options(origin.bootstrapServers).listener(this);
    if (cacheDirectory != null) {
      options.cacheDirectory(cacheDirectory);
    }
    return SnapshotClient.start(options.build())::close;
  }

  static String progress(long readBytes, long left) {
    return "reading: %s bytes, %s records left".formatted(number(readBytes), number(left));
  }

  static ObjectNode describe(ObjectNode object, Manifest manifest) {
    object
        .put("sequence", manifest.sequence())
        .put("windowStartMillis", manifest.windowStartMillis())
        .put("windowEndMillis", manifest.windowEndMillis())
        .put("publishedMillis", manifest.publishedMillis());
    if (manifest.expiresMillis() != null) {
      object.put("expiresMillis", manifest.expiresMillis());
    }
    return object.put("keys", manifest.count());
  }

  @Override
  public void onUpdate(SnapshotUpdate update) {
    Manifest manifest = update.manifest();
    ObjectNode object = describe(object("snapshot"), manifest);
    String changes = "";
    if (update.addedKeys().isPresent() && update.removedKeys().isPresent()) {
      long added = update.addedKeys().getAsLong();
      long removed = update.removedKeys().getAsLong();
      object.put("added", added).put("removed", removed);
      changes = " (+%s −%s)".formatted(number(added), number(removed));
    }
    object.put("way", update.way().name().toLowerCase(Locale.ROOT));
    object.put("fetchedBytes", update.fetchedBytes());
    object.put("tookMillis", update.tookMillis());
    printEvent(
        object,
        "sequence %d, window %s to %s, %s keys%s, %s, took %d ms"
            .formatted(
                manifest.sequence(),
                Instant.ofEpochMilli(manifest.windowStartMillis()),
                Instant.ofEpochMilli(manifest.windowEndMillis()),
                number(manifest.count()),
                changes,
                way(update),
                update.tookMillis()));
    if (count != null && --count == 0) {
      end.countDown();
    }
  }

  private static String way(SnapshotUpdate update) {
    String bytes = number(update.fetchedBytes());
    return switch (update.way()) {
      case NOTHING -> "nothing to fetch";
      case PACKS -> "by packs of " + bytes + " bytes";
      case BASES -> "by bases of " + bytes + " bytes";
    };
  }

  @Override
  public void onRefused(String reason) {
    printEvent("refused", reason);
  }

  @Override
  public void onNotice(String sentence) {
    printEvent("notice", sentence);
  }

  @Override
  public void onUnreachable(String reason) {
    printEvent("unreachable", reason);
  }

  @Override
  public void onReachable() {
    printEvent(object("reachable"), "the source can be read again");
  }

  @Override
  public void onProgress(long readBytes, long left) {
    progress.show(() -> progress(readBytes, left));
  }

  private void printEvent(String event, String sentence) {
    printEvent(object(event).put("reason", sentence), event + ": " + sentence);
  }

  private static ObjectNode object(String event) {
    return Json.object().put("time", System.currentTimeMillis()).put("event", event);
  }

  private void printEvent(ObjectNode object, String line) {
    progress.close();
    out()
        .println(
            isJson()
                ? Json.line(object)
                : Instant.ofEpochMilli(object.get("time").asLong()).truncatedTo(ChronoUnit.SECONDS)
                    + " "
                    + line);
    if (out().checkError()) {
      end.countDown();
    }
  }
}
