package io.firstseen.benchmarks.shared;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

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

  /** Reads the names that Flink's options have for the backends. */
  public static final class Converter implements ITypeConverter<Backend> {
    @Override
    public Backend convert(String name) {
      return switch (name) {
        case "heap" -> HASHMAP;
        case "rocksdb" -> ROCKSDB;
        default -> throw new TypeConversionException("must be heap or rocksdb, got " + name);
      };
    }
  }
}
