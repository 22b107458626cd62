package io.firstseen.benchmarks.operator;

import io.firstseen.benchmarks.shared.Harnesses;
import io.firstseen.benchmarks.shared.NanosBenchmark;
import io.firstseen.operators.dedup.DedupStreams;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.serializers.Change;
import io.firstseen.types.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.state.rocksdb.RocksDBOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.SimpleOperatorFactory;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The time of one record through the dedup operator alone, in Flink's harness, without network and
 * serializers, compared with a keyed operator that only passes records on, which is the cost of
 * Flink itself. With {@code -prof gc} also bytes per record.
 */
@Fork(
    value = 1,
    jvmArgsAppend = {"-Xms2g", "-Xmx2g"})
public class DedupOperatorBenchmark extends NanosBenchmark {
  private static final int RECORDS = 1 << 17;

  public enum Backend {
    HEAP,
    ROCKSDB,
    /** RocksDB, with a cache of about an eighth of the pages. */
    ROCKSDB_EIGHTH;

    StateBackend create() {
      Configuration ownMemory = new Configuration().set(RocksDBOptions.USE_MANAGED_MEMORY, false);
      return this == HEAP
          ? new HashMapStateBackend()
          : new EmbeddedRocksDBStateBackend()
              .configure(ownMemory, DedupOperatorBenchmark.class.getClassLoader());
    }

    long cacheBytes(int keys) {
      return this == ROCKSDB_EIGHTH ? keys / 4 : Firstseen.DEFAULT_PAGE_CACHE_BYTES;
    }
  }

  public enum Subject {
    DEDUP,
    PASSING_ON
  }

  @Param public Subject subject;

  @Param public Backend backend;

  @Param({"1000000"})
  public int keys;

  private final SplittableRandom random = new SplittableRandom(20261120);
  private final SwallowingOutput<Change<Long>> output = new SwallowingOutput<>();
  private KeyedOneInputStreamOperatorTestHarness<Object, Change<Long>, Change<Long>> harness;
  private final List<StreamRecord<Change<Long>>> duplicates = new ArrayList<>();
  private final List<StreamRecord<Change<Long>>> comingAndGoing = new ArrayList<>();
  private int next;

  /** Brings the operator to a million live keys. */
  @Setup
  public void fill() throws Exception {
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
    DedupStreams<Long> streams =
        Firstseen.dedup(env.fromSequence(0, 0))
            .key(Harnesses::key)
            .capacity(keys)
            .pageCacheBytes(backend.cacheBytes(keys))
            .apply();
    harness =
        Harnesses.of(
            streams.accepted().getTransformation(),
            subject == Subject.DEDUP ? null : SimpleOperatorFactory.of(new PassingOn()));
    harness.setOutputCreator(serializer -> output);
    harness.setStateBackend(backend.create());
    harness.open();

    for (int key = 0; key < keys; key++) {
      harness.processElement(record(Operation.ADD, key));
    }
    for (int i = 0; i < RECORDS; i++) {
      duplicates.add(record(Operation.ADD, random.nextInt(keys)));
    }
    for (int i = 0; i < RECORDS; i += 2) {
      comingAndGoing.add(record(Operation.ADD, keys + i));
      comingAndGoing.add(record(Operation.DELETE, keys + i));
    }
    output.clear();
  }

  private static StreamRecord<Change<Long>> record(Operation operation, long key) {
    return Harnesses.record(operation, key, key);
  }

  /** An add of a live key. */
  @Benchmark
  public void duplicate() throws Exception {
    next = (next + 1) & (RECORDS - 1);
    harness.processElement(duplicates.get(next));
  }

  /** Alternately an add of a new key and its delete: accepted, removed. */
  @Benchmark
  public void acceptedOrRemoved() throws Exception {
    next = (next + 1) & (RECORDS - 1);
    harness.processElement(comingAndGoing.get(next));
  }

  @TearDown(Level.Iteration)
  public void check() {
    if (subject == Subject.DEDUP && output.main() > 0 && output.side() > output.main() / 100) {
      throw new IllegalStateException(
          "accepted or removed were %d, others %d".formatted(output.main(), output.side()));
    }
    output.clear();
  }

  @TearDown
  public void close() throws Exception {
    harness.close();
  }

  private static final class PassingOn extends AbstractStreamOperator<Change<Long>>
      implements OneInputStreamOperator<Change<Long>, Change<Long>> {
    private static final long serialVersionUID = 1;

    @Override
    public void processElement(StreamRecord<Change<Long>> record) {
      output.collect(record);
    }
  }
}
