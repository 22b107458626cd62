package io.firstseen.cli.size;

import static io.firstseen.cli.shared.SnapshotSummary.number;
import static io.firstseen.cli.size.Amounts.rate;
import static io.firstseen.cli.size.Amounts.seconds;

import io.firstseen.cli.shared.Fields;
import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.near.NearRule;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.types.DedupMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The resources of a dedup job, from {@link MeasuredCosts}, real filters and the jobs' limits.
 * Sizes refer to one copy; replicas of the checkpoint storage are not included.
 */
final class Sizing {
  /** The minimum number of shards per task, so that a job can grow fourfold. */
  private static final int SHARDS_OF_TASK = 4;

  /** The similarity of unrelated texts, which share common words; all are in one scope. */
  private static final double UNRELATED = 0.1;

  private static final double TRANSACTION_SECONDS = 15 * 60;

  final SizeCommand request;
  private final Warnings warnings = new Warnings();
  private final int leastShards;
  final Division division;
  final @Nullable SnapshotSizing snapshots;

  /** Calculates the resources of a dedup job. */
  Sizing(SizeCommand request) {
    this.request = request;
    request.check();
    refuseTooLittleMemory();
    this.leastShards = leastShards();
    this.division = chosen();
    warnOfTask();
    this.snapshots = request.snapshots ? new SnapshotSizing(request, warnings) : null;
    warn();
    warnOfKeys();
  }

  /** All figures, as a table and as JSON. */
  Fields fields() {
    SizedJob job = new SizedJob(this, request);
    Fields all =
        new Fields()
            .section("Filter", "filter", filter())
            .section("Tasks", "tasks", tasks())
            .section("Memory", "memory", memory(job))
            .section("Checkpoints", "checkpoints", checkpoints());
    if (snapshots != null) {
      all.section("Snapshots", "snapshots", snapshots.fields());
    }
    Map<String, String> flink = job.flinkConfiguration();
    all.json("commands", job.commands())
        .json("flinkConfiguration", flink)
        .json("warnings", warnings.sentences);
    if (!warnings.sentences.isEmpty()) {
      lines(all, "Warnings", warnings.sentences);
    }
    lines(
        all,
        "Flink's configuration",
        flink.entrySet().stream().map(each -> each.getKey() + ": " + each.getValue()).toList());
    lines(all, "Submit", job.commands());
    return all;
  }

  private static void lines(Fields all, String heading, List<String> lines) {
    all.text(String.format("%n%s%n%s%n", heading, String.join(System.lineSeparator(), lines)));
  }

  private Fields filter() {
    int bits = identityBits(division.shards);
    CuckooShape shape = new CuckooShape(bits);
    Fields fields =
        new Fields()
            .row(request.near == null ? "keys" : "texts", number(request.keys))
            .json("identityBits", bits);
    NearRule near = request.near;
    if (near == null) {
      double rate = shape.predictedFalsePositiveRate(identitiesOfShard(division.shards));
      fields.putRate("rate at all keys", "predictedRate", rate);
    } else {
      // All texts may have one scope, and so one shard.
      double rate = shape.predictedFalsePositiveRate(request.keys * near.hashes());
      double ofPair = near.matchProbability(UNRELATED);
      double ofSignature = -Math.expm1(request.keys * Math.log1p(-ofPair));
      fields
          .putRate("rate of the filter", "predictedRate", near.filterRate(rate, request.keys))
          .put(
              "of the signature",
              "signatureRate",
              ofSignature,
              "%s if all texts are in one scope, with similarities of %s"
                  .formatted(Fields.rate(ofSignature), UNRELATED));
    }
    return fields
        .json("bitsPerKey", 8 * division.sample.heapBytes())
        .putBytes("in memory", "heapBytes", heapBytes(division))
        .putBytes("in a checkpoint", "stateBytes", stateBytes());
  }

  private Fields tasks() {
    double carried = 1 / taskSeconds(division);
    double cores = request.eventsPerSecond / carried / request.busyShare;
    return new Fields()
        .row("shards", division.shards + " (least: " + leastShards + ")")
        .json("shards", division.shards)
        .json("leastShards", leastShards)
        .put("parallelism", "parallelism", division.tasks)
        .put("a task decides", "eventsPerSecondOfTask", carried, rate(carried))
        .put("cores", "cores", cores, String.format(Locale.ROOT, "%,.1f", cores))
        .json("busyShare", busyShare(division));
  }

  private Fields memory(SizedJob job) {
    double heap = heapBytesOfTask(division);
    double disk = MeasuredCosts.DISK_OF_FILES * checkpointBytes() * division.fullestShare();
    int managers = (division.tasks - 1) / job.slots() + 1;
    double total = (double) managers * job.slots() * (heap + managedBytes());
    return new Fields()
        .putBytes("heap of a task", "heapBytesOfTask", heap)
        .putBytes("page cache in it", "pageCacheBytesOfTask", pageCacheBytes(division))
        .putBytes("managed memory", "managedBytesOfTask", managedBytes())
        .putBytes("local disk", "diskBytesOfTask", disk)
        .put("TaskManagers", "taskManagers", managers)
        .putBytes("heap of each", "heapBytesOfTaskManager", job.slots() * heap)
        .putBytes("memory in all", "totalBytes", total);
  }

  private Fields checkpoints() {
    Fields fields = new Fields();
    add(fields, "the first", "full", checkpointBytes());
    add(fields, "those that follow", "usual", usualBytes());
    return fields;
  }

  private void add(Fields fields, String title, String name, double bytes) {
    double seconds = checkpointSeconds(bytes);
    fields
        .row(title, Fields.bytes(bytes) + " in " + seconds(seconds))
        .json(name + "Bytes", bytes)
        .json(name + "Seconds", seconds);
  }

  // Shards and tasks.

  private void refuseTooLittleMemory() {
    double base = MeasuredCosts.HEAP_BASE_BYTES + managedBytes();
    if (request.memoryBytes <= base) {
      throw new UserErrorException(
          "--memory-per-task must be more than %s, which a task needs in addition to its filters, got %s"
              .formatted(Fields.bytes(base), Fields.bytes((double) request.memoryBytes)));
    }
  }

  /** The minimum number of shards with which the job accepts capacity and rate. */
  private int leastShards() {
    IllegalArgumentException refusal = null;
    for (int shards = 1; shards <= Firstseen.MAX_SHARDS; shards *= 2) {
      try {
        identityBits(shards);
        return shards;
      } catch (IllegalArgumentException e) {
        refusal = e;
      }
    }
    throw new UserErrorException(
        "no number of shards up to %d carries %s keys at a rate of %s: %s"
            .formatted(
                Firstseen.MAX_SHARDS,
                number(request.keys),
                request.falsePositiveRate,
                refusal.getMessage()));
  }

  private int identityBits(int shards) {
    Firstseen<?> dedup =
        Firstseen.withoutEvents()
            .capacity(request.keys)
            .falsePositiveRate(request.falsePositiveRate)
            .shards(shards);
    if (request.near != null) {
      dedup.canonicaliser(Canonicaliser.TEXT).near(request.near);
    }
    return dedup.parameters().identityBits();
  }

  /** The numbers of shards and tasks, and the bytes of a shard's pages. */
  record Division(int shards, int tasks, FilterSample sample) {

    /** The shards of the fullest task; Flink gives each task a range of key groups. */
    int mostShardsOfTask() {
      return (shards - 1) / tasks + 1;
    }

    double fullestShare() {
      return (double) mostShardsOfTask() / shards;
    }
  }

  private Division chosen() {
    if (request.shards != null) {
      if (request.shards < leastShards) {
        throw new UserErrorException(
            "--dedup-shards must be at least %d for %s keys at a rate of %s, got %d"
                .formatted(
                    leastShards, number(request.keys), request.falsePositiveRate, request.shards));
      }
      return divide(request.shards);
    }
    int shards = Math.max(Firstseen.DEFAULT_SHARDS, leastShards);
    while (request.parallelism != null
        && shards < request.parallelism
        && shards < Firstseen.MAX_SHARDS) {
      shards *= 2;
    }
    while (true) {
      Division divided = divide(shards);
      if (SHARDS_OF_TASK * divided.tasks() <= shards || shards == Firstseen.MAX_SHARDS) {
        return divided;
      }
      shards *= 2;
    }
  }

  /**
   * The minimum number of tasks for this number of shards, or one task per shard if there are too
   * few shards.
   */
  private Division divide(int shards) {
    FilterSample sample =
        FilterSample.of(
                identityBits(shards), identitiesOfShard(shards), shards, request.ttlSeconds() > 0)
            .times(request.identitiesOfKey());
    if (request.parallelism != null) {
      if (request.parallelism > shards) {
        throw new UserErrorException(
            "--parallelism must be at most --dedup-shards, got %d and %d"
                .formatted(request.parallelism, shards));
      }
      return new Division(shards, request.parallelism, sample);
    }
    for (int ofTask = shards; ofTask > 1; ofTask--) {
      Division divided = new Division(shards, (shards - 1) / ofTask + 1, sample);
      if (divided.mostShardsOfTask() == ofTask
          && busyShare(divided) <= request.busyShare
          && memoryOfTask(divided) <= request.memoryBytes) {
        return divided;
      }
    }
    return new Division(shards, shards, sample);
  }

  private long identitiesOfShard(int shards) {
    return (request.keys * request.identitiesOfKey() - 1) / shards + 1;
  }

  private double busyShare(Division divided) {
    return request.eventsPerSecond * divided.fullestShare() * taskSeconds(divided);
  }

  /** Seconds of a task per event. */
  private double taskSeconds(Division divided) {
    double seconds =
        MeasuredCosts.taskSeconds(
            request.eventFormat,
            request.backend,
            // Each identity may be on another page.
            request.missShare() * request.identitiesOfKey(),
            pageHeapBytes(divided) * divided.fullestShare());
    double ofNear = request.near == null ? 0 : MeasuredCosts.nearSeconds(request.near);
    return (seconds + ofNear) / request.coreSpeed;
  }

  // Memory.

  double managedBytes() {
    return request.isOnRocksDb() ? MeasuredCosts.MANAGED_BYTES : 0;
  }

  double pageCacheBytes(Division divided) {
    return request.isOnRocksDb()
        ? request.cached * pageHeapBytes(divided) * divided.fullestShare()
        : 0;
  }

  double heapBytesOfTask(Division divided) {
    return MeasuredCosts.HEAP_BASE_BYTES
        + (request.isOnRocksDb()
            ? MeasuredCosts.HEAP_OF_PAGE_CACHE * pageCacheBytes(divided)
            : MeasuredCosts.HEAP_OF_FILTERS * heapBytes(divided) * divided.fullestShare());
  }

  private double memoryOfTask(Division divided) {
    return heapBytesOfTask(divided) + managedBytes();
  }

  private double pageHeapBytes(Division divided) {
    FilterSample sample = divided.sample;
    return request.keys
        * (sample.heapBytes() + sample.pages() * MeasuredCosts.HEAP_BYTES_OF_PAGE_ENTRY);
  }

  /** Heap of all pages and, in an exact mode, of the exact set. */
  private double heapBytes(Division divided) {
    double exact = request.mode.isExact() ? MeasuredCosts.EXACT_HEAP_BYTES + keyBytesKept() : 0;
    return pageHeapBytes(divided) + request.keys * exact;
  }

  /** Bytes of the key itself in the exact set. */
  private double keyBytesKept() {
    return request.mode == DedupMode.EXACT_KEYS ? request.keyBytes : 0;
  }

  // Checkpoints.

  /** Bytes of state per entry of the exact set; 0 without an exact set. */
  private double exactStateBytes() {
    return request.mode.isExact() ? MeasuredCosts.EXACT_STATE_BYTES + keyBytesKept() : 0;
  }

  /** Bytes of state of all pages. */
  private double pageStateBytes() {
    FilterSample sample = division.sample;
    return request.keys
        * (sample.pageBytes() + sample.pages() * MeasuredCosts.STATE_BYTES_OF_PAGE_ENTRY);
  }

  private double stateBytes() {
    return pageStateBytes() + request.keys * exactStateBytes();
  }

  /** Bytes of a checkpoint that writes all state. */
  private double checkpointBytes() {
    return request.isOnRocksDb()
        ? pageStateBytes()
                * (request.missShare() == 0 ? 1 : MeasuredCosts.ROCKSDB_FILES_OF_EVICTED_PAGES)
            + request.keys * exactStateBytes()
        : stateBytes();
  }

  /** Bytes of later checkpoints, which are incremental on RocksDB. */
  private double usualBytes() {
    if (!request.isOnRocksDb()) {
      return checkpointBytes();
    }
    double newKeys = request.newKeysPerSecond() * request.checkpointSeconds();
    double pageBytes = newKeys / request.keys * pageStateBytes();
    return division.tasks * MeasuredCosts.INCREMENT_BASE_BYTES
        + pageBytes
            * (request.missShare() == 0
                ? MeasuredCosts.INCREMENT_OF_CACHED_PAGES
                : MeasuredCosts.INCREMENT_OF_EVICTED_PAGES)
        + newKeys * exactStateBytes();
  }

  private double checkpointSeconds(double bytes) {
    double bytesPerSecond =
        Math.min(
            request.coreSpeed
                * (request.isOnRocksDb()
                    ? MeasuredCosts.ROCKSDB_CHECKPOINT_BYTES_PER_SECOND
                    : MeasuredCosts.HEAP_CHECKPOINT_BYTES_PER_SECOND),
            request.storageRate == null ? Double.POSITIVE_INFINITY : request.storageRate);
    return MeasuredCosts.CHECKPOINT_SECONDS / request.coreSpeed
        + bytes * division.fullestShare() / bytesPerSecond;
  }

  // Warnings.

  private void warnOfTask() {
    double busy = busyShare(division);
    warnings.addIf(
        busy > request.busyShare,
        "the fullest task would be busy for %.0f %% of its time, more than the %.0f %% of --busy: use more tasks or shards",
        100 * busy,
        100 * request.busyShare);
    double needed = memoryOfTask(division);
    warnings.addIf(
        needed > request.memoryBytes,
        "the fullest task takes %s, more than --memory-per-task, %s: use more tasks, more shards or more memory",
        Fields.bytes(needed),
        Fields.bytes((double) request.memoryBytes));
  }

  private void warn() {
    double interval = request.checkpointSeconds();
    double usualSeconds = checkpointSeconds(usualBytes());
    warnings.addIf(
        usualSeconds > interval,
        "a checkpoint takes %s, longer than --checkpoint-interval, %s: use a longer interval or more tasks",
        seconds(usualSeconds),
        seconds(interval));
    warnings.addIf(
        !request.isOnRocksDb() && 2 * usualSeconds > interval,
        "a checkpoint writes all state, which takes more than half of --checkpoint-interval: --backend rocksdb writes new keys only, if all pages fit into the page caches");
    warnings.addIf(
        interval + usualSeconds > TRANSACTION_SECONDS,
        "interval and checkpoint take %s together, longer than brokers keep a transaction open by default, 15 min: increase --transaction-timeout and the brokers' transaction.max.timeout.ms",
        seconds(interval + usualSeconds));
    warnings.addIf(
        SHARDS_OF_TASK * division.tasks > division.shards,
        "%d tasks of %d shards: the job cannot grow to four times as many tasks, and shards are fixed for the life of the state",
        division.tasks,
        division.shards);
    warnings.addIf(
        request.near != null && division.tasks > 1,
        "one task compares all texts of a scope: %d tasks need texts in many scopes, of at most %s each",
        division.tasks,
        rate(request.busyShare / taskSeconds(division)));
  }

  private void warnOfKeys() {
    double newKeys = request.newKeysPerSecond();
    double ttl = request.ttlSeconds();
    double live = newKeys * ttl * 9 / 8;
    warnings.addIf(
        live > request.keys,
        "%,.0f new keys arrive within a TTL and an eighth, more than --keys, %,d: the rate grows in proportion",
        live,
        request.keys);
    warnings.addIf(
        ttl == 0 && newKeys > 0 && request.mode == DedupMode.APPROXIMATE,
        "without --ttl and deletes, %,.0f new keys per second fill %,d keys in %s; after that, the rate grows in proportion",
        newKeys,
        request.keys,
        seconds(request.keys / newKeys));
    double equalHashes = Math.scalb((double) request.keys * request.keys, -65);
    warnings.addIf(
        request.mode == DedupMode.EXACT && equalHashes >= 0.01,
        "mode exact compares 64-bit hashes: among %,d keys about %.3g pairs share a hash; --mode exact-keys avoids this",
        request.keys,
        equalHashes);
    warnings.addIf(
        request.mode.isExact() && request.repeatShare > 0,
        "times and tasks refer to mode approximate; in mode %s every duplicate is also looked up in an exact set, which takes the time of a Flink state access: measure a task with your own events",
        request.mode.id());
    warnings.addIf(
        request.missShare() > 0,
        "the times of page reads hold where RocksDB's files are in the memory of the machine; from disk, each of the %s per task adds a random read",
        rate(request.eventsPerSecond * request.missShare() / division.tasks));
  }

  /** Warnings, one sentence each. */
  static final class Warnings {
    private final List<String> sentences = new ArrayList<>();

    void addIf(boolean condition, String sentence, Object... values) {
      if (condition) {
        sentences.add(String.format(Locale.ROOT, sentence, values));
      }
    }
  }
}
