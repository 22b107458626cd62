package io.firstseen.benchmarks.snapshot;

import io.firstseen.benchmarks.Figures;
import io.firstseen.benchmarks.FiguresProgram;
import io.firstseen.benchmarks.compaction.WindowPublisher;
import io.firstseen.embedded.EmbeddedBroker;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.Base;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestBlobs;
import io.firstseen.filters.snapshot.Pack;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.operators.compaction.Publication;
import io.firstseen.operators.compaction.SnapshotSpec;
import io.firstseen.serializers.HashedOperation;
import io.firstseen.serializers.SnapshotRecord;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * Prints the bytes that it takes to follow a set, and their limits. The operators of the snapshot
 * job make the records in Flink's harness; a transaction for each window writes them to a topic of
 * a broker in this process, where a consumer follows partition 0. The figure is the growth of that
 * partition's log: batches with their headers, removals and commit markers. Exits with status 1 if
 * a bound is missed.
 */
public final class WireFigures extends FiguresProgram {
  private static final String SET = "phishing-domains";
  private static final KeyHash HASH = KeyHash.fixed();
  private static final double RATE = 0.001;
  private static final int SHARDS = 16;
  private static final int MANY_SHARDS = 2_048;
  private static final long SEED = 20261121;
  private static final Duration HOUR = Duration.ofHours(1);
  private static final Duration DAY = Duration.ofDays(1);
  private static final int IDLE_WINDOWS = 10;
  // A new follower is measured again when its bytes have grown by 0.2 %.
  private static final double GROWN = 1.002;

  /**
   * What is required.
   *
   * @param ofFewest the bytes of a window may be this many times the fewest,
   * @param bytes and this many more
   * @param shippedBytes what a window of the shipped stream may have beyond the fewest
   * @param idleBytes the bytes of a window without changes
   * @param manifestBytes the bytes of the newest manifest of many shards
   * @param manifestGrowth how far it may grow: its numbers take more bytes when they are higher
   * @param wireBits the bits of a key on the wire beyond log2(1 / rate)
   * @param memoryBits the same in memory
   * @param newFollower a new follower's bytes from bases relative to bases that are created now
   */
  record Bounds(
      double ofFewest,
      int bytes,
      int shippedBytes,
      int idleBytes,
      int manifestBytes,
      int manifestGrowth,
      double wireBits,
      double memoryBits,
      double newFollower) {
    static final Bounds ASKED_FOR =
        new Bounds(1.05, 2_000, 1_000, 400, 256_000, 8, 1.50, 1.78, 1.25);
  }

  enum Part {
    SMALL_CHANGE(true, 0.0001),
    MEDIUM_CHANGE(true, 0.001),
    LARGE_CHANGE(true, 0.01),
    SHIPPED(true, 0),
    NOTHING(true, 0),
    MANY_SHARDS(false, 0.001),
    BITS(false, 0),
    AWAY(false, 0.001);

    private final boolean needsBroker;
    private final double changed;

    Part(boolean needsBroker, double changed) {
      this.needsBroker = needsBroker;
      this.changed = changed;
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  @Option(
      names = "--only",
      paramLabel = "PART",
      split = ",",
      description = "measure only these parts: ${COMPLETION-CANDIDATES}")
  private Set<Part> only = EnumSet.allOf(Part.class);

  @Option(
      names = "--keys",
      defaultValue = "10000000",
      description =
          "live keys of the large sets; the others are in proportion (default: ${DEFAULT-VALUE})")
  private int keys;

  @Option(
      names = "--windows",
      defaultValue = "100",
      description =
          "windows of the large sets; the others have ten times as many (default:"
              + " ${DEFAULT-VALUE})")
  private int windows;

  private final Bounds bounds;
  // Null if no part needs it.
  private @Nullable EmbeddedBroker broker;

  WireFigures(Bounds bounds) {
    this.bounds = bounds;
  }

  public static void main(String[] arguments) {
    exit(new WireFigures(Bounds.ASKED_FOR), arguments);
  }

  @Override
  protected void measure(Path work) throws Exception {
    try {
      if (only.stream().anyMatch(part -> part.needsBroker)) {
        broker = EmbeddedBroker.start(work, EmbeddedBroker.Settings.tuned());
      }
      for (Part part : only) {
        measure(part);
      }
    } finally {
      if (broker != null) {
        broker.close();
      }
    }
  }

  private void measure(Part part) throws Exception {
    switch (part) {
      case SMALL_CHANGE, MEDIUM_CHANGE, LARGE_CHANGE -> change(part);
      case SHIPPED -> shipped();
      case NOTHING -> nothing();
      case MANY_SHARDS -> manyShards();
      case BITS -> bits();
      case AWAY -> away();
    }
  }

  private void change(Part part) throws Exception {
    figures.title(
        "%,d keys in %d shards, %s %% change in each of %,d windows"
            .formatted(keys, SHARDS, 100 * part.changed, windows));
    Supplier<Iterable<HashedOperation>> changes =
        KeyChanges.random(keys, replaced(keys, part.changed), SEED);
    Map<String, FollowedTopic> topics = new TreeMap<>();
    try (WindowPublisher publisher = publisher(SHARDS, HOUR, Canonicaliser.NONE)) {
      topics.put("no compression", topic(part.toString(), "producer", Optional.empty()));
      if (part == Part.LARGE_CHANGE) {
        topics.put("zstd", topic(part + "-zstd", "zstd", Optional.empty()));
      }
      List<Iterable<HashedOperation>> all = new ArrayList<>();
      for (int window = 0; window <= windows; window++) {
        all.add(() -> changes.get().iterator());
      }
      follow(publisher, topics, all, part + ", ", bounds.ofFewest, bounds.bytes);
    } finally {
      topics.values().forEach(FollowedTopic::close);
    }
  }

  private void shipped() throws Exception {
    List<List<HashedOperation>> days = KeyChanges.shippedDays(HASH, Canonicaliser.URL);
    figures.title("The shipped stream, a window a day, " + SHARDS + " shards");
    try (WindowPublisher publisher = publisher(SHARDS, DAY, Canonicaliser.URL);
        FollowedTopic topic = topic("shipped", "producer", Optional.empty())) {
      follow(
          publisher,
          Map.of("no compression", topic),
          days,
          Part.SHIPPED + ", ",
          1,
          bounds.shippedBytes);
      figures.plain("shipped, live keys at the end", (double) publisher.manifest().count(), "");
    }
  }

  /** Publishes all windows; measures each but the first, and a new follower. */
  private void follow(
      WindowPublisher publisher,
      Map<String, FollowedTopic> topics,
      List<? extends Iterable<HashedOperation>> all,
      String name,
      double ofFewest,
      int more)
      throws Exception {
    Map<String, WindowBytes> measured = new TreeMap<>();
    List<SnapshotRecord> first = publisher.close(all.get(0));
    for (Map.Entry<String, FollowedTopic> topic : topics.entrySet()) {
      topic.getValue().write(first);
      measured.put(topic.getKey(), new WindowBytes(ofFewest, more));
    }
    FewestBytes fewest = new FewestBytes(newFollower(publisher).set(), publisher.loader());
    long measuredAt = bytesByBases(publisher);
    double worst = overBasesCutNow(publisher);
    for (Iterable<HashedOperation> window : all.subList(1, all.size())) {
      List<HashedOperation> operations = new ArrayList<>();
      window.forEach(operations::add);
      List<SnapshotRecord> records = publisher.close(operations);
      double least = fewest.next(publisher.manifest(), operations);
      for (Map.Entry<String, FollowedTopic> topic : topics.entrySet()) {
        measured.get(topic.getKey()).add(topic.getValue().write(records), least);
      }
      long bytes = bytesByBases(publisher);
      if (bytes > GROWN * measuredAt) {
        measuredAt = bytes;
        worst = Math.max(worst, overBasesCutNow(publisher));
      }
    }
    worst = Math.max(worst, overBasesCutNow(publisher));
    measured.forEach((topic, bytes) -> bytes.print(figures, name + topic + ": "));
    figures.atMost(name + "new follower over bases cut now", worst, bounds.newFollower, "");
  }

  private static double overBasesCutNow(WindowPublisher publisher) throws IOException {
    CatchUp follower = newFollower(publisher);
    if (follower.bytes() != bytesByBases(publisher)) {
      throw new IllegalStateException(
          "a new follower must read the bytes that the newest pack says, "
              + bytesByBases(publisher)
              + ", it read "
              + follower.bytes());
    }
    long bases = 0;
    for (int shard = 0; shard < publisher.manifest().parameters().shards().count(); shard++) {
      Snapshot snapshot = follower.set().snapshot(shard);
      if (snapshot != null) {
        bases += Base.write(SET, shard, Section.whole(snapshot)).length;
      }
    }
    return (double) follower.bytes() / bases;
  }

  private static CatchUp newFollower(WindowPublisher publisher) throws IOException {
    return CatchUp.to(publisher.manifest(), List.of(), publisher.loader());
  }

  private static long bytesByBases(WindowPublisher publisher) throws IOException {
    Manifest manifest = publisher.manifest();
    Pack newest = new ManifestBlobs(manifest, publisher.loader()).newestPack();
    return newest.basesBytes() + newest.packsSince() + manifest.pack().bytes();
  }

  private void nothing() throws Exception {
    figures.title("A window in which nothing changed, name of " + SET.length() + " characters");
    int count = Math.max(1, keys / 100);
    Supplier<Iterable<HashedOperation>> changes = KeyChanges.random(count, 1, SEED);
    SigningKey key = SigningKey.generate();
    try (WindowPublisher publisher = publisher(SHARDS, HOUR, Canonicaliser.NONE);
        FollowedTopic unsigned = topic("nothing", "producer", Optional.empty());
        FollowedTopic signed = topic("nothing-signed", "producer", Optional.of(key))) {
      for (int window = 0; window < 2; window++) {
        List<SnapshotRecord> records = publisher.close(changes.get());
        unsigned.write(records);
        signed.write(records);
      }
      WindowBytes plain = new WindowBytes(1, bounds.idleBytes);
      WindowBytes withSignature = new WindowBytes(1, bounds.idleBytes);
      for (int window = 0; window < IDLE_WINDOWS; window++) {
        List<SnapshotRecord> records = publisher.close(List.of());
        plain.add(unsigned.write(records), 0);
        withSignature.add(signed.write(records), 0);
      }
      plain.print(figures, "nothing, unsigned: ");
      withSignature.print(figures, "nothing, signed: ");
    }
  }

  private void manyShards() throws Exception {
    int count = Math.max(MANY_SHARDS, keys / 50);
    figures.title(
        "%,d keys in %,d shards, 0.1 %% change in each of %,d windows"
            .formatted(count, MANY_SHARDS, 10 * windows));
    Supplier<Iterable<HashedOperation>> changes =
        KeyChanges.random(count, replaced(count, Part.MANY_SHARDS.changed), SEED);
    try (WindowPublisher publisher = publisher(MANY_SHARDS, HOUR, Canonicaliser.NONE)) {
      publisher.close(changes.get());
      int before = publisher.manifest().toBytes().length;
      for (int window = 0; window < 10 * windows; window++) {
        publisher.close(changes.get());
      }
      int after = publisher.manifest().toBytes().length;
      Pack newest = new ManifestBlobs(publisher.manifest(), publisher.loader()).newestPack();
      figures.atMost("many-shards, manifest", after, bounds.manifestBytes, "bytes");
      figures.atMost("many-shards, its growth", after - before, bounds.manifestGrowth, "bytes");
      figures.plain("many-shards, list of bases", (double) newest.bases().bytes(), "bytes");
      figures.plain(
          "many-shards, newest pack", (double) publisher.manifest().pack().bytes(), "bytes");
    }
  }

  private void bits() {
    figures.title("Bits a key beyond log2(1 / rate), one shard, rate " + RATE);
    SetParameters set = SetParameters.of(HASH, Canonicaliser.NONE, new Shards(1), RATE);
    SplittableRandom random = new SplittableRandom(SEED);
    double wire = 0;
    double memory = 0;
    for (int count : new int[] {10_000, 33_333, 100_000, 333_333, 1_000_000, 3_333_333, keys}) {
      if (count <= keys) {
        long[] hashes = random.longs(count).toArray();
        Snapshot snapshot = Snapshot.build(hashes, new SnapshotParameters(set, SET, 0, 1, 0, 1));
        double least = -Math.log(RATE) / Math.log(2);
        wire = Math.max(wire, 8.0 * Section.whole(snapshot).length() / count - least);
        double inMemory =
            snapshot.header().payloadBits() + 8.0 * snapshot.header().bucketStartsBytes();
        memory = Math.max(memory, inMemory / count - least);
      }
    }
    figures.atMost("bits, on the wire (section of a base)", wire, bounds.wireBits, "bits");
    figures.atMost("bits, in memory (codes and bucket starts)", memory, bounds.memoryBits, "bits");
  }

  private void away() throws Exception {
    int count = Math.max(1, keys / 40);
    int all = 10 * windows;
    figures.title(
        "A follower that was away: %,d keys in %d shards, 0.1 %% change a window"
            .formatted(count, SHARDS));
    Supplier<Iterable<HashedOperation>> changes =
        KeyChanges.random(count, replaced(count, Part.AWAY.changed), SEED);
    Map<Integer, SnapshotSet> away = new TreeMap<>();
    try (WindowPublisher publisher = publisher(SHARDS, HOUR, Canonicaliser.NONE)) {
      for (int left = all; left >= 0; left--) {
        publisher.close(changes.get());
        if (left == 1 || left == 10 || left == all) {
          away.put(left, newFollower(publisher).set());
        }
      }
      Manifest newest = publisher.manifest();
      for (Map.Entry<Integer, SnapshotSet> each : away.entrySet()) {
        CatchUp caughtUp = CatchUp.to(newest, List.of(each.getValue()), publisher.loader());
        double byPacks = newest.packBytes() - each.getValue().manifest().packBytes();
        double byBases = bytesByBases(publisher);
        String name = "away for " + each.getKey() + ": ";
        figures.plain(name + "by packs", byPacks, "bytes");
        figures.plain(name + "by bases", byBases, "bytes");
        figures.atMost(
            name + "read by " + caughtUp.way().name().toLowerCase(Locale.ROOT),
            (double) caughtUp.bytes(),
            Math.min(byPacks, byBases),
            "bytes");
      }
    }
  }

  private static int replaced(int count, double changed) {
    return (int) Math.max(1, Math.round(count * changed / 2));
  }

  private static WindowPublisher publisher(int shards, Duration window, Canonicaliser canonicaliser)
      throws Exception {
    return new WindowPublisher(
        SnapshotSpec.of(SET, window.toMillis(), shards, RATE, HASH, canonicaliser),
        Publication.OF_ALL.removingBlobsAfter(DAY).expiringAfter(DAY.multipliedBy(2)));
  }

  private FollowedTopic topic(String name, String compression, Optional<SigningKey> key)
      throws Exception {
    return new FollowedTopic(broker, name, compression, key);
  }

  /** The bytes of windows on a topic. */
  private static final class WindowBytes {
    private final double ofFewest;
    private final int more;
    private FollowedTopic.Counted all = new FollowedTopic.Counted(0, 0, 0);
    private double fewest;
    private int count;
    // The window that is furthest beyond its bound, or nearest to it.
    private double worst;
    private double worstBound = Double.POSITIVE_INFINITY;

    WindowBytes(double ofFewest, int more) {
      this.ofFewest = ofFewest;
      this.more = more;
    }

    void add(FollowedTopic.Counted bytes, double fewestOfWindow) {
      all = all.plus(bytes);
      fewest += fewestOfWindow;
      count++;
      double bound = ofFewest * fewestOfWindow + more;
      if (bytes.log() - bound > worst - worstBound) {
        worst = bytes.log();
        worstBound = bound;
      }
    }

    void print(Figures figures, String name) {
      figures.plain(name + "fewest, mean", fewest / count, "bytes");
      figures.plain(
          name + "records of the consumer, mean", (double) all.records() / count, "bytes");
      figures.plain(name + "off the socket, mean", (double) all.received() / count, "bytes");
      figures.atMost(
          name + "log, mean",
          (double) all.log() / count,
          ofFewest * fewest / count + more,
          "bytes");
      figures.atMost(name + "log, worst window", worst, worstBound, "bytes");
    }
  }
}
