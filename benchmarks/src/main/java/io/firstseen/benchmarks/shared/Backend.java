package io.firstseen.benchmarks.shared;

/** The state backends. */
public enum Backend {
  HASHMAP("hashmap"),
  ROCKSDB("rocksdb");

  private final String id;

  Backend(String id) {
    this.id = id;
  }

  /** The name in Flink's configuration. */
  public String id() {
    return id;
  }

  /** The name in Firstseen's options. */
  @Override
  public String toString() {
    return this == HASHMAP ? "heap" : id;
  }
}
