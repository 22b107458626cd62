package io.firstseen.cli.size;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.cli.size.Sizing.Checkpoints;
import io.firstseen.cli.size.Sizing.Filter;
import io.firstseen.cli.size.Sizing.Memory;
import io.firstseen.cli.size.Sizing.Network;
import io.firstseen.cli.size.Sizing.Recovery;
import io.firstseen.cli.size.Sizing.Tasks;
import io.firstseen.cli.size.Sizing.Topics;
import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.jobs.kafka.RecordHeaders;
import io.firstseen.jobs.options.KafkaOptions.EventFormat;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.types.DedupMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.DefaultRecord;

/**
 * Computes what a dedup needs, from {@link MeasuredCosts}, real filters and the jobs' own bounds.
 */
public final class SizingRules {
  /** Shards for each task at least, so that a job can grow fourfold. */
  private static final int SHARDS_OF_TASK = 4;

  /** Bytes of a JSON event beside key and payload: {@code {"ts":…,"op":"add","key":"…"}}. */
  private static final int JSON_BYTES =
      "{\"ts\":1700000000000,\"op\":\"add\",\"key\":\"\"}".getBytes(UTF_8).length;

  /** Between tasks an event also has its hash, operation and time, and its length. */
  private static final int EXCHANGE_BYTES = 32;

  /** Offset and time of a record in the middle of a batch, which take two bytes each. */
  private static final int IN_BATCH = 100;

  private static final double TRANSACTION_SECONDS = 15 * 60;

  private final SizingRequest request;
  private final List<String> warnings = new ArrayList<>();
  private final Filter filter;
  private final Tasks tasks;
  private final Memory memory;
  private final Checkpoints checkpoints;

  private SizingRules(SizingRequest request) {
    this.request = request;
    refuseTooLittleMemory();
    int leastShards = leastShards();
    Division division = chosen(leastShards);
    this.filter = filter(division.shards, division.sample);
    this.tasks = tasks(leastShards, division);
    this.memory = memory();
    this.checkpoints = checkpoints();
  }

  /**
   * What a dedup needs.
   *
   * @throws UserErrorException if no number of shards or tasks can carry it; the message names the
   *     bound
   */
  public static Sizing size(SizingRequest request) {
    return new SizingRules(request).size();
  }

  private Sizing size() {
    Topics topics = topics();
    Recovery recovery = recovery();
    Sizing.Snapshots snapshots =
        request.snapshots() == null
            ? null
            : new SnapshotSizing(request, request.snapshots(), warnings).size();
    warn(recovery);
    SizedJob job = new SizedJob(request, tasks, memory, snapshots);
    return new Sizing(
        filter,
        tasks,
        memory,
        checkpoints,
        topics,
        network(topics),
        recovery,
        snapshots,
        job.commands(),
        job.flinkConfiguration(),
        List.copyOf(warnings));
  }

  // Shards and tasks.

  private void refuseTooLittleMemory() {
    double base = baseBytesOfTask();
    if (request.memoryBytes() <= base) {
      throw new UserErrorException(
          "--memory-per-task must be more than %s, which a task takes beside its filters, got %s"
              .formatted(Amounts.bytes(base), Amounts.bytes((double) request.memoryBytes())));
    }
  }

  /** What a task takes beside its filters. */
  private double baseBytesOfTask() {
    return MeasuredCosts.HEAP_BASE_BYTES
        + (request.isOnRocksDb() ? MeasuredCosts.MANAGED_BYTES : 0);
  }

  /** The fewest shards with which the job itself accepts capacity and rate. */
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
                Amounts.count(request.keys()),
                request.falsePositiveRate(),
                refusal.getMessage()));
  }

  private int identityBits(int shards) {
    return Firstseen.withoutEvents()
        .capacity(request.keys())
        .falsePositiveRate(request.falsePositiveRate())
        .shards(shards)
        .parameters()
        .identityBits();
  }

  /** Shards and tasks, and the bytes of the pages of such a shard. */
  private record Division(int shards, int tasks, FilterSample sample) {
    /** The shards of the fullest task; Flink gives each task a range of key groups. */
    int mostShardsOfTask() {
      return (shards - 1) / tasks + 1;
    }

    double fullestShare() {
      return (double) mostShardsOfTask() / shards;
    }
  }

  private Division chosen(int leastShards) {
    if (request.shards() != null && request.shards() < leastShards) {
      throw new UserErrorException(
          "--dedup-shards must be at least %d for %s keys at a rate of %s, got %d"
              .formatted(
                  leastShards,
                  Amounts.count(request.keys()),
                  request.falsePositiveRate(),
                  request.shards()));
    }
    if (request.shards() != null) {
      return divide(request.shards());
    }
    int shards = Math.max(Firstseen.DEFAULT_SHARDS, leastShards);
    while (request.parallelism() != null
        && shards < request.parallelism()
        && shards < Firstseen.MAX_SHARDS) {
      shards *= 2;
    }
    while (true) {
      Division division = divide(shards);
      if (SHARDS_OF_TASK * division.tasks() <= shards || shards == Firstseen.MAX_SHARDS) {
        return division;
      }
      shards *= 2;
    }
  }

  /** The fewest tasks that carry so many shards, or one for each shard if these are too few. */
  private Division divide(int shards) {
    FilterSample sample =
        FilterSample.of(
            identityBits(shards), keysOfShard(shards), shards, request.ttlSeconds() > 0);
    if (request.parallelism() != null) {
      if (request.parallelism() > shards) {
        throw new UserErrorException(
            "--parallelism must be at most --dedup-shards, got %d and %d"
                .formatted(request.parallelism(), shards));
      }
      return new Division(shards, request.parallelism(), sample);
    }
    for (int ofTask = shards; ofTask > 1; ofTask--) {
      Division division = new Division(shards, (shards - 1) / ofTask + 1, sample);
      if (division.mostShardsOfTask() == ofTask && carries(division)) {
        return division;
      }
    }
    return new Division(shards, shards, sample);
  }

  private boolean carries(Division division) {
    return busyShare(division) <= request.busyShare()
        && memoryOfTask(division) <= request.memoryBytes();
  }

  private double busyShare(Division division) {
    return request.eventsPerSecond() * division.fullestShare() * taskSeconds(division);
  }

  /** Seconds of a task for an event. */
  private double taskSeconds(Division division) {
    return MeasuredCosts.taskSeconds(
            request.eventFormat(),
            request.backend(),
            request.missShare(),
            pageBytesOfTask(division))
        / request.coreSpeed();
  }

  private double pageBytesOfTask(Division division) {
    return pageHeapBytes(division.sample()) * division.fullestShare();
  }

  private long keysOfShard(int shards) {
    return (request.keys() - 1) / shards + 1;
  }

  private double memoryOfTask(Division division) {
    double heap = heapBytes(division.sample()) * division.fullestShare();
    if (!request.isOnRocksDb()) {
      return baseBytesOfTask() + MeasuredCosts.HEAP_OF_FILTERS * heap;
    }
    return baseBytesOfTask()
        + MeasuredCosts.HEAP_OF_PAGE_CACHE * request.cacheShare() * pageBytesOfTask(division);
  }

  private double pageHeapBytes(FilterSample sample) {
    return request.keys()
        * (sample.heapBytes() + sample.pages() * MeasuredCosts.HEAP_BYTES_OF_PAGE_ENTRY);
  }

  private double heapBytes(FilterSample sample) {
    double exact = request.mode().isExact() ? MeasuredCosts.EXACT_HEAP_BYTES + keysKept() : 0;
    return pageHeapBytes(sample) + request.keys() * exact;
  }

  /** Bytes of the key itself in the exact set. */
  private double keysKept() {
    return request.mode() == DedupMode.EXACT_KEYS ? request.keyBytes() : 0;
  }

  /** Bytes of state of an entry of the exact set; 0 if there is none. */
  private double exactStateBytes() {
    return request.mode().isExact() ? MeasuredCosts.EXACT_STATE_BYTES + keysKept() : 0;
  }

  /** Bytes of state of all pages. */
  private double pageStateBytes() {
    return filter.stateBytes() - request.keys() * exactStateBytes();
  }

  private Filter filter(int shards, FilterSample sample) {
    int bits = identityBits(shards);
    double pageState =
        sample.pageBytes() + sample.pages() * MeasuredCosts.STATE_BYTES_OF_PAGE_ENTRY;
    return new Filter(
        bits,
        new CuckooShape(bits).predictedFalsePositiveRate(keysOfShard(shards)),
        8 * sample.heapBytes(),
        heapBytes(sample),
        request.keys() * (pageState + exactStateBytes()),
        request.keys() * sample.pages());
  }

  private Tasks tasks(int leastShards, Division division) {
    double busy = busyShare(division);
    double needed = memoryOfTask(division);
    if (busy > request.busyShare()) {
      warnings.add(
          "the fullest task would be busy for %.0f %% of its time, more than the %.0f %% of --busy: take more tasks or shards"
              .formatted(100 * busy, 100 * request.busyShare()));
    }
    if (needed > request.memoryBytes()) {
      warnings.add(
          "the fullest task takes %s, more than --memory-per-task, %s: take more tasks, more shards or more memory"
              .formatted(Amounts.bytes(needed), Amounts.bytes((double) request.memoryBytes())));
    }
    return new Tasks(
        division.shards(),
        leastShards,
        division.tasks(),
        division.mostShardsOfTask(),
        (double) request.keys() / division.shards(),
        1 / taskSeconds(division),
        request.coreSpeed()
            / MeasuredCosts.operatorSeconds(
                request.backend(), request.missShare(), pageBytesOfTask(division)),
        busy,
        request.eventsPerSecond() * taskSeconds(division) / request.busyShare());
  }

  /** The share of all state in the fullest task. */
  private double fullestShare() {
    return (double) tasks.mostShardsOfTask() / tasks.shards();
  }

  private Memory memory() {
    boolean onRocksDb = request.isOnRocksDb();
    double pages = filter.heapBytes() * fullestShare();
    if (onRocksDb && request.mode().isExact()) {
      pages -= request.keys() * (MeasuredCosts.EXACT_HEAP_BYTES + keysKept()) * fullestShare();
    }
    double cache = onRocksDb ? request.cacheShare() * pages : 0;
    double heap =
        MeasuredCosts.HEAP_BASE_BYTES
            + (onRocksDb
                ? MeasuredCosts.HEAP_OF_PAGE_CACHE * cache
                : MeasuredCosts.HEAP_OF_FILTERS * pages);
    double managed = onRocksDb ? MeasuredCosts.MANAGED_BYTES : 0;
    double disk =
        MeasuredCosts.DISK_OF_FILES
            * (onRocksDb ? rocksDbFiles() : filter.stateBytes())
            * fullestShare();
    int slots = Math.min(request.slots(), tasks.parallelism());
    int taskManagers = (tasks.parallelism() - 1) / slots + 1;
    return new Memory(
        heap,
        cache,
        managed,
        disk,
        taskManagers,
        slots * heap,
        (double) taskManagers * slots * (heap + managed));
  }

  // Checkpoints and recovery.

  private boolean allCached() {
    return request.cacheShare() >= 1;
  }

  private double rocksDbFiles() {
    return pageStateBytes() * MeasuredCosts.filesOfPages(allCached())
        + request.keys() * exactStateBytes();
  }

  private Checkpoints checkpoints() {
    double full = request.isOnRocksDb() ? rocksDbFiles() : filter.stateBytes();
    double newKeys = request.newKeysPerSecond() * request.checkpointSeconds();
    double changed = -Math.expm1(-newKeys / filter.pages());
    double usual = full;
    if (request.isOnRocksDb()) {
      usual =
          changed * pageStateBytes() * MeasuredCosts.incrementOfPages(allCached())
              + newKeys * exactStateBytes();
    }
    double seconds = checkpointSeconds(usual);
    return new Checkpoints(full, checkpointSeconds(full), usual, seconds, changed, usual / seconds);
  }

  private double checkpointSeconds(double bytes) {
    return MeasuredCosts.CHECKPOINT_SECONDS / request.coreSpeed()
        + transferSeconds(bytes, MeasuredCosts.checkpointBytesPerSecond(request.backend()));
  }

  private double restoreSeconds() {
    return MeasuredCosts.START_SECONDS / request.coreSpeed()
        + transferSeconds(
            checkpoints.fullBytes(), MeasuredCosts.restoreBytesPerSecond(request.backend()));
  }

  /** Seconds of the fullest task for its share. */
  private double transferSeconds(double bytes, double bytesPerSecond) {
    return bytes
        * fullestShare()
        / Math.min(bytesPerSecond * request.coreSpeed(), request.storageBytesPerSecond());
  }

  private Recovery recovery() {
    double restart = restoreSeconds();
    // A failure just before a checkpoint is complete loses the time since the one before began.
    double behind = request.checkpointSeconds() + checkpoints.usualSeconds() + restart;
    double busy = tasks.busyShare();
    Double catchUp = busy < 1 ? behind * busy / (1 - busy) : null;
    return new Recovery(restart, catchUp, checkpoints.fullSeconds() + restart);
  }

  // Topics and network.

  private int valueBytes() {
    return request.eventFormat() == EventFormat.JSON
        ? JSON_BYTES + request.keyBytes() + request.payloadBytes()
        : request.payloadBytes();
  }

  private static Header header(String name, int bytes) {
    return new RecordHeader(name, new byte[bytes]);
  }

  private double recordBytes(int keyBytes, int valueBytes, Header... headers) {
    return DefaultRecord.sizeInBytes(IN_BATCH, IN_BATCH, keyBytes, valueBytes, headers);
  }

  private Topics topics() {
    Header time = header(RecordHeaders.TIMESTAMP, Long.BYTES);
    Header duplicate = header(RecordHeaders.OUTCOME, "duplicate".length());
    double accepted = recordBytes(request.keyBytes(), valueBytes(), time);
    double repeated = recordBytes(request.keyBytes(), valueBytes(), time, duplicate);
    double repeats = request.eventsPerSecond() * request.repeatShare() * request.retentionSeconds();
    return new Topics(
        accepted, request.keys() * accepted, repeated, repeats * repeated, tasks.parallelism());
  }

  private Network network(Topics topics) {
    boolean json = request.eventFormat() == EventFormat.JSON;
    double event = recordBytes(json ? 0 : request.keyBytes(), valueBytes());
    double exchanged = request.keyBytes() + valueBytes() + EXCHANGE_BYTES;
    int managers = memory.taskManagers();
    double repeats = request.repeatShare();
    return new Network(
        request.eventsPerSecond() * event,
        request.eventsPerSecond() * exchanged * (managers - 1) / managers,
        request.eventsPerSecond()
            * ((1 - repeats) * topics.acceptedRecordBytes()
                + repeats * topics.duplicatesRecordBytes()),
        request.eventsPerSecond() * request.missShare());
  }

  // What does not fit.

  private void warn(Recovery recovery) {
    if (checkpoints.usualSeconds() > request.checkpointSeconds()) {
      warnings.add(
          "a checkpoint takes %s, longer than --checkpoint-interval, %s: take a longer interval or more tasks"
              .formatted(
                  Amounts.seconds(checkpoints.usualSeconds()),
                  Amounts.seconds(request.checkpointSeconds())));
    }
    double open =
        request.checkpointSeconds() + checkpoints.usualSeconds() + recovery.restartSeconds();
    if (open > TRANSACTION_SECONDS) {
      warnings.add(
          "interval, checkpoint and restart take %s together, longer than brokers keep a transaction open by default, 15 min: raise --transaction-timeout and the brokers' transaction.max.timeout.ms"
              .formatted(Amounts.seconds(open)));
    }
    if (4 * tasks.parallelism() > tasks.shards()) {
      warnings.add(
          "%d tasks of %d shards: the job cannot grow to four times as many tasks, and shards are fixed for the life of the state"
              .formatted(tasks.parallelism(), tasks.shards()));
    }
    warnOfKeys();
    if (request.mode().isExact() && request.repeatShare() > 0) {
      warnings.add(
          "times and tasks are those of mode approximate; in mode %s every repeat is looked up in an exact set as well, which takes the time of a Flink state access: measure a task with your own events"
              .formatted(request.mode().id()));
    }
    if (request.isOnRocksDb() && request.missShare() > 0) {
      warnings.add(
          "the times of page reads hold where RocksDB's files are in the memory of the machine; from disk each of the %s adds a random read"
              .formatted(
                  Amounts.rate(
                          request.eventsPerSecond() * request.missShare() / tasks.parallelism())
                      + " a task"));
    }
  }

  private void warnOfKeys() {
    double newKeys = request.newKeysPerSecond();
    if (request.ttlSeconds() > 0) {
      double live = newKeys * request.ttlSeconds() * 9 / 8;
      if (live > request.keys()) {
        warnings.add(
            "%s new keys come in a ttl and the eighth after it, more than --keys, %s: the rate grows in proportion"
                .formatted(Amounts.count(live), Amounts.count(request.keys())));
      }
    } else if (newKeys > 0 && request.mode() == DedupMode.APPROXIMATE) {
      warnings.add(
          "without --ttl and deletes, %s new keys a second fill %s keys in %s; from then on the rate grows in proportion"
              .formatted(
                  Amounts.count(newKeys),
                  Amounts.count(request.keys()),
                  Amounts.seconds(request.keys() / newKeys)));
    }
    double equalHashes = Math.scalb((double) request.keys() * request.keys(), -65);
    if (request.mode() == DedupMode.EXACT && equalHashes >= 0.01) {
      warnings.add(
          "mode exact compares 64-bit hashes: among %s keys some %s pairs share one; --mode exact-keys has none"
              .formatted(
                  Amounts.count(request.keys()), String.format(Locale.ROOT, "%.3g", equalHashes)));
    }
  }
}
