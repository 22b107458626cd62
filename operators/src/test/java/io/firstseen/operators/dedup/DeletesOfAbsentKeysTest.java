package io.firstseen.operators.dedup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.serializers.Change;
import io.firstseen.types.Operation;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Metric;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Deletes of keys that were never accepted, through a whole job, with what is counted of them. */
class DeletesOfAbsentKeysTest {
  private static final InMemoryReporter METRICS = InMemoryReporter.createWithRetainedMetrics();

  @RegisterExtension
  static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(1)
              .setConfiguration(METRICS.addToConfiguration(new Configuration()))
              .build());

  private static final int KEYS = 20_000;
  private static final int ABSENT_KEYS = 50_000;
  private static final double RATE = 0.01;
  private static final int SHARDS = 4;

  @Test
  void everyOutcomeIsCountedAndWhatIsRemovedIsAcceptedOnceMore() throws Exception {
    Configuration configuration = new Configuration();
    configuration.set(PipelineOptions.GENERIC_TYPES, false);
    configuration.set(PipelineOptions.OBJECT_REUSE, true);
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.getExecutionEnvironment(configuration).setParallelism(1);
    // Numbers in this order: the keys, deletes of as many absent keys, the keys once more.
    DataStream<Long> events = env.fromSequence(0, 2L * KEYS + ABSENT_KEYS - 1);
    DedupStreams<Long> streams =
        Firstseen.dedup(events)
            .keyText(
                event -> "key-" + (event < KEYS + ABSENT_KEYS ? event : event - KEYS - ABSENT_KEYS))
            .operation(
                event ->
                    event >= KEYS && event < KEYS + ABSENT_KEYS ? Operation.DELETE : Operation.ADD)
            .capacity(KEYS)
            .falsePositiveRate(RATE)
            .shards(SHARDS)
            .apply();
    CloseableIterator<String> results =
        streams
            .accepted()
            .map(change -> "accepted " + line(change), Types.STRING)
            .union(
                streams.duplicates().map(change -> "duplicate " + line(change), Types.STRING),
                streams.unknownDeletes().map(change -> "unknown " + line(change), Types.STRING))
            .collectAsync();
    JobClient job = env.executeAsync("deletes-of-absent-keys");
    List<String> lines = new ArrayList<>();
    results.forEachRemaining(lines::add);
    job.getJobExecutionResult().get();

    long removed = count(lines, "accepted DELETE");
    long unknown = count(lines, "unknown DELETE");
    long dropped = lines.stream().filter(DeletesOfAbsentKeysTest::isDropOfANewKey).count();
    long acceptedAgain = count(lines, "accepted ADD") - (KEYS - dropped);
    assertThat(removed + unknown).isEqualTo(ABSENT_KEYS);
    // The law, for a filter that empties on the way.
    int identityBits = CuckooShape.forCapacity(KEYS / SHARDS, RATE).identityBits();
    double taken = 2.0 * ABSENT_KEYS / SHARDS / Math.scalb(1.0, identityBits);
    double expected = KEYS * -Math.expm1(-taken);
    assertThat(expected).isBetween(0.9 * RATE * ABSENT_KEYS, RATE * ABSENT_KEYS);
    assertThat((double) removed).isCloseTo(expected, within(5 * Math.sqrt(expected)));
    // A dropped key may come back instead of the one that was in its way, or of two of them.
    assertThat(acceptedAgain).isBetween(removed - 2, removed);

    JobID id = job.getJobID();
    assertThat(counted(id, "removed")).isEqualTo(removed);
    assertThat(counted(id, "unknownDeletes")).isEqualTo(unknown);
    assertThat(counted(id, "accepted")).isEqualTo(count(lines, "accepted ADD"));
    assertThat(counted(id, "duplicates")).isEqualTo(count(lines, "duplicate ADD"));
  }

  private static String line(Change<Long> change) {
    return change.operation() + " " + change.event();
  }

  private static long count(List<String> lines, String start) {
    return lines.stream().filter(line -> line.startsWith(start)).count();
  }

  private static boolean isDropOfANewKey(String line) {
    return line.startsWith("duplicate ADD ")
        && Long.parseLong(line.substring("duplicate ADD ".length())) < KEYS;
  }

  private static long counted(JobID job, String counter) {
    long sum = 0;
    for (Metric metric :
        METRICS.findMetrics(job, "firstseen-dedup\\.[0-9]+\\." + counter + "$").values()) {
      sum += ((Counter) metric).getCount();
    }
    return sum;
  }
}
