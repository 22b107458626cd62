package io.firstseen.benchmarks.dedup;

import io.firstseen.benchmarks.shared.Backend;
import io.firstseen.benchmarks.shared.Stage;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/** A measured job: one kind of job on one state backend. */
public enum Subject {
  EMPTY("empty keyed function", Kind.EMPTY, Backend.HASHMAP),
  OURS_HEAP("Firstseen, heap", Kind.OURS, Backend.HASHMAP),
  OURS_HEAP_TTL("Firstseen with a ttl, heap", Kind.OURS, Backend.HASHMAP),
  OURS_ROCKSDB("Firstseen, RocksDB", Kind.OURS, Backend.ROCKSDB),
  OURS_ROCKSDB_QUARTER("Firstseen, RocksDB, cache 1/4", Kind.OURS, Backend.ROCKSDB, 4),
  OURS_ROCKSDB_EIGHTH("Firstseen, RocksDB, cache 1/8", Kind.OURS, Backend.ROCKSDB, 8),
  HASH_HEAP("exact by hash, heap", Kind.EXACT_BY_HASH, Backend.HASHMAP),
  HASH_ROCKSDB("exact by hash, RocksDB", Kind.EXACT_BY_HASH, Backend.ROCKSDB),
  EXACT_NO_REPEATS("Firstseen, exact, RocksDB, no repeats", Kind.OURS_EXACT, 0),
  HASH_NO_REPEATS("exact by hash, RocksDB, no repeats", Kind.EXACT_BY_HASH, 0),
  EXACT_5("Firstseen, exact, RocksDB, 5 % repeats", Kind.OURS_EXACT, 5),
  HASH_5("exact by hash, RocksDB, 5 % repeats", Kind.EXACT_BY_HASH, 5),
  EXACT_20("Firstseen, exact, RocksDB, 20 % repeats", Kind.OURS_EXACT, 20),
  HASH_20("exact by hash, RocksDB, 20 % repeats", Kind.EXACT_BY_HASH, 20),
  EXACT_50("Firstseen, exact, RocksDB, 50 % repeats", Kind.OURS_EXACT, 50),
  HASH_50("exact by hash, RocksDB, 50 % repeats", Kind.EXACT_BY_HASH, 50),
  EXACT_80("Firstseen, exact, RocksDB, 80 % repeats", Kind.OURS_EXACT, 80),
  HASH_80("exact by hash, RocksDB, 80 % repeats", Kind.EXACT_BY_HASH, 80),
  URL_HEAP("exact by URL, heap", Kind.EXACT_BY_URL, Backend.HASHMAP),
  URL_ROCKSDB("exact by URL, RocksDB", Kind.EXACT_BY_URL, Backend.ROCKSDB);

  static final Set<Subject> PLOTTED =
      Collections.unmodifiableSet(
          EnumSet.of(OURS_HEAP, OURS_ROCKSDB, HASH_HEAP, HASH_ROCKSDB, URL_HEAP, URL_ROCKSDB));

  private static final int HALF_BY_CHANCE = -1;

  public enum Kind {
    EMPTY,
    OURS,
    OURS_EXACT,
    EXACT_BY_HASH,
    EXACT_BY_URL
  }

  private final String title;
  private final Kind kind;
  private final Backend backend;
  private final int cacheDivisor;
  private final int repeatPercent;

  Subject(String title, Kind kind, Backend backend) {
    this(title, kind, backend, 1);
  }

  Subject(String title, Kind kind, Backend backend, int cacheDivisor) {
    this(title, kind, backend, cacheDivisor, HALF_BY_CHANCE);
  }

  /** A subject on RocksDB, with the given number of repeats among a hundred records. */
  Subject(String title, Kind kind, int repeatPercent) {
    this(title, kind, Backend.ROCKSDB, 1, repeatPercent);
  }

  Subject(String title, Kind kind, Backend backend, int cacheDivisor, int repeatPercent) {
    this.title = title;
    this.kind = kind;
    this.backend = backend;
    this.cacheDivisor = cacheDivisor;
    this.repeatPercent = repeatPercent;
  }

  /** The stage whose rate is measured. */
  Stage stage(long newKeys) {
    return repeatPercent == HALF_BY_CHANCE
        ? Stage.halfNew(0, newKeys)
        : Stage.someNew(newKeys, repeatPercent);
  }

  public String title() {
    return title;
  }

  Kind kind() {
    return kind;
  }

  public Backend backend() {
    return backend;
  }

  /** The page cache holds all pages divided by this: 1 for all, 8 for an eighth. */
  int cacheDivisor() {
    return cacheDivisor;
  }
}
