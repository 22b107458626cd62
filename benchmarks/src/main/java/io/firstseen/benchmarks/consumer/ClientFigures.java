package io.firstseen.benchmarks.consumer;

import io.firstseen.benchmarks.FiguresProgram;
import io.firstseen.benchmarks.compaction.TopicRecords;
import io.firstseen.benchmarks.compaction.WindowPublisher;
import io.firstseen.benchmarks.shared.Turns;
import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.consumer.SnapshotListener;
import io.firstseen.consumer.SnapshotUpdate;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.operators.compaction.Publication;
import io.firstseen.operators.compaction.SnapshotSpec;
import io.firstseen.serializers.HashedOperation;
import io.firstseen.serializers.SnapshotRecord;
import io.firstseen.types.Operation;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Parameters;

/**
 * The cost and speed of the snapshot client. Publishes to a separate topic on a running broker.
 * Compares queries of the client with queries of the bare set, and prints latencies while snapshots
 * are swapped every second, the bytes of a 1 % change relative to the whole set, and the time to
 * start from a warm cache in a new JVM.
 */
public final class ClientFigures extends FiguresProgram {
  private static final Pattern OF_A_CLIENT =
      Pattern.compile(
          "(classes|filters|snapshot-consumer|kafka-clients|slf4j-api|jackson|siphash|hash4j"
              + "|crawler-commons|zstd|lz4|snappy).*");
  private static final String SET = "figures";
  private static final KeyHash HASH = KeyHash.fixed();
  private static final int SHARDS = 16;
  private static final double RATE = 0.001;
  private static final int PARTITIONS = 2;
  private static final SetParameters PARAMETERS =
      SetParameters.of(HASH, Canonicaliser.NONE, new Shards(SHARDS), RATE);

  @Parameters(paramLabel = "HOST:PORT", description = "The broker.")
  private String bootstrapServers;

  @Parameters(
      arity = "0..1",
      index = "1",
      defaultValue = "10000000",
      description = "Keys of the set (${DEFAULT-VALUE}).")
  private int keys;

  @Parameters(
      arity = "0..1",
      index = "2",
      defaultValue = "20",
      description = "Seconds of each run of queries (${DEFAULT-VALUE}).")
  private int seconds;

  private final String topic = "firstseen.figures." + System.currentTimeMillis();
  private @Nullable WindowPublisher publisher;
  private final BlockingQueue<SnapshotUpdate> updates = new LinkedBlockingQueue<>();
  private long found;
  // Keys from this number on are live.
  private int firstLive;

  public static void main(String[] args) throws Exception {
    exit(new ClientFigures(), args);
  }

  @Override
  protected void measure(Path work) throws Exception {
    SnapshotSpec spec = SnapshotSpec.of(SET, 3_600_000, SHARDS, RATE, HASH, Canonicaliser.NONE);
    Map<String, Object> broker = Map.of("bootstrap.servers", bootstrapServers);
    try (WindowPublisher ofAll = new WindowPublisher(spec, Publication.OF_ALL);
        Admin admin = Admin.create(broker);
        KafkaProducer<byte[], byte[]> producer =
            new KafkaProducer<>(broker, new ByteArraySerializer(), new ByteArraySerializer())) {
      publisher = ofAll;
      admin.createTopics(List.of(new NewTopic(topic, PARTITIONS, (short) 1))).all().get();
      try {
        run(producer, work);
      } finally {
        admin.deleteTopics(List.of(topic)).all().get();
      }
    }
  }

  private void run(KafkaProducer<byte[], byte[]> producer, Path directory) throws Exception {
    SnapshotClient client =
        SnapshotClient.start(
            WarmStart.options(bootstrapServers, topic, directory)
                .listener(
                    new SnapshotListener() {
                      @Override
                      public void onUpdate(SnapshotUpdate update) {
                        updates.add(update);
                      }
                    })
                .build());
    SnapshotUpdate all = publish(producer, first());
    queries(client);
    SnapshotUpdate change = publish(producer, next(100));
    double full = all.fetchedBytes();
    figures.plain("in full", full, "bytes");
    figures.plain("by a pack of 1 %", (double) change.fetchedBytes(), "bytes");
    figures.plain("in full / by the pack", full / change.fetchedBytes(), "");
    figures.plain("to apply it", (double) change.tookMillis(), "ms");
    latencies(client, producer, false);
    latencies(client, producer, true);
    latencies(client, producer, false);
    client.close();
    // The class path that a service needs for the client, without a logging backend.
    String classPath =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> OF_A_CLIENT.matcher(Path.of(entry).getFileName().toString()).matches())
            .collect(Collectors.joining(File.pathSeparator));
    for (int i = 0; i < 7; i++) {
      int status =
          new ProcessBuilder(
                  ProcessHandle.current().info().command().orElseThrow(),
                  "-cp",
                  classPath,
                  WarmStart.class.getName(),
                  directory.toString(),
                  topic,
                  Long.toString(System.currentTimeMillis()))
              .redirectOutput(ProcessBuilder.Redirect.INHERIT)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor();
      if (status != 0) {
        throw new IllegalStateException("the warm start ended with status " + status);
      }
    }
    if (found == 0) {
      throw new IllegalStateException("no key was found");
    }
  }

  private List<SnapshotRecord> first() throws Exception {
    return publisher.close(() -> operations(Operation.ADD, 0, keys).iterator());
  }

  /** Changes one key in {@code oneIn}: half of the changes are adds of new keys. */
  private List<SnapshotRecord> next(int oneIn) throws Exception {
    int replaced = keys / oneIn / 2;
    int first = firstLive;
    firstLive += replaced;
    return publisher.close(
        () ->
            Stream.concat(
                    operations(Operation.DELETE, first, replaced),
                    operations(Operation.ADD, first + keys, replaced))
                .iterator());
  }

  private static Stream<HashedOperation> operations(Operation operation, int first, int count) {
    return IntStream.range(first, first + count)
        .mapToObj(key -> new HashedOperation(HASH.hash(WarmStart.bytes(key)), operation));
  }

  /** Writes the records of a window to the topic and waits until the client answers from them. */
  private SnapshotUpdate publish(
      KafkaProducer<byte[], byte[]> producer, List<SnapshotRecord> records) throws Exception {
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    for (SnapshotRecord record : records) {
      if (record.kind() == SnapshotRecord.Kind.MANIFEST) {
        // A client that reads the manifest finds all blobs.
        for (Future<RecordMetadata> each : sent) {
          each.get();
        }
      }
      for (ProducerRecord<byte[], byte[]> each : TopicRecords.of(topic, PARTITIONS, record)) {
        sent.add(producer.send(each));
      }
    }
    SnapshotUpdate update = updates.poll(2, TimeUnit.MINUTES);
    if (update == null) {
      throw new IllegalStateException("the client has not taken what was published");
    }
    return update;
  }

  private void queries(SnapshotClient client) throws Exception {
    SnapshotSet set = client.status().snapshot().orElseThrow();
    int queries = 1_000_000;
    byte[][] asked = new byte[queries][];
    long[] hashes = new long[queries];
    List<String> subjects = List.of("query of the bare set", "hash", "query of the client");
    Map<String, Double> nanos =
        Turns.medians(
            subjects,
            3,
            9,
            (subject, turn) -> {
              for (int i = 0; i < queries; i++) {
                // Half of the keys are live.
                asked[i] =
                    WarmStart.bytes((int) ((i * 7_368_787L + (turn + 2) * 13L) % (2L * keys)));
                hashes[i] = HASH.hash(asked[i]);
              }
              int which = subjects.indexOf(subject);
              long start = System.nanoTime();
              for (int i = 0; i < queries; i++) {
                switch (which) {
                  case 0 -> found += set.mightContain(hashes[i]) ? 1 : 0;
                  case 1 -> found += PARAMETERS.hash(null, asked[i], HASH) & 1;
                  default -> found += client.mightContain(asked[i]) ? 1 : 0;
                }
              }
              return (double) (System.nanoTime() - start) / queries;
            });
    nanos.forEach((subject, median) -> figures.plain(subject, median, "ns"));
    figures.plain(
        "(client - hashing) / bare",
        (nanos.get(subjects.get(2)) - nanos.get(subjects.get(1))) / nanos.get(subjects.get(0)),
        "");
  }

  private void latencies(
      SnapshotClient client, KafkaProducer<byte[], byte[]> producer, boolean swaps)
      throws Exception {
    AtomicBoolean end = new AtomicBoolean();
    // Up to 100 ms in steps of 10 ns.
    long[] counts = new long[10_000_001];
    int firstAsked = firstLive + keys / 2;
    FutureTask<Long> asking =
        new FutureTask<>(
            () -> {
              byte[] key = new byte[8];
              long present = 0;
              for (int i = 0; !end.get(); i++) {
                WarmStart.fill(key, firstAsked + (i * 7_919 & 0xFFFFF));
                long start = System.nanoTime();
                boolean isPresent = client.mightContain(key);
                long took = System.nanoTime() - start;
                present += isPresent ? 1 : 0;
                counts[(int) Math.min(took / 10, counts.length - 1)]++;
              }
              return present;
            });
    List<List<SnapshotRecord>> prepared = new ArrayList<>();
    for (int i = 0; swaps && i < seconds; i++) {
      prepared.add(next(1_000));
    }
    long loadMillis = 0;
    Thread thread = new Thread(asking);
    thread.setDaemon(true);
    thread.start();
    if (swaps) {
      for (List<SnapshotRecord> records : prepared) {
        long start = System.nanoTime();
        loadMillis += publish(producer, records).tookMillis();
        Thread.sleep(Math.max(0, 1_000 - (System.nanoTime() - start) / 1_000_000));
      }
    } else {
      Thread.sleep(1_000L * seconds);
    }
    end.set(true);
    found += asking.get();
    String name = swaps ? "swapping" : "quiet";
    long total = Arrays.stream(counts).sum();
    figures.title("%s: %,d queries, none failed".formatted(name, total));
    for (double part : new double[] {0.5, 0.99, 0.999, 0.9999}) {
      figures.plain(name + ", p" + 100 * part, (double) percentile(counts, total, part), "ns");
    }
    if (swaps) {
      figures.plain("swaps", (double) prepared.size(), "");
      figures.plain("a swap", (double) loadMillis / Math.max(1, prepared.size()), "ms");
    }
  }

  private static long percentile(long[] counts, long total, double part) {
    long left = (long) (total * part);
    for (int i = 0; i < counts.length; i++) {
      left -= counts[i];
      if (left < 0) {
        return 10L * i;
      }
    }
    return 10L * counts.length;
  }

  /** The process of a warm start, which has only the class path of a client. */
  static final class WarmStart {
    private WarmStart() {}

    public static void main(String[] args) throws Exception {
      Path directory = Path.of(args[0]);
      String topic = args[1];
      long startMillis = Long.parseLong(args[2]);
      long mainMillis = System.currentTimeMillis();
      SnapshotClient client =
          // Without a broker: it answers from the cache.
          SnapshotClient.start(options("localhost:1", topic, directory).build());
      client.awaitReady(Duration.ofSeconds(30));
      boolean present = client.mightContain(bytes(5_000_000));
      long now = System.currentTimeMillis();
      System.out.printf(
          Locale.ROOT,
          "warm start: first answer (%s) after %d ms, of which main %d ms%n",
          present,
          now - startMillis,
          now - mainMillis);
      client.close();
    }

    static SnapshotClientOptions.Builder options(
        String bootstrapServers, String topic, Path cacheDirectory) {
      return SnapshotClientOptions.builder(bootstrapServers, SET)
          .topic(topic)
          .cacheDirectory(cacheDirectory);
    }

    static byte[] bytes(int key) {
      byte[] bytes = new byte[8];
      fill(bytes, key);
      return bytes;
    }

    static void fill(byte[] bytes, int key) {
      for (int i = 0; i < 8; i++) {
        bytes[i] = (byte) ('a' + ((key >>> (4 * i)) & 15));
      }
    }
  }
}
