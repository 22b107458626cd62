package io.firstseen.benchmarks.alternatives;

/** What is measured of an alternative with one number of keys. */
enum Figure {
  /** From the first record made to the last one decided. */
  EVENTS_PER_SECOND,
  /** Processor seconds of a million events: of the whole JVM and, with Redis, of the server. */
  CPU_SECONDS,
  /** A key: live objects on the heap, or what Redis has allocated, less those before. */
  MEMORY_BYTES,
  CHECKPOINT_SECONDS,
  /** A key: files of the first checkpoint, or of the dump of Redis. */
  CHECKPOINT_BYTES,
  /** From the start of a job or server with that checkpoint to the first answer. */
  RESTORE_SECONDS,
  /** New keys that were mistaken for known ones. */
  FALSE_DROPS,
  /** Repeats after the restore that were mistaken for new keys. */
  FALSE_PASSES
}
