package io.firstseen.benchmarks.consumer;

import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.consumer.SnapshotListener;
import io.firstseen.consumer.SnapshotUpdate;
import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestShard;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDelta;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * The cost and speed of the snapshot client. Publishes to a topic of its own on a running broker.
 * Prints queries of the client against those of the bare set, latencies while snapshots are swapped
 * every second, the bytes of a 1 % delta against those of the whole set, and the time to start from
 * a warm cache in a new JVM.
 */
public final class ClientFigures {
  private static final Pattern OF_A_CLIENT =
      Pattern.compile(
          "(classes|filters|snapshot-consumer|kafka-clients|slf4j-api|jackson|siphash|hash4j"
              + "|crawler-commons|zstd|lz4|snappy).*");
  private static final String SET = "figures";
  private static final KeyHash HASH = KeyHash.fixed();
  private static final int SHARDS = 16;
  private static final SetParameters PARAMETERS =
      SetParameters.of(HASH, Canonicaliser.NONE, new Shards(SHARDS), 0.001);

  private final String bootstrapServers;
  private final String topic = "firstseen.figures." + System.currentTimeMillis();
  private final int keys;
  private final List<Snapshot> shards = new ArrayList<>();
  private final List<ManifestShard> described = new ArrayList<>();
  private final BlockingQueue<SnapshotUpdate> updates = new LinkedBlockingQueue<>();
  private long found;
  // Keys from this number on are live.
  private int firstLive;

  @SuppressWarnings("ArrayRecordComponent")
  private record Publication(byte[] manifest, List<byte[]> blobs, List<String> digests) {}

  private ClientFigures(String bootstrapServers, int keys) {
    this.bootstrapServers = bootstrapServers;
    this.keys = keys;
  }

  /** Prints the figures. Arguments: host:port of a broker, number of keys, seconds of a run. */
  public static void main(String[] args) throws Exception {
    if (args.length == 4 && args[0].equals("warm-start")) {
      warmStart(Path.of(args[1]), args[2], Long.parseLong(args[3]));
      return;
    }
    if (args.length == 0) {
      throw new IllegalArgumentException("the first argument must be host:port of a broker");
    }
    int keys = args.length > 1 ? Integer.parseInt(args[1]) : 10_000_000;
    int seconds = args.length > 2 ? Integer.parseInt(args[2]) : 20;
    new ClientFigures(args[0], keys).run(seconds);
  }

  private void run(int seconds) throws Exception {
    Map<String, Object> broker = Map.of("bootstrap.servers", bootstrapServers);
    try (Admin admin = Admin.create(broker);
        KafkaProducer<String, byte[]> producer =
            new KafkaProducer<>(broker, new StringSerializer(), new ByteArraySerializer())) {
      admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all().get();
      try {
        run(producer, seconds);
      } finally {
        admin.deleteTopics(List.of(topic)).all().get();
      }
    }
  }

  private void run(KafkaProducer<String, byte[]> producer, int seconds) throws Exception {
    Path directory = Files.createTempDirectory("firstseen-figures-");
    SnapshotClient client =
        SnapshotClient.start(
            options(bootstrapServers, topic, directory)
                .listener(
                    new SnapshotListener() {
                      @Override
                      public void onUpdate(SnapshotUpdate update) {
                        updates.add(update);
                      }
                    })
                .build());
    SnapshotUpdate full = publish(producer, first());
    queries(client);
    SnapshotUpdate delta = publish(producer, next(2, 100));
    print("bytes in full", (double) full.fetchedBytes());
    print("bytes by a delta of 1 %", (double) delta.fetchedBytes());
    print("in full / by the delta", (double) full.fetchedBytes() / delta.fetchedBytes());
    print("milliseconds to apply it", (double) delta.tookMillis());
    latencies(client, producer, seconds, false);
    latencies(client, producer, seconds, true);
    latencies(client, producer, seconds, false);
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
                  ClientFigures.class.getName(),
                  "warm-start",
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

  private static void warmStart(Path directory, String topic, long startMillis) throws Exception {
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

  private static SnapshotClientOptions.Builder options(
      String bootstrapServers, String topic, Path cacheDirectory) {
    return SnapshotClientOptions.builder(bootstrapServers, SET)
        .topic(topic)
        .cacheDirectory(cacheDirectory);
  }

  private Publication first() {
    long[][] hashes = hashes(0);
    Publication publication = new Publication(null, new ArrayList<>(), new ArrayList<>());
    for (int shard = 0; shard < SHARDS; shard++) {
      Snapshot snapshot =
          Snapshot.build(hashes[shard], universe(hashes[shard].length), parameters(shard, 1));
      shards.add(snapshot);
      described.add(ManifestShard.of(shard, hashes[shard].length, BlobReference.to(snapshot)));
      publication.blobs.add(snapshot.toBytes());
      publication.digests.add(snapshot.digest());
    }
    return withManifest(publication, 1);
  }

  /** Replaces one key in {@code oneIn} by a new one. */
  private Publication next(long sequence, int oneIn) {
    firstLive += keys / oneIn / 2;
    long[][] hashes = hashes(firstLive);
    Publication publication = new Publication(null, new ArrayList<>(), new ArrayList<>());
    for (int shard = 0; shard < SHARDS; shard++) {
      Snapshot parent = shards.get(shard);
      Snapshot child =
          Snapshot.build(hashes[shard], parent.header().universe(), parameters(shard, sequence));
      SnapshotDelta delta = SnapshotDelta.between(parent, child);
      shards.set(shard, child);
      List<BlobReference> chain = List.of(BlobReference.to(delta));
      // The newest base is the parent.
      described.set(
          shard, new ManifestShard(shard, hashes[shard].length, BlobReference.to(parent), chain));
      publication.blobs.add(delta.toBytes());
      publication.digests.add(delta.digest());
    }
    return withManifest(publication, sequence);
  }

  /** With room for the shards that grow a little. */
  private static Universe universe(int keys) {
    return PARAMETERS.universeFor(keys + keys / 8);
  }

  private long[][] hashes(int from) {
    long[][] hashes = new long[SHARDS][keys / SHARDS + 10_000 + keys / SHARDS / 50];
    int[] counts = new int[SHARDS];
    Shards rule = PARAMETERS.shards();
    for (int key = from; key < from + keys; key++) {
      long hash = HASH.hash(bytes(key));
      int shard = rule.shardOf(hash);
      hashes[shard][counts[shard]++] = hash;
    }
    for (int shard = 0; shard < SHARDS; shard++) {
      hashes[shard] = Arrays.copyOf(hashes[shard], counts[shard]);
    }
    return hashes;
  }

  private static SnapshotParameters parameters(int shard, long sequence) {
    return new SnapshotParameters(PARAMETERS, SET, shard, sequence, sequence, sequence + 1);
  }

  private Publication withManifest(Publication publication, long sequence) {
    Manifest manifest =
        Manifest.of(SET, sequence, sequence, sequence + 1, PARAMETERS, List.copyOf(described));
    return new Publication(manifest.toJson(), publication.blobs, publication.digests);
  }

  /** Writes a publication to the topic and waits until it answers. */
  private SnapshotUpdate publish(KafkaProducer<String, byte[]> producer, Publication publication)
      throws Exception {
    List<Future<RecordMetadata>> chunks = new ArrayList<>();
    for (int blob = 0; blob < publication.blobs.size(); blob++) {
      byte[] bytes = publication.blobs.get(blob);
      String digest = publication.digests.get(blob);
      for (int index = 0; index < SnapshotTopicFormat.chunkCount(bytes.length); index++) {
        chunks.add(
            producer.send(
                new ProducerRecord<>(
                    topic,
                    SnapshotTopicFormat.chunkKey(digest, index),
                    SnapshotTopicFormat.chunk(bytes, index))));
      }
    }
    for (Future<RecordMetadata> chunk : chunks) {
      chunk.get();
    }
    producer.send(new ProducerRecord<>(topic, SET, publication.manifest)).get();
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
    double[][] turns = new double[3][9];
    for (int turn = -3; turn < 9; turn++) {
      for (int i = 0; i < queries; i++) {
        // Half of the keys are live.
        asked[i] = bytes((int) ((i * 7_368_787L + turn * 13L) % (2L * keys)));
        hashes[i] = HASH.hash(asked[i]);
      }
      for (int subject = 0; subject < 3; subject++) {
        long start = System.nanoTime();
        for (int i = 0; i < queries; i++) {
          switch (subject) {
            case 0 -> found += set.mightContain(hashes[i]) ? 1 : 0;
            case 1 -> found += PARAMETERS.hash(null, asked[i], HASH) & 1;
            default -> found += client.mightContain(asked[i]) ? 1 : 0;
          }
        }
        if (turn >= 0) {
          turns[subject][turn] = (double) (System.nanoTime() - start) / queries;
        }
      }
    }
    double bare = median(turns[0]);
    double hashing = median(turns[1]);
    double byClient = median(turns[2]);
    print("ns a query of the bare set", bare);
    print("ns to hash", hashing);
    print("ns a query of the client", byClient);
    print("(client - hashing) / bare", (byClient - hashing) / bare);
  }

  private void latencies(
      SnapshotClient client, KafkaProducer<String, byte[]> producer, int seconds, boolean swaps)
      throws Exception {
    AtomicBoolean end = new AtomicBoolean();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    // Up to 100 ms in steps of 10 ns.
    long[] counts = new long[10_000_001];
    int firstAsked = firstLive + keys / 2;
    Thread asking =
        new Thread(
            () -> {
              byte[] key = new byte[8];
              long local = 0;
              try {
                for (int i = 0; !end.get(); i++) {
                  fill(key, firstAsked + (i * 7_919 & 0xFFFFF));
                  long start = System.nanoTime();
                  boolean present = client.mightContain(key);
                  long took = System.nanoTime() - start;
                  local += present ? 1 : 0;
                  counts[(int) Math.min(took / 10, counts.length - 1)]++;
                }
                found += local;
              } catch (Throwable e) {
                failure.set(e);
              }
            });
    asking.setDaemon(true);
    List<Publication> prepared = new ArrayList<>();
    long sequence = client.manifest().orElseThrow().sequence();
    for (int i = 0; swaps && i < seconds; i++) {
      prepared.add(next(++sequence, 1_000));
    }
    long loadMillis = 0;
    asking.start();
    if (swaps) {
      for (Publication publication : prepared) {
        long start = System.nanoTime();
        loadMillis += publish(producer, publication).tookMillis();
        Thread.sleep(Math.max(0, 1_000 - (System.nanoTime() - start) / 1_000_000));
      }
    } else {
      Thread.sleep(1_000L * seconds);
    }
    end.set(true);
    asking.join();
    if (failure.get() != null) {
      throw new IllegalStateException("a query failed", failure.get());
    }
    String name = swaps ? "swapping" : "quiet";
    long total = Arrays.stream(counts).sum();
    System.out.printf(
        Locale.ROOT,
        "%s: %d queries, none failed; p50 %d ns, p99 %d ns, p99.9 %d ns, p99.99 %d ns; %d swaps, %d"
            + " ms each%n",
        name,
        total,
        percentile(counts, total, 0.5),
        percentile(counts, total, 0.99),
        percentile(counts, total, 0.999),
        percentile(counts, total, 0.9999),
        prepared.size(),
        prepared.isEmpty() ? 0 : loadMillis / prepared.size());
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

  private static byte[] bytes(int key) {
    byte[] bytes = new byte[8];
    fill(bytes, key);
    return bytes;
  }

  private static void fill(byte[] bytes, int key) {
    for (int i = 0; i < 8; i++) {
      bytes[i] = (byte) ('a' + ((key >>> (4 * i)) & 15));
    }
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  private static void print(String name, double value) {
    System.out.printf(Locale.ROOT, "%s: %.2f%n", name, value);
  }
}
