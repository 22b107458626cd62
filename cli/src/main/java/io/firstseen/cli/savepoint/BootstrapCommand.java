package io.firstseen.cli.savepoint;

import static io.firstseen.cli.shared.SnapshotSummary.number;

import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ClosingVerb;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Fields;
import io.firstseen.cli.shared.InputFile;
import io.firstseen.cli.shared.Progress;
import io.firstseen.embedded.EmbeddedCluster;
import io.firstseen.embedded.FlinkPath;
import io.firstseen.events.EventParser;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.ScopedKey;
import io.firstseen.filters.snapshot.SyncedFiles;
import io.firstseen.jobs.DedupJob;
import io.firstseen.jobs.files.DeadLetterFile;
import io.firstseen.jobs.files.EventLines;
import io.firstseen.jobs.files.FileFormat;
import io.firstseen.jobs.kafka.ChangelogReader;
import io.firstseen.jobs.options.DedupOptions;
import io.firstseen.jobs.options.KafkaProperties;
import io.firstseen.jobs.options.KeyOptions;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.dedup.DedupSavepoint;
import io.firstseen.operators.dedup.KnownKeys;
import io.firstseen.operators.dedup.WarmStart;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.Operation;
import io.firstseen.types.TimeToLive;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.FutureTask;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Creates a savepoint of keys that are older than the dedup job. */
@Command(
    name = "bootstrap",
    footer = {
      "  firstseen bootstrap --input keys.txt --savepoint known",
      "  firstseen bootstrap --from-topic firstseen.accepted \\",
      "      --bootstrap-servers kafka:9092 --savepoint known"
    },
    description = {
      "Creates a savepoint that preloads a dedup job with known keys: keys whose last event is "
          + "an add.",
      "Start 'firstseen run --from-savepoint', or a DedupJob or PipelineJob with 'flink run -s', "
          + "with the same hash key, canonicaliser, shards and mode. Capacity and rate are taken "
          + "from the savepoint."
    })
public final class BootstrapCommand extends ClosingVerb {
  private static final int MAX_DEAD_LETTERS_TOLD = 5;

  @ArgGroup(multiplicity = "1")
  private Origin origin;

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      defaultValue = "lines",
      description = {
        "lines: one key per line;",
        "tsv: epochSeconds TAB add|del TAB key;",
        "jsonl: an object with ts (milliseconds), op (add, delete), key and optional scope "
            + "(default: ${DEFAULT-VALUE})."
      })
  private FileFormat format;

  @Option(
      names = "--savepoint",
      required = true,
      paramLabel = "DIR",
      description = "Output directory of the savepoint, which must not exist yet.")
  private Path savepoint;

  @Option(
      names = "--dead-letters",
      paramLabel = "OUT",
      description =
          "Output file of unusable events: place TAB reason TAB line (or the key of the "
              + "record). Without it, the first are reported on standard error.")
  private Path deadLetters;

  @Mixin private KeyOptions keys;
  @Mixin private DedupOptions dedup;

  private KeyHash keyHash;
  private Canonicaliser canonicaliser;
  private KnownKeys known;
  private @Nullable DeadLetterFile deadLetterFile;
  private long eventCount;
  private long deadLetterCount;
  private final List<String> told = new ArrayList<>();

  private static final class Origin {
    @Option(
        names = "--input",
        required = true,
        paramLabel = "FILE",
        description =
            "File with keys or events, optionally in gzip format; - reads standard input.")
    private String input;

    @ArgGroup(exclusive = false)
    private Topic topic;
  }

  private static final class Topic {
    @Option(
        names = "--from-topic",
        required = true,
        paramLabel = "TOPIC",
        description =
            "Accepted topic, read from its start to its current end; keys with a tombstone "
                + "are not live.")
    private String name;

    @Option(
        names = "--bootstrap-servers",
        required = true,
        paramLabel = "HOST:PORT,...",
        description = "Kafka bootstrap servers.")
    private String bootstrapServers;

    @ArgGroup(exclusive = false)
    private KafkaProperties kafka = new KafkaProperties();

    private Properties clientProperties() {
      Properties all = new Properties();
      all.putAll(kafka.read());
      all.setProperty("bootstrap.servers", bootstrapServers);
      return all;
    }
  }

  @Override
  protected int run(Cleanup cleanup) throws Exception {
    NewDirectory target = NewDirectory.at(savepoint);
    cleanup.add(target);
    DedupParameters parameters = DedupJob.parameters(keys, dedup);
    try {
      WarmStart.check(parameters);
    } catch (IllegalArgumentException e) {
      throw new UserErrorException(e.getMessage());
    }
    deadLetters = output(deadLetters);
    if (deadLetters != null) {
      if (origin.input != null) {
        InputFile.requireOther(origin.input, deadLetters);
      }
      deadLetterFile =
          new DeadLetterFile(deadLetters, origin.input == null ? SourceEvent::key : format::write);
      cleanup.add(deadLetterFile);
    }
    Path scratch = cleanup.temporaryDirectory();
    known = new KnownKeys(Files.createDirectory(scratch.resolve("keys")), parameters.ttl());
    cleanup.add(known);
    if (origin.input == null
        && parameters.ttl() != null
        && parameters.ttl().since() == TimeToLive.Since.LAST_SEEN) {
      // The topic does not contain duplicates.
      known.renewAll(Clock.systemUTC().millis());
    }
    keyHash = keys.keyHash();
    canonicaliser = keys.canonicaliser();

    long startNanos = System.nanoTime();
    read();
    boolean isEmptyTopic = origin.input == null && eventCount == 0;
    if (eventCount == deadLetterCount && !isEmptyTopic) {
      warnOfDeadLetters();
      throw new UserErrorException(
          "none of the %s events can be used".formatted(number(eventCount)));
    }
    known.complete();
    long readNanos = System.nanoTime();
    DedupSavepoint made = make(cleanup, scratch, parameters, target);
    target.complete();
    if (deadLetterFile != null) {
      deadLetterFile.complete();
    }
    double seconds = (System.nanoTime() - startNanos) / 1e9;
    print(
        new Fields()
            .put("savepoint", "savepoint", savepoint.toString())
            .put("events", "events", eventCount)
            .put("dead letters", "deadLetters", deadLetterCount)
            .put("keys", "keys", made.keys())
            .put("bytes", "bytes", made.stateBytes())
            .putRate(
                "rate predicted", "predictedFalsePositiveRate", made.predictedFalsePositiveRate())
            .putSeconds("seconds to read", "readSeconds", (readNanos - startNanos) / 1e9)
            .putSeconds("seconds", "seconds", seconds)
            .put("events per second", "eventsPerSecond", Math.round(eventCount / seconds)));
    warn(made);
    warnOfDeadLetters();
    return ExitCode.GOOD;
  }

  private void read() throws IOException {
    try (Progress progress = new Progress(err())) {
      if (origin.input == null) {
        ChangelogReader.read(
            origin.topic.clientProperties(),
            origin.topic.name,
            dedup.maxAhead(),
            change -> {
              learn(change);
              progress.show(() -> number(eventCount) + " events read");
            });
        return;
      }
      try (EventLines lines =
          new EventLines(
              InputFile.openText(origin.input),
              format,
              new EventParser(dedup.maxAhead(), Clock.systemUTC(), canonicaliser),
              InputFile.nameOf(origin.input).getFileName().toString())) {
        for (SourceEvent event = lines.read(); event != null; event = lines.read()) {
          learn(event);
          progress.show(() -> number(eventCount) + " events read");
        }
      }
    }
  }

  private void learn(SourceEvent event) {
    eventCount++;
    // The key of an accepted topic is canonical, and prefixed with its scope.
    boolean isChange = origin.input == null;
    long hash;
    try {
      byte[] scope = isChange ? ScopedKey.scope(event.key()) : event.scope();
      byte[] key = isChange ? ScopedKey.key(event.key()) : event.key();
      if (!event.isWellFormed()) {
        setAside(event, event.problem());
        return;
      }
      byte[] form =
          isChange ? canonicaliser.canonicaliseAgain(key) : canonicaliser.canonicalise(key);
      hash = keyHash.hash(ScopedKey.join(scope, form));
    } catch (InvalidKeyException | IllegalArgumentException e) {
      setAside(event, e.getMessage());
      return;
    }
    try {
      if (event.operation() == Operation.ADD) {
        known.add(hash, event.timestampMillis());
      } else {
        known.remove(hash);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void setAside(SourceEvent event, String reason) {
    deadLetterCount++;
    if (deadLetterFile != null) {
      deadLetterFile.write(event, reason);
    } else if (told.size() < MAX_DEAD_LETTERS_TOLD) {
      told.add(event.place() + ": " + reason);
    }
  }

  private void warnOfDeadLetters() {
    if (told.isEmpty()) {
      return;
    }
    err()
        .printf(
            "warning: %s events are unusable (--dead-letters writes them to a file)%s%n",
            number(deadLetterCount), deadLetterCount > told.size() ? ", the first ones:" : ":");
    told.forEach(err()::println);
  }

  private DedupSavepoint make(
      Cleanup cleanup, Path scratch, DedupParameters parameters, NewDirectory target)
      throws Exception {
    int tasks = Math.min(Runtime.getRuntime().availableProcessors(), parameters.shardCount());
    EmbeddedCluster cluster =
        cleanup.open(
            () ->
                EmbeddedCluster.start(
                    scratch.resolve("flink"),
                    EmbeddedCluster.Settings.defaults().slotsPerTaskManager(tasks)));
    // RocksDB builds state of any size and mode in little memory.
    StreamExecutionEnvironment env =
        cluster.environment(new Configuration().set(StateBackendOptions.STATE_BACKEND, "rocksdb"));
    WarmStart start =
        new WarmStart(env.setParallelism(tasks), parameters, DedupJob.UID_PREFIX, known);
    FutureTask<Void> writing =
        new FutureTask<>(
            () -> {
              start.write(new org.apache.flink.core.fs.Path(target.directory().toUri()));
              return null;
            });
    int parts = Math.max(1, known.partsLeft());
    Thread writer = new Thread(writing, "warm-start");
    writer.setDaemon(true);
    writer.start();
    try (Progress progress = new Progress(err())) {
      progress.await(
          writing, () -> 100 * (parts - known.partsLeft()) / parts + " % of the filters made");
    }
    return DedupSavepoint.read(
            cluster.environment(), DedupJob.UID_PREFIX, FlinkPath.of(target.directory()))
        .orElseThrow(() -> new IllegalStateException("the savepoint holds no dedup"));
  }

  private void warn(DedupSavepoint made) {
    keys.publicKeyWarning().ifPresent(text -> err().println("warning: " + text));
    double rate = made.predictedFalsePositiveRate();
    if (rate > dedup.falsePositiveRate()) {
      err()
          .printf(
              "warning: %s keys are more than the --capacity of %s: the rate is %s, not %s, and"
                  + " grows with further keys%n",
              number(made.keys()),
              number(dedup.capacity()),
              Fields.rate(rate),
              dedup.falsePositiveRate());
    }
  }

  /** A directory whose name ends in {@code .partial} until it is complete. */
  private static final class NewDirectory implements Closeable {
    private final Path target;
    private final Path partial;
    private boolean complete;

    private NewDirectory(Path target, Path partial) {
      this.target = target;
      this.partial = partial;
    }

    static NewDirectory at(Path directory) {
      Path target = directory.toAbsolutePath().normalize();
      if (Files.exists(target)) {
        throw new UserErrorException(directory + " already exists");
      }
      Path parent = target.getParent();
      if (!Files.isDirectory(parent)) {
        throw new UserErrorException(
            "cannot create %s: directory %s does not exist".formatted(directory, parent));
      }
      for (int number = 1; ; number++) {
        Path partial = parent.resolve("%s.%d.partial".formatted(target.getFileName(), number));
        try {
          return new NewDirectory(target, Files.createDirectory(partial));
        } catch (FileAlreadyExistsException e) {
          // The name is used already; try the next one.
        } catch (IOException e) {
          throw UserErrorException.cannot("make", directory, e);
        }
      }
    }

    Path directory() {
      return partial;
    }

    void complete() {
      try {
        Files.move(partial, target);
        SyncedFiles.syncDirectory(target.getParent());
      } catch (IOException e) {
        throw UserErrorException.cannot("make", target, e);
      }
      complete = true;
    }

    @Override
    public void close() throws IOException {
      if (!complete) {
        new Cleanup.TemporaryDirectory(partial).close();
      }
    }
  }
}
