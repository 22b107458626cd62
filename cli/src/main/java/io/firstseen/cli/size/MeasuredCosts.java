package io.firstseen.cli.size;

import io.firstseen.filters.near.NearRule;
import io.firstseen.jobs.options.KafkaOptions.EventFormat;
import io.firstseen.jobs.options.StreamOptions.StateBackend;

/**
 * All measured constants; the rest of this package is arithmetic or uses the code of the filters.
 * Times were measured on 2 cores of a virtual AMD EPYC with OpenJDK 17, whose speed varies from day
 * to day; {@code --core-speed} scales them. Each constant names its benchmark and its date in 2026.
 */
final class MeasuredCosts {

  // The operator.

  /** Events per second of one task on the heap. DedupFigures, heap-hash, 23 November. */
  private static final double HEAP_EVENTS_PER_SECOND = 1.59e6;

  /** The same on RocksDB with all pages cached. DedupFigures, rocksdb-heap, 23 November. */
  private static final double ROCKSDB_EVENTS_PER_SECOND = 1.44e6;

  /**
   * Seconds of a task per event whose page is not cached, if all of the task's pages fit into a
   * write buffer of RocksDB. DedupFigures, eighth-hash, 23 November: 0.17 M events per second with
   * 7/8 cache misses.
   */
  private static final double NEAR_MISS_SECONDS =
      (1 / 0.17e6 - 1 / ROCKSDB_EVENTS_PER_SECOND) / (7.0 / 8);

  /**
   * The same if the pages do not fit and compaction runs concurrently. RocksDB's files are in the
   * page cache, and four of five events are new keys. BillionsFigures, one task on RocksDB, 28
   * November: 69 thousand events per second at 110 million keys. By computation, half of the cache
   * has the pages of 37 million keys, and the log takes the other half.
   */
  private static final double FAR_MISS_SECONDS =
      (1 / 69e3 - 1 / ROCKSDB_EVENTS_PER_SECOND) / (1 - 37.0 / 110);

  /**
   * New texts of 160 characters per second, with their signatures, in one task on the heap.
   * benchmarks/notes/near-duplicates.md, 28 November.
   */
  private static final double SHORT_TEXTS_PER_SECOND = 42.4e3;

  /** The same with texts of 3 kB. */
  private static final double LONG_TEXTS_PER_SECOND = 18.0e3;

  // Kafka to Kafka.

  /**
   * Events per second of one task with one core for all of its threads, record key, canonicaliser
   * none. KafkaFigures, key-1, 25 November.
   */
  private static final double KEY_EVENTS_PER_SECOND = 0.735e6;

  /** The same with JSON events and canonicaliser url. KafkaFigures, json-1, 25 November. */
  private static final double JSON_EVENTS_PER_SECOND = 0.608e6;

  // Bytes in addition to the pages, which FilterSample measures on the code itself.

  /**
   * Heap per page in addition to its object: entries of the state's map and of the operator's
   * table. DedupFigures, heap-bytes, 23 November: 1.94 bytes per key.
   */
  static final double HEAP_BYTES_OF_PAGE_ENTRY = 110;

  /** Bytes per page in a checkpoint in addition to the page: its number and a flag. */
  static final double STATE_BYTES_OF_PAGE_ENTRY = 5;

  /** Heap per key in an exact mode. docs/operations/state.md, 20 November. */
  static final double EXACT_HEAP_BYTES = 60;

  /** Bytes per key of an exact mode in a checkpoint. docs/operations/state.md, 20 November. */
  static final double EXACT_STATE_BYTES = 25;

  /** Heap of a task with checkpoints, relative to its filters. DedupFigures, checkpoints. */
  static final double HEAP_OF_FILTERS = 2.5;

  /** Heap of a page cache, relative to its pages, for the garbage collector. Not measured. */
  static final double HEAP_OF_PAGE_CACHE = 1.5;

  /** Additional heap. DedupFigures, checkpoints: 512 MiB per process with one task. */
  static final double HEAP_BASE_BYTES = 512 << 20;

  /** RocksDB's block cache and write buffers. DedupFigures, --managed-memory: 256 MiB per task. */
  static final double MANAGED_BYTES = 256 << 20;

  // Checkpoints.

  /** Bytes per second to a local disk: 541 MB in 0.78 s. notes/checkpoints.md. */
  static final double HEAP_CHECKPOINT_BYTES_PER_SECOND = 690e6;

  /** The same on RocksDB, which flushes first: RecoveryFigures, 25 November, 50 M keys. */
  static final double ROCKSDB_CHECKPOINT_BYTES_PER_SECOND = 400e6;

  /** Seconds of a checkpoint without state. RecoveryFigures, 25 November. */
  static final double CHECKPOINT_SECONDS = 0.1;

  /**
   * Files of RocksDB, relative to the bytes of their pages, with an eighth cached: the files also
   * contain older versions of pages. DedupFigures, increment, 23 November: 3.76 for 1.87 bytes per
   * key.
   */
  static final double ROCKSDB_FILES_OF_EVICTED_PAGES = 3.76 / 1.87;

  /**
   * Bytes of an incremental checkpoint of a task without changes. DedupFigures, increment, 28
   * November: 27.0 bytes per new key with 10,000 new keys, 17.2 with 100,000.
   */
  static final double INCREMENT_BASE_BYTES = (27.0 - 17.2) / (1 / 10e3 - 1 / 100e3);

  /**
   * Bytes of an incremental checkpoint per new key, relative to the bytes of a key in the pages:
   * the log of changes, pages in rotation, and what compaction writes again. The same benchmark.
   */
  static final double INCREMENT_OF_CACHED_PAGES = (17.2 - INCREMENT_BASE_BYTES / 100e3) / 1.87;

  /** The same with an eighth cached, 2 million keys and 20,000 new keys: 154 bytes per new key. */
  static final double INCREMENT_OF_EVICTED_PAGES = (154 - INCREMENT_BASE_BYTES / 20e3) / 1.87;

  /**
   * Local disk, relative to RocksDB's files during compaction, or relative to a checkpoint on the
   * heap, whose local copy is kept until the next checkpoint is complete. Chosen, not measured.
   */
  static final double DISK_OF_FILES = 2;

  // Snapshots.

  /** Sent bits per key, relative to log2(1 / rate). WireFigures, 23 November. */
  static final double SNAPSHOT_SENT_BITS = 1.478;

  /** State of the snapshot job per key. CompactionFigures, 22 November. */
  static final double SNAPSHOT_STATE_BYTES = 5.31;

  static final double SNAPSHOT_STATE_BYTES_OF_TTL = 0.5;

  /** Seconds per live key to close a window. CompactionFigures, 22 November. */
  static final double CLOSE_SECONDS = 43e-9;

  static final double CLOSE_SECONDS_WITH_TTL = 60e-9;

  /** Flink's state.backend.rocksdb.writebuffer.size. */
  private static final double WRITE_BUFFER_BYTES = 64 << 20;

  private MeasuredCosts() {}

  /** Seconds of a task per event, from Kafka to Kafka; {@code pageBytes} are of the whole task. */
  static double taskSeconds(
      EventFormat format, StateBackend backend, double missShare, double pageBytes) {
    double onHeap =
        1 / (format == EventFormat.KEY ? KEY_EVENTS_PER_SECOND : JSON_EVENTS_PER_SECOND);
    if (backend == StateBackend.HEAP) {
      return onHeap;
    }
    double missSeconds = pageBytes <= WRITE_BUFFER_BYTES ? NEAR_MISS_SECONDS : FAR_MISS_SECONDS;
    return onHeap
        + (1 / ROCKSDB_EVENTS_PER_SECOND + missShare * missSeconds)
        - 1 / HEAP_EVENTS_PER_SECOND;
  }

  /** Seconds of a task per text, in addition to an event whose key is compared as a whole. */
  static double nearSeconds(NearRule near) {
    double ofText = near.equals(NearRule.SHORT) ? SHORT_TEXTS_PER_SECOND : LONG_TEXTS_PER_SECOND;
    return 1 / ofText - 1 / HEAP_EVENTS_PER_SECOND;
  }
}
