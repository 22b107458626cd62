package io.firstseen.benchmarks.alternatives;

import io.firstseen.benchmarks.dedup.Subject;
import io.firstseen.benchmarks.shared.Backend;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A way to tell which keys are new, and where it keeps them. */
enum Alternative {
  OURS_HEAP(Kind.OURS, Subject.OURS_HEAP),
  OURS_ROCKSDB(Kind.OURS, Subject.OURS_ROCKSDB),
  OURS_SQL_HEAP(Kind.OURS_SQL, "Firstseen in SQL, heap", Store.HEAP, null),
  OURS_SQL_ROCKSDB(Kind.OURS_SQL, "Firstseen in SQL, RocksDB", Store.ROCKSDB, null),
  HASH_HEAP(Kind.EXACT_BY_HASH, Subject.HASH_HEAP),
  HASH_ROCKSDB(Kind.EXACT_BY_HASH, Subject.HASH_ROCKSDB),
  URL_HEAP(Kind.EXACT_BY_URL, Subject.URL_HEAP),
  URL_ROCKSDB(Kind.EXACT_BY_URL, Subject.URL_ROCKSDB),
  SQL_HEAP(Kind.SQL, "Flink SQL, heap", Store.HEAP, null),
  SQL_ROCKSDB(Kind.SQL, "Flink SQL, RocksDB", Store.ROCKSDB, null),
  REDIS(Kind.REDIS, "Redis", Store.REDIS, null);

  enum Kind {
    OURS,
    OURS_SQL,
    EXACT_BY_HASH,
    EXACT_BY_URL,
    SQL,
    REDIS
  }

  enum Store {
    HEAP,
    ROCKSDB,
    REDIS
  }

  private final Kind kind;
  private final String title;
  private final Store store;
  private final @Nullable Subject subject;

  Alternative(Kind kind, Subject subject) {
    this(
        kind,
        subject.title(),
        subject.backend() == Backend.HASHMAP ? Store.HEAP : Store.ROCKSDB,
        subject);
  }

  Alternative(Kind kind, String title, Store store, @Nullable Subject subject) {
    this.kind = kind;
    this.title = title;
    this.store = store;
    this.subject = subject;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  String title() {
    return title;
  }

  Kind kind() {
    return kind;
  }

  Store store() {
    return store;
  }

  /** The state backend of the job; the job with Redis has no state. */
  Backend backend() {
    return store == Store.ROCKSDB ? Backend.ROCKSDB : Backend.HASHMAP;
  }

  /** The same job among the figures of the dedup; null for SQL and Redis. */
  @Nullable Subject subject() {
    return subject;
  }
}
