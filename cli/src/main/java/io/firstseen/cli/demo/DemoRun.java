package io.firstseen.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.consumer.SnapshotListener;
import io.firstseen.embedded.EmbeddedBroker;
import io.firstseen.embedded.EmbeddedCluster;
import io.firstseen.embedded.TopicReader;
import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.jobs.kafka.RecordHeaders;
import io.firstseen.jobs.options.DedupOptions;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.serializers.Outcome;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongToDoubleFunction;
import org.apache.flink.configuration.HeartbeatManagerOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** One demo: sets everything up, sends the stream, waits for the results, and checks them. */
final class DemoRun {
  private static final long POLL_MILLIS = 100;

  /** The demo fails if it makes no progress for this long. */
  private static final Duration TIMEOUT = Duration.ofMinutes(2);

  private static final int LINGER_MILLIS = 5;
  private static final long END_TIMEOUT_MILLIS = 2_000;
  private static final Duration HEARTBEAT_INTERVAL = Duration.ofMillis(250);

  private final DemoCommand settings;
  private final PrintWriter err;
  private final Cleanup cleanup;
  private final List<DemoEvent> events;
  private final ExecutorService background = Executors.newSingleThreadExecutor();
  private final AtomicLong snapshots = new AtomicLong();
  private volatile long snapshotKeys;
  private DemoProgress progress;
  private DemoJobs jobs;

  DemoRun(DemoCommand settings, PrintWriter err, Cleanup cleanup) throws IOException {
    this.settings = settings;
    this.err = err;
    this.cleanup = cleanup;
    int maxEvents = settings.events == null ? Integer.MAX_VALUE : settings.events;
    this.events = SampleStream.events(DemoCommand.PARTITIONS, maxEvents);
  }

  DemoReport run() throws Exception {
    err.println("Starting a Kafka broker and a Flink cluster in this process.");
    JobOptions options = settings.jobs();
    Path directory = cleanup.temporaryDirectory();
    EmbeddedBroker.Settings brokerSettings =
        EmbeddedBroker.Settings.tuned()
            .with("num.partitions", Integer.toString(DemoCommand.PARTITIONS))
            // On a busy machine the broker may miss its own heartbeats.
            .with("broker.session.timeout.ms", "60000");
    EmbeddedBroker broker =
        cleanup.open(() -> EmbeddedBroker.start(directory.resolve("kafka"), brokerSettings));
    EmbeddedCluster cluster =
        cleanup.open(
            () ->
                EmbeddedCluster.start(
                    directory.resolve("flink"),
                    EmbeddedCluster.Settings.defaults()
                        .slotsPerTaskManager(2 * settings.parallelism)
                        .webPort(settings.webPort)
                        .with(HeartbeatManagerOptions.HEARTBEAT_INTERVAL, HEARTBEAT_INTERVAL)));
    KafkaOptions kafka = DemoCommand.kafka(broker.bootstrapServers());
    err.printf("  Kafka  %s%n  Flink  %s%n", kafka.bootstrapServers(), cluster.webUrl());
    broker.createTopics(
        List.of(new NewTopic(kafka.events().topic(), DemoCommand.PARTITIONS, (short) 1)));
    SnapshotClient client =
        SnapshotClient.start(
            SnapshotClientOptions.builder(kafka.bootstrapServers(), options.snapshots().setName())
                .topic(kafka.topics().snapshotsTopic())
                .keyHash(options.keys().keyHash())
                .listener(
                    new SnapshotListener() {
                      @Override
                      public void onSnapshot(Manifest manifest) {
                        snapshotKeys = manifest.count();
                        snapshots.incrementAndGet();
                      }
                    })
                .build());
    cleanup.add(client::close);
    jobs = new DemoJobs(cluster, settings, kafka, events);
    jobs.awaitRunning();
    cleanup.add(this::endBackground);
    err.printf(
        Locale.ROOT,
        "Sending %,d event%s, %,d per second:%n%n",
        events.size(),
        events.size() == 1 ? "" : "s",
        settings.rate);
    try (DemoProgress shown = new DemoProgress(err)) {
      progress = shown;
      return sendAndCheck(kafka, options, client);
    }
  }

  private DemoReport sendAndCheck(KafkaOptions kafka, JobOptions options, SnapshotClient client)
      throws Exception {
    TopicReader<byte[], byte[]> reader =
        new TopicReader<>(
            kafka.bootstrapServers(), new ByteArrayDeserializer(), new ByteArrayDeserializer());
    ObservedOutcomes observed = new ObservedOutcomes();
    long startNanos = System.nanoTime();
    during(
        () -> {
          send(kafka);
          jobs.awaitDedup();
          return null;
        });
    double seconds = (System.nanoTime() - startNanos) / 1e9;
    return during(
        () -> {
          Map<TopicPartition, Long> afterLast = read(reader, kafka, observed);
          jobs.finishSnapshots(
              observed.count(Outcome.Kind.ACCEPTED) + observed.count(Outcome.Kind.REMOVED),
              afterLast);
          client.awaitSequence(lastManifest(reader, kafka, options).sequence(), TIMEOUT);
          ExactModel model = new ExactModel(events, falsePositiveRate(options.dedup()));
          Checks checks =
              new Checks(
                  model, observed, client::mightContain, options.dedup().falsePositiveRate());
          return new DemoReport(
              settings,
              observed,
              seconds,
              snapshots.get(),
              SnapshotSummary.of(client.status().snapshot().orElseThrow()),
              checks.all(),
              checks.nanosPerQuery());
        });
  }

  /**
   * Sends every event once, at its rate and with the send time as the event time, and returns when
   * the broker has acknowledged all.
   *
   * @throws KafkaException if the broker rejects an event
   */
  private void send(KafkaOptions kafka) throws InterruptedException {
    AtomicReference<Exception> rejection = new AtomicReference<>();
    // In order and without duplicates: Kafka's default is an idempotent producer.
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                kafka.bootstrapServers(),
                ProducerConfig.LINGER_MS_CONFIG,
                LINGER_MILLIS),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      long startNanos = System.nanoTime();
      for (int i = 0; i < events.size() && rejection.get() == null; i++) {
        long dueNanos = startNanos + Math.round(i * 1e9 / settings.rate);
        TimeUnit.NANOSECONDS.sleep(dueNanos - System.nanoTime());
        DemoEvent event = events.get(i);
        var unused =
            producer.send(
                new ProducerRecord<>(
                    kafka.events().topic(),
                    event.partition(),
                    event.recordKey(),
                    event.recordValue(System.currentTimeMillis())),
                (place, e) -> {
                  if (e != null) {
                    rejection.compareAndSet(null, e);
                  }
                });
      }
      producer.flush();
    }
    if (rejection.get() != null) {
      throw new KafkaException("an event was rejected: " + rejection.get().getMessage());
    }
  }

  /** Stops the producer and other background work, before the broker is stopped. */
  private void endBackground() {
    background.shutdownNow();
    try {
      var unused = background.awaitTermination(END_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Runs a slow step in the background while progress is shown. */
  private <T> T during(Callable<T> step) throws Exception {
    Future<T> result = background.submit(step);
    Object lastSeen = null;
    long changedNanos = System.nanoTime();
    while (true) {
      try {
        return result.get(POLL_MILLIS, TimeUnit.MILLISECONDS);
      } catch (ExecutionException e) {
        throw e.getCause() instanceof Exception cause ? cause : e;
      } catch (TimeoutException e) {
        jobs.requireNoFailure();
      }
      var counts = jobs.counts();
      progress.show(counts, snapshots.get(), snapshotKeys);
      Object seen = List.of(counts, snapshots.get());
      if (!seen.equals(lastSeen)) {
        lastSeen = seen;
        changedNanos = System.nanoTime();
      } else if (System.nanoTime() - changedNanos > TIMEOUT.toNanos()) {
        throw new TimeoutException("no progress for " + TIMEOUT.toSeconds() + " s");
      }
    }
  }

  private static Map<TopicPartition, Long> read(
      TopicReader<byte[], byte[]> reader, KafkaOptions kafka, ObservedOutcomes observed)
      throws TimeoutException {
    byte[] unknown = "unknown-delete".getBytes(UTF_8);
    reader.read(
        kafka.topics().deadLettersTopic(), record -> observed.add(Outcome.Kind.DEAD_LETTER));
    reader.read(
        kafka.topics().duplicatesTopic(),
        record ->
            observed.add(
                Arrays.equals(record.headers().lastHeader(RecordHeaders.OUTCOME).value(), unknown)
                    ? Outcome.Kind.UNKNOWN_DELETE
                    : Outcome.Kind.DUPLICATE));
    return reader.read(
        kafka.topics().acceptedTopic(), record -> observed.changelog(record.key(), record.value()));
  }

  private static Manifest lastManifest(
      TopicReader<byte[], byte[]> reader, KafkaOptions kafka, JobOptions options)
      throws TimeoutException {
    AtomicReference<byte[]> last = new AtomicReference<>();
    byte[] setName = options.snapshots().setName().getBytes(UTF_8);
    reader.read(
        kafka.topics().snapshotsTopic(),
        record -> {
          if (Arrays.equals(record.key(), setName)) {
            last.set(record.value());
          }
        });
    if (last.get() == null) {
      throw new IllegalStateException("no snapshot was published");
    }
    try {
      return Manifest.read(last.get());
    } catch (SnapshotException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The rate that the filter's theory predicts, with keys spread evenly over its shards. */
  private static LongToDoubleFunction falsePositiveRate(DedupOptions dedup) {
    long capacityOfShard = (dedup.capacity() + dedup.shards() - 1) / dedup.shards();
    CuckooShape shape = CuckooShape.forCapacity(capacityOfShard, dedup.falsePositiveRate());
    return keys -> shape.predictedFalsePositiveRate(1) * keys / dedup.shards();
  }
}
