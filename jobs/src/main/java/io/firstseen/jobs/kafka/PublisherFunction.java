package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.jobs.BlobsInPlace;
import io.firstseen.jobs.KafkaOptions;
import io.firstseen.jobs.UserErrorException;
import io.firstseen.types.SnapshotRecord;
import java.util.Optional;
import java.util.Properties;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.util.Collector;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to it that one job alone publishes a set to a topic. When it starts, and before each
 * manifest, it reads what is committed on the topic; by the rules of {@link PublisherClaim} the job
 * ends at once if the set is another's, and when the first manifest after a start from state names
 * blobs that the topic should have and does not.
 */
final class PublisherFunction extends RichFlatMapFunction<SnapshotRecord, SnapshotRecord>
    implements CheckpointedFunction {
  private static final long serialVersionUID = 1;

  private static final Logger LOG = LoggerFactory.getLogger(PublisherFunction.class);
  private static final ListStateDescriptor<Tuple3<String, String, Long>> CLAIM =
      new ListStateDescriptor<>("claim", Types.TUPLE(Types.STRING, Types.STRING, Types.LONG));

  private final Properties clientProperties;
  private final String topic;
  private final String setName;
  private final boolean takeOver;

  private transient ListState<Tuple3<String, String, Long>> state;
  private transient PublisherClaim claim;
  private transient PublishedTail tail;
  private transient boolean claimed;

  PublisherFunction(KafkaOptions kafka, String setName) {
    this.clientProperties = kafka.clientProperties();
    this.topic = kafka.snapshotsTopic();
    this.setName = setName;
    this.takeOver = kafka.takeOver();
  }

  @Override
  public void initializeState(FunctionInitializationContext context) throws Exception {
    String job = getRuntimeContext().getJobInfo().getJobId().toHexString();
    state = context.getOperatorStateStore().getListState(CLAIM);
    PublisherClaim restored = null;
    for (Tuple3<String, String, Long> each : state.get()) {
      restored = new PublisherClaim(each.f0, each.f1, each.f2);
    }
    tail = new PublishedTail(clientProperties, topic, setName);
    boolean isSameJob = restored != null && restored.self().equals(job);
    if (restored != null && !isSameJob) {
      // Its first manifest may name blobs that it did not send.
      tail.keepBlobs();
    }
    tail.readToEnd();
    PublisherClaim.refusal(restored, job, tail.newestClaim(), tail.newestSequence())
        .ifPresent(reason -> refuse(reason, isSameJob));
    if (isSameJob) {
      claim = restored;
    } else if (restored != null && restored.covers(tail.newestClaim())) {
      claim = restored.succeededBy(job);
    } else {
      claim = PublisherClaim.of(job, tail.newestClaim());
    }
    if (!isSameJob) {
      // After a take-over the topic is ahead.
      claim = claim.after(Math.max(claim.sequence(), tail.newestSequence().orElse(-1)));
    }
    claimed = tail.newestClaim().equals(Optional.of(job));
  }

  private void refuse(String reason, boolean isSameJob) {
    String sentence = "set %s on topic %s is not this job's: %s".formatted(setName, topic, reason);
    if (isSameJob) {
      throw new UserErrorException(sentence);
    }
    if (!takeOver) {
      throw new UserErrorException(
          sentence
              + " (publish under another --set, start from the newest savepoint, or stop the other"
              + " job and give --take-over)");
    }
    LOG.warn("{}; taken over all the same, as --take-over says", sentence);
  }

  @Override
  public void flatMap(SnapshotRecord record, Collector<SnapshotRecord> out) throws Exception {
    if (record.kind() == SnapshotRecord.Kind.MANIFEST) {
      tail.readToEnd();
      Optional<String> newest = tail.newestClaim();
      if (!claim.covers(newest)) {
        refuse("job %s has taken it over".formatted(newest.orElseThrow()), true);
      }
      Manifest manifest = Manifest.fromJson(record.value());
      claim
          .refusalToSend(manifest.sequence(), tail.newestSequence())
          .ifPresent(reason -> refuse(reason, true));
      if (tail.blobs() != null) {
        if (manifest.blobs() == null) {
          BlobsInPlace.require(manifest, tail.blobs(), "on topic " + topic);
        }
        tail.forgetBlobs();
      }
      if (newest.equals(Optional.of(claim.self()))) {
        claim = claim.confirmed();
      }
      if (!claimed) {
        out.collect(
            new SnapshotRecord(
                SnapshotRecord.Kind.MANIFEST,
                PublishedTail.claimKey(setName),
                claim.self().getBytes(UTF_8)));
        claimed = true;
      }
      claim = claim.after(manifest.sequence());
    } else if (record.kind() == SnapshotRecord.Kind.BLOB && tail.blobs() != null) {
      tail.blobs().add(record.key());
    }
    out.collect(record);
  }

  @Override
  public void snapshotState(FunctionSnapshotContext context) throws Exception {
    state.clear();
    state.add(Tuple3.of(claim.self(), claim.before(), claim.sequence()));
  }

  @Override
  public void close() {
    if (tail != null) {
      tail.close();
    }
  }
}
