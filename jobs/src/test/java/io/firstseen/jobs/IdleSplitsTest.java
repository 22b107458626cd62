package io.firstseen.jobs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.embedded.SharedCluster;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.shared.JobSink;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SnapshotRecord;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.Operation;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Splits that fall silent and come back, in one reader and in two, through the whole job. */
class IdleSplitsTest {
  @RegisterExtension private static final SharedCluster FLINK = SharedCluster.ofSlots(4);

  private static final BlockingQueue<SnapshotRecord> RECORDS = new LinkedBlockingQueue<>();

  private final Map<String, byte[]> blobs = new HashMap<>();

  private static final class Records implements JobSink.OfOneTask<SnapshotRecord> {
    private static final long serialVersionUID = 1;

    @Override
    public SinkWriter<SnapshotRecord> createWriter(WriterInitContext context) {
      return new SinkWriter<>() {
        @Override
        public void write(SnapshotRecord element, Context context) {
          RECORDS.add(element);
        }

        @Override
        public void flush(boolean endOfInput) {
          // Nothing is buffered.
        }

        @Override
        public void close() {
          // Nothing to close.
        }
      };
    }
  }

  @Test
  void silentSplitsEndTheirNewestWindowAndHoldNothingBack() throws Exception {
    assertNothingIsHeldBack(2);
  }

  @Tag("slow")
  @Test
  void norDoSplitsOfOneTask() throws Exception {
    assertNothingIsHeldBack(1);
  }

  private void assertNothingIsHeldBack(int parallelism) throws Exception {
    RECORDS.clear();
    ScriptedSplits splits = new ScriptedSplits(2);
    splits.send(0, add("a", 1_000));
    splits.send(0, add("b", 11_000));
    splits.send(0, add("c", 25_000));
    splits.send(1, add("d", 2_000));
    splits.send(1, add("e", 12_000));
    JobClient job = start(splits, parallelism, "300ms");
    try {
      mustPublish(10_000, "ad");
      mustPublish(20_000, "abde");
      mustPublish(30_000, "abcde");
      splits.send(0, add("f", 37_000));
      mustPublish(40_000, "abcdef");
      // Late: counted in the first window that is open when it arrives, which may be after h.
      splits.send(1, add("g", 13_000));
      splits.send(0, add("h", 51_000));
      assertThat(nextSet().manifest().windowEndMillis()).isEqualTo(50_000);
      mustPublish(60_000, "abcdefgh");
    } finally {
      job.cancel().get();
      // Until it has ended, its source would take records of the next test.
      assertThat(job.getJobExecutionResult()).failsWithin(Duration.ofMinutes(1));
    }
    assertThat(RECORDS).isEmpty();
  }

  /** Or the windows of a job of three tasks on a topic of two partitions would stay open. */
  @Test
  void aTaskWithoutASplitHoldsNothingBack() throws Exception {
    RECORDS.clear();
    ScriptedSplits splits = new ScriptedSplits(2);
    splits.send(0, add("a", 1_000));
    splits.send(0, add("b", 11_000));
    splits.send(1, add("c", 2_000));
    splits.send(1, add("d", 12_000));
    JobClient job = start(splits, 3, "1h");
    try {
      mustPublish(10_000, "ac");
    } finally {
      job.cancel().get();
      assertThat(job.getJobExecutionResult()).failsWithin(Duration.ofMinutes(1));
    }
  }

  private static SourceEvent add(String key, long timestampMillis) {
    return SourceEvent.of(
        Operation.ADD, null, key.getBytes(UTF_8), null, timestampMillis, Place.of(""));
  }

  private static JobClient start(ScriptedSplits splits, int parallelism, String idleTimeout)
      throws Exception {
    StreamExecutionEnvironment env = FLINK.environment();
    SnapshotJob.build(
        env,
        splits,
        new Records(),
        JobOptions.parse(
            "--parallelism=" + parallelism,
            "--window=10s",
            "--out-of-orderness=0s",
            "--idle-timeout=" + idleTimeout));
    return env.executeAsync();
  }

  private void mustPublish(long windowEndMillis, String keys) throws Exception {
    SnapshotSet set = nextSet();
    assertThat(set.manifest().windowEndMillis()).isEqualTo(windowEndMillis);
    StringBuilder present = new StringBuilder();
    for (char key = 'a'; key <= 'z'; key++) {
      long hash = KeyHash.fixed().hash(new byte[] {(byte) key});
      present.append(set.mightContain(hash) ? key : "");
    }
    assertThat(present).hasToString(keys);
  }

  private SnapshotSet nextSet() throws Exception {
    while (true) {
      SnapshotRecord next = RECORDS.poll(1, TimeUnit.MINUTES);
      assertThat(next).as("the next record within a minute").isNotNull();
      if (next.kind() == SnapshotRecord.Kind.MANIFEST) {
        return SnapshotSet.open(
            Manifest.read(next.value()), blob -> ByteBuffer.wrap(blobs.get(blob.digest())));
      }
      blobs.put(next.key(), next.value());
    }
  }
}
