package io.firstseen.benchmarks.alternatives;

import io.firstseen.benchmarks.alternatives.Alternative.Store;
import io.firstseen.benchmarks.alternatives.RunResult.End;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.FlinkSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.flink.util.FileUtils;

/** Runs the alternatives interleaved, one JVM after the other, and prints progress. */
final class AlternativeRuns {
  /** What a store outside the heap leaves of it: RocksDB gets as much for itself. */
  private static final int HEAP_DIVISOR = 4;

  /** These are so slow that a part of the keys is enough for the JIT. */
  private static final int SLOW_WARM_UP_DIVISOR = 5;

  private final Settings settings;
  private final Path work;
  private final List<RunResult> results = new ArrayList<>();

  /** What has not come to an end is not run with more keys, nor again. */
  private final Set<Alternative> given = EnumSet.noneOf(Alternative.class);

  /**
   * How to run.
   *
   * @param keys numbers of different keys, ascending
   * @param rounds runs of each with each number of keys
   * @param limit of one run
   * @param heapMebibytes heap of a JVM whose keys are on it
   * @param warmUpKeys of the job that runs before each measured one, at most as many as it has
   */
  record Settings(
      List<Long> keys,
      Set<Alternative> alternatives,
      int rounds,
      Duration limit,
      int heapMebibytes,
      long warmUpKeys) {
    /** The heap of one alternative's JVM. */
    int heapMebibytes(Alternative alternative) {
      return alternative.store() == Store.HEAP ? heapMebibytes : heapMebibytes / HEAP_DIVISOR;
    }

    /** RocksDB's block cache and write buffers. */
    int managedMebibytes() {
      return heapMebibytes / HEAP_DIVISOR;
    }
  }

  AlternativeRuns(Settings settings, Path work) {
    this.settings = settings;
    this.work = work;
  }

  List<RunResult> run() throws IOException, InterruptedException {
    List<Alternative> order = new ArrayList<>(settings.alternatives());
    for (long keys : settings.keys()) {
      for (int round = 1; round <= settings.rounds(); round++) {
        for (Alternative alternative : order) {
          if (!given.contains(alternative)) {
            run(round, alternative, keys);
          }
        }
        Collections.rotate(order, 1);
      }
    }
    return results;
  }

  private void run(int round, Alternative alternative, long keys)
      throws IOException, InterruptedException {
    System.err.printf(Locale.ROOT, "round %d, %,d keys, %s: ", round, keys, alternative.title());
    RunResult result = run(alternative, keys);
    results.add(result);
    if (result.end() != End.FINISHED) {
      given.add(alternative);
    }
    System.err.println(AlternativesTable.inWords(result, settings.limit()));
  }

  private RunResult run(Alternative alternative, long keys)
      throws IOException, InterruptedException {
    if (alternative == Alternative.REDIS && !RedisServer.isInstalled()) {
      return new RunResult(alternative, keys, End.NOT_INSTALLED, Progress.NONE);
    }
    Path directory = Files.createTempDirectory(work, "run");
    try {
      Progress progress =
          alternative == Alternative.REDIS
              ? runWithRedis(keys, directory)
              : child(alternative, keys, directory, 0);
      return new RunResult(alternative, keys, End.FINISHED, progress);
    } catch (ChildJvm.FailedException e) {
      End end = e.isLate() ? End.LATE : e.isOutOfMemory() ? End.OUT_OF_MEMORY : End.FAILED;
      return new RunResult(alternative, keys, end, Progress.read(directory));
    } finally {
      FileUtils.deleteDirectory(directory.toFile());
    }
  }

  private Progress child(Alternative alternative, long keys, Path directory, int redisPort)
      throws IOException, InterruptedException, ChildJvm.FailedException {
    int divisor = alternative.store() == Store.HEAP ? 1 : SLOW_WARM_UP_DIVISOR;
    return ChildJvm.withHeap(settings.heapMebibytes(alternative))
        .limit(settings.limit())
        .run(
            AlternativeRun.class,
            new AlternativeRun.Spec(
                alternative,
                keys,
                Math.max(1, Math.min(keys, settings.warmUpKeys()) / divisor),
                new FlinkSettings(1, settings.managedMebibytes(), /* objectReuse= */ false),
                directory.toString(),
                redisPort),
            Progress.class);
  }

  private Progress runWithRedis(long keys, Path directory)
      throws IOException, InterruptedException, ChildJvm.FailedException {
    try (RedisServer server = RedisServer.start(directory)) {
      Progress filled = child(Alternative.REDIS, keys, directory, server.port());
      Map<Figure, Double> figures = new EnumMap<>(filled.figures());
      figures.put(Figure.CHECKPOINT_BYTES, (double) server.dumpBytes() / keys);
      members(server); // Loads the client's classes.
      long start = System.nanoTime();
      server.restart();
      long members = members(server);
      figures.put(Figure.RESTORE_SECONDS, (System.nanoTime() - start) / 1e9);
      figures.put(Figure.FALSE_PASSES, (double) filled.keys() - members);
      return new Progress(filled.keys(), filled.seconds(), figures);
    }
  }

  private static long members(RedisServer server) throws InterruptedException {
    try (RedisConnection redis = RedisConnection.open(server.port())) {
      return redis.members(AlternativeRun.SEEN);
    }
  }
}
