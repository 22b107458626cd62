package io.firstseen.benchmarks.state;

import java.util.Collection;
import java.util.SplittableRandom;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.state.rocksdb.RocksDBOptionsFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.Statistics;
import org.rocksdb.TickerType;

/**
 * Pages of several sizes in RocksDB behind write-back caches of several sizes, against one entry
 * per key, with equal memory: records per second and bytes written.
 */
@SuppressWarnings("try") // Flink's harness may be interrupted while it closes.
public final class PageStateSpike {
  private static final int RECORDS = 1_000_000;

  private static final double BITS_A_KEY = 15;

  private PageStateSpike() {}

  /** Prints the table. */
  public static void main(String[] args) throws Exception {
    System.out.println(
        "keys     RocksDB MB  subject        cache MB  buffered  records/s      ns  pages put"
            + "  put MB  flushed+compacted MB");
    for (int managedMegabytes : new int[] {64, 256}) {
      exact(1_000_000, managedMegabytes);
    }
    for (int pageBytes : new int[] {1 << 10, 1 << 12, 1 << 13}) {
      for (int part : new int[] {1, 4, 8}) {
        pages(5_000_000, pageBytes, part, false);
        if (part > 1) {
          pages(5_000_000, pageBytes, part, true);
        }
      }
    }
  }

  private static void pages(int keys, int pageBytes, int part, boolean buffered) throws Exception {
    long bytes = (long) (keys * BITS_A_KEY / 8);
    int pagesPerShard = (int) (bytes / pageBytes / PagesSubject.SHARDS);
    int cached = pagesPerShard * PagesSubject.SHARDS / part;
    // Half of the memory is for buffers, at 8 bytes per identity.
    int maxBuffered = buffered ? (int) (bytes / part / 2 / 8) : 0;
    PagesSubject subject =
        new PagesSubject(pageBytes, pagesPerShard, buffered ? cached / 2 : cached, maxBuffered);
    try (Statistics statistics = new Statistics();
        Harness<Integer> harness =
            new Harness<>(subject, PagesSubject::shardOf, Types.INT, statistics, 64L << 20)) {
      SplittableRandom random = new SplittableRandom(1);
      feed(harness, random, RECORDS);
      long putBefore = subject.pagesWritten();
      long nanos = feed(harness, random, RECORDS);
      print(
          keys,
          64,
          pageBytes / 1024 + " KiB pages",
          bytes / part,
          maxBuffered,
          statistics,
          nanos,
          subject.pagesWritten() - putBefore);
    }
  }

  private static long feed(Harness<Integer> harness, SplittableRandom random, int records)
      throws Exception {
    long start = System.nanoTime();
    StreamRecord<Long> record = new StreamRecord<>(0L);
    for (int i = 0; i < records; i++) {
      harness.processElement(record.replace(random.nextLong()));
    }
    return (System.nanoTime() - start) / records;
  }

  private static void exact(int keys, int managedMegabytes) throws Exception {
    ExactSubject subject = new ExactSubject();
    try (Statistics statistics = new Statistics();
        Harness<Long> harness =
            new Harness<>(
                subject, value -> value, Types.LONG, statistics, (long) managedMegabytes << 20)) {
      SplittableRandom random = new SplittableRandom(1);
      StreamRecord<Long> record = new StreamRecord<>(0L);
      for (long i = 0; i < keys; i++) {
        harness.processElement(record.replace(hash(i)));
      }
      long start = System.nanoTime();
      long next = keys;
      for (int i = 0; i < RECORDS; i++) {
        long key = random.nextBoolean() ? next++ : random.nextLong(next);
        harness.processElement(record.replace(hash(key)));
      }
      long nanos = (System.nanoTime() - start) / RECORDS;
      print(keys, managedMegabytes, "exact", 0, 0, statistics, nanos, 0);
      if (subject.firstSeen() != next) {
        throw new IllegalStateException(subject.firstSeen() + " first seen, not " + next);
      }
    }
  }

  private static long hash(long i) {
    return new SplittableRandom(i).nextLong();
  }

  private static void print(
      int keys,
      int managedMegabytes,
      String subject,
      long cacheBytes,
      int buffered,
      Statistics statistics,
      long nanos,
      long pagesWritten) {
    System.out.printf(
        "%,10d %8d  %-13s %8.1f %9d %,10d %7d %10d %7d %8d%n",
        keys,
        managedMegabytes,
        subject,
        cacheBytes / 1e6,
        buffered,
        1_000_000_000 / nanos,
        nanos,
        pagesWritten,
        statistics.getTickerCount(TickerType.BYTES_WRITTEN) / 1_000_000,
        (statistics.getTickerCount(TickerType.FLUSH_WRITE_BYTES)
                + statistics.getTickerCount(TickerType.COMPACT_WRITE_BYTES))
            / 1_000_000);
  }

  private static final class Harness<K>
      extends KeyedOneInputStreamOperatorTestHarness<K, Long, Long> {
    Harness(
        OneInputStreamOperator<Long, Long> subject,
        KeySelector<Long, K> key,
        TypeInformation<K> keyType,
        Statistics statistics,
        long managedBytes)
        throws Exception {
      super(
          subject,
          key,
          keyType,
          new MockEnvironmentBuilder()
              .setMaxParallelism(PagesSubject.SHARDS)
              .setManagedMemorySize(managedBytes)
              .build());
      EmbeddedRocksDBStateBackend backend = new EmbeddedRocksDBStateBackend();
      backend.setRocksDBOptions(new CountingOptions(statistics));
      setStateBackend(backend);
      open();
    }
  }

  @SuppressWarnings("serial") // Never serialised.
  private record CountingOptions(Statistics statistics) implements RocksDBOptionsFactory {
    @Override
    public DBOptions createDBOptions(DBOptions options, Collection<AutoCloseable> toClose) {
      return options.setStatistics(statistics);
    }

    @Override
    public ColumnFamilyOptions createColumnOptions(
        ColumnFamilyOptions options, Collection<AutoCloseable> toClose) {
      return options;
    }
  }
}
