package io.firstseen.benchmarks.shared;

import java.io.Serializable;

/**
 * One stage of a source. A record's key depends only on its ordinal, so that any number of readers
 * give the same records in every run.
 *
 * @param mix which records bring new keys
 * @param repeatPercent repeats among a hundred records of {@link Mix#SOME_NEW}; otherwise 0
 * @param known number of keys before this stage; keys are numbered from 0
 * @param records number of records in this stage
 */
public record Stage(Mix mix, int repeatPercent, long known, long records) implements Serializable {

  /** Which records bring new keys. */
  public enum Mix {
    /** One of the records 2 i and 2 i + 1, chosen at random. */
    HALF_NEW,
    /** The rest of a hundred after the repeats, spread evenly. */
    SOME_NEW,
    ALL_NEW,
    NONE_NEW
  }

  /** As many new keys as repeats; every repeat is of a key drawn evenly from all before it. */
  public static Stage halfNew(long known, long newKeys) {
    return new Stage(Mix.HALF_NEW, 0, known, 2 * newKeys);
  }

  /**
   * New keys from the first record on, with evenly spread repeats; every repeat is of a key drawn
   * evenly from all before it.
   *
   * @param repeatPercent repeats among a hundred records, in [0, 99]
   */
  public static Stage someNew(long newKeys, int repeatPercent) {
    return new Stage(Mix.SOME_NEW, repeatPercent, 0, newKeys * 100 / (100 - repeatPercent));
  }

  public static Stage allNew(long known, long newKeys) {
    return new Stage(Mix.ALL_NEW, 0, known, newKeys);
  }

  /** Repeats only, drawn evenly from {@code known} keys, at least 1. */
  public static Stage noneNew(long known, long records) {
    return new Stage(Mix.NONE_NEW, 0, known, records);
  }

  /** The number of new keys among the first {@code ordinal} records. */
  private long newBefore(long ordinal) {
    return (ordinal * (100 - repeatPercent) + 99) / 100;
  }

  /** The number of the key of a record. */
  public long keyAt(long ordinal) {
    return switch (mix) {
      case ALL_NEW -> known + ordinal;
      case NONE_NEW -> Url.drawn(ordinal, known);
      case SOME_NEW -> {
        long before = newBefore(ordinal);
        yield newBefore(ordinal + 1) > before ? before : Url.drawn(ordinal, before);
      }
      case HALF_NEW -> {
        long key = known + (ordinal >>> 1);
        boolean newFirst = key == 0 || Url.scramble(key) < 0;
        boolean first = (ordinal & 1) == 0;
        yield first == newFirst ? key : Url.drawn(ordinal, newFirst ? key + 1 : key);
      }
    };
  }
}
