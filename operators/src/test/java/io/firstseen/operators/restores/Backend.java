package io.firstseen.operators.restores;

/** The state backends that share one layout of canonical savepoints. */
enum Backend {
  HEAP("hashmap"),
  ROCKSDB("rocksdb");

  /** What Flink's option calls it. */
  final String option;

  Backend(String option) {
    this.option = option;
  }

  Backend other() {
    return this == HEAP ? ROCKSDB : HEAP;
  }
}
